//! The Model Context Protocol at `/mcp`.

use std::sync::Arc;

use aurora_mcp::McpServer;
use axum::body::{Body, to_bytes};
use axum::extract::Request;
use axum::http::{Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use axum::{Router, middleware};

use crate::problem::Problem;
use crate::state::State;

/// The protocol's route; a body has at most `max_bytes`.
pub(crate) fn router(server: McpServer, max_bytes: usize) -> Router<Arc<State>> {
    Router::new()
        .route_service("/mcp", aurora_mcp::http_service(server, max_bytes))
        .layer(middleware::from_fn(move |request: Request, next: Next| refuse(request, next, max_bytes)))
}

/// Answers a body that is no message as the protocol wants it: `rmcp` would answer with plain text.
async fn refuse(request: Request, next: Next, max_bytes: usize) -> Response {
    if request.method() != Method::POST {
        return next.run(request).await;
    }
    let (head, body) = request.into_parts();
    let Ok(body) = to_bytes(body, max_bytes).await else {
        let reason = format!("a body has at most {max_bytes} bytes");
        return Problem::new(StatusCode::PAYLOAD_TOO_LARGE, reason).into_response();
    };
    match aurora_mcp::refusal(&body) {
        Some(answer) => (StatusCode::BAD_REQUEST, [(header::CONTENT_TYPE, "application/json")], answer).into_response(),
        None => next.run(Request::from_parts(head, Body::from(body))).await,
    }
}
