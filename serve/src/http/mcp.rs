//! Serves the Model Context Protocol at `/mcp`.
//!
//! `rmcp` parses a body on the thread that polls its service. To keep the threads that serve connections free, the
//! threads of a separate runtime parse and answer these requests.

use std::sync::Arc;

use aurora_mcp::McpServer;
use axum::body::{Body, to_bytes};
use axum::extract::Request;
use axum::http::{Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use axum::{Router, middleware};
use tokio::runtime::Handle;
use tokio::task::JoinSet;

use crate::problem::Problem;
use crate::state::State;

/// Maximum length of a body, in bytes. The longest useful message is a search with a query of 16 KiB. JSON may escape
/// each byte of the query as six bytes.
const MAX_BODY_BYTES: usize = 256 << 10;
/// Memory that a parsed message takes while it waits, relative to the length of the body. For example, a string of one
/// byte takes 4 bytes in the body and about 60 bytes of memory.
const PARSED_SIZE_FACTOR: usize = 16;

/// Creates the route of the protocol. The threads of the runtime `agents` parse and answer messages.
pub(crate) fn router(server: McpServer, state: &Arc<State>, agents: &Handle) -> Router<Arc<State>> {
    let max_bytes = state.options.limits.body.min(MAX_BODY_BYTES);
    let (state, agents) = (Arc::clone(state), agents.clone());
    Router::new().route_service("/mcp", aurora_mcp::http_service(server, max_bytes)).layer(middleware::from_fn(
        move |request: Request, next: Next| answer(Arc::clone(&state), agents.clone(), max_bytes, request, next),
    ))
}

async fn answer(state: Arc<State>, agents: Handle, max_bytes: usize, request: Request, next: Next) -> Response {
    if request.method() != Method::POST {
        return next.run(request).await;
    }
    match post(&state, &agents, max_bytes, request, next).await {
        Ok(response) => response,
        Err(problem) => problem.into_response(),
    }
}

/// Answers a message. For a body that is not a valid message, the answer is a JSON-RPC error; `rmcp` would answer with
/// plain text. The work ends when the client disconnects.
async fn post(
    state: &State,
    agents: &Handle,
    max_bytes: usize,
    request: Request,
    next: Next,
) -> Result<Response, Problem> {
    let (head, body) = request.into_parts();
    let share = state.body_share(head.headers.get(header::CONTENT_LENGTH), max_bytes, PARSED_SIZE_FACTOR)?;
    let body = to_bytes(body, max_bytes)
        .await
        .map_err(|_| Problem::new(StatusCode::PAYLOAD_TOO_LARGE, format!("a body has at most {max_bytes} bytes")))?;
    let admitted = state.admit()?;
    // Dropping the set aborts its tasks.
    let mut tasks = JoinSet::new();
    tasks.spawn_on(
        async move {
            let _permits = (share, admitted);
            match aurora_mcp::refusal(&body) {
                Some(answer) => {
                    (StatusCode::BAD_REQUEST, [(header::CONTENT_TYPE, "application/json")], answer).into_response()
                }
                None => next.run(Request::from_parts(head, Body::from(body))).await,
            }
        },
        agents,
    );
    let answered = tasks.join_next().await.expect("the set has one task");
    answered.map_err(|error| Problem::bug(&error))
}
