//! The routes of the server and their middleware.

mod batch;
mod contents;
mod extract;
mod feedback;
mod graph;
mod guard;
mod health;
mod host;
mod index;
mod knowledge;
mod mcp;
mod memory;
mod page;
mod rate;
mod search;
mod texts;
mod trace;

use std::sync::Arc;

use aurora_mcp::McpServer;
use axum::body::Bytes;
use axum::extract::DefaultBodyLimit;
use axum::http::{HeaderValue, Method, StatusCode, header};
use axum::response::IntoResponse as _;
use axum::{Router, middleware};
use tokio::runtime::Handle;
use tower::ServiceBuilder;
use tower_http::catch_panic::CatchPanicLayer;
use tower_http::set_header::SetResponseHeaderLayer;
use utoipa::OpenApi;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::problem::Problem;
use crate::state::State;

/// The OpenAPI document, to which the routes are added.
#[derive(OpenApi)]
#[openapi(
    info(
        title = "Aurora",
        description = "Searches indexed projects. Errors are objects with an `error` and an optional `help`.",
        license(name = "MIT OR Apache-2.0", identifier = "MIT OR Apache-2.0")
    ),
    tags(
        (name = "search", description = "Searches, and the content of results"),
        (name = "index", description = "The contents of the index"),
        (name = "memory", description = "Memory of agents; only if the server has a token"),
        (name = "knowledge", description = "Sessions of articles, and search within a session"),
        (name = "server", description = "The state of the server")
    )
)]
struct Document;

/// Returns the routes that the OpenAPI document describes.
fn api_router() -> OpenApiRouter<Arc<State>> {
    OpenApiRouter::with_openapi(Document::openapi())
        .routes(routes!(search::search))
        .routes(routes!(search::batch))
        .routes(routes!(texts::chunk))
        .routes(routes!(texts::file))
        .routes(routes!(graph::graph))
        .routes(routes!(graph::impact))
        .routes(routes!(graph::unused_definitions))
        .routes(routes!(graph::file_imports))
        .routes(routes!(texts::blame))
        .routes(routes!(contents::contents))
        .routes(routes!(contents::tree))
        .routes(routes!(contents::omissions))
        .routes(routes!(contents::roots))
        .routes(routes!(feedback::feedback))
        .routes(routes!(index::start, index::status, index::cancel))
        .routes(routes!(index::events))
        .routes(routes!(index::runs))
        .routes(routes!(knowledge::create, knowledge::list))
        .routes(routes!(knowledge::remove))
        .routes(routes!(knowledge::add, knowledge::articles))
        .routes(routes!(knowledge::remove_article))
        .routes(routes!(knowledge::search))
        .routes(routes!(knowledge::search_batch))
        .routes(routes!(knowledge::stats))
        .routes(routes!(memory::create_session))
        .routes(routes!(memory::recall))
        .routes(routes!(memory::remember))
        .routes(routes!(memory::outcome))
        .routes(routes!(health::live))
        .routes(routes!(health::ready))
        .routes(routes!(health::metrics))
}

/// Returns the OpenAPI document of the server.
pub fn openapi() -> utoipa::openapi::OpenApi {
    api_router().into_openapi()
}

/// Returns the complete router of the server. The threads of the runtime `agents` parse and answer MCP messages.
pub(crate) fn router(state: &Arc<State>, agents: &Handle) -> Router {
    let (router, document) = api_router().split_for_parts();
    // Serialized only once, because the document is large and never changes.
    let document = Bytes::from(document.to_json().unwrap_or_default());
    let document = move || std::future::ready(([(header::CONTENT_TYPE, "application/json")], document.clone()));
    let header = |name, value| SetResponseHeaderLayer::if_not_present(name, HeaderValue::from_static(value));
    let server = McpServer::new(state.options.roots.clone(), state.memory.clone().ok(), Arc::clone(&state.running));
    router
        .merge(page::router())
        .merge(mcp::router(server, state, agents))
        .route("/openapi.json", axum::routing::get(document))
        .fallback(missing)
        .method_not_allowed_fallback(not_allowed)
        .layer(
            ServiceBuilder::new()
                .layer(middleware::from_fn_with_state(Arc::clone(state), trace::trace))
                .layer(middleware::from_fn_with_state(Arc::clone(state), trace::timed))
                .layer(CatchPanicLayer::custom(panicked))
                .layer(header(header::CACHE_CONTROL, "no-store"))
                .layer(header(header::X_CONTENT_TYPE_OPTIONS, "nosniff"))
                .layer(middleware::from_fn_with_state(Arc::clone(state), rate::limit))
                .layer(middleware::from_fn_with_state(Arc::clone(state), guard::guard))
                .layer(DefaultBodyLimit::max(state.options.limits.body)),
        )
        .with_state(Arc::clone(state))
}

async fn missing() -> Problem {
    Problem::not_found("there is nothing at this path").with_help("/openapi.json lists all paths")
}

async fn not_allowed(method: Method) -> Problem {
    Problem::new(StatusCode::METHOD_NOT_ALLOWED, format!("this path does not support {method}"))
}

#[allow(clippy::needless_pass_by_value, reason = "the layer requires this signature")]
fn panicked(panic: Box<dyn std::any::Any + Send>) -> axum::response::Response {
    let text = panic.downcast_ref::<String>().map(String::as_str).or_else(|| panic.downcast_ref::<&str>().copied());
    Problem::bug(&std::io::Error::other(text.unwrap_or("panic").to_owned())).into_response()
}
