//! Logs and counts every request, and limits the time for receiving it.

use std::sync::Arc;
use std::time::Instant;

use axum::extract::{MatchedPath, Request, State as Shared};
use axum::http::{Method, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use crate::problem::Problem;
use crate::state::State;

/// Value of the metric label `route` for requests that match no route. Such requests may have any path, so their paths
/// must not become values of labels.
const NO_ROUTE: &str = "none";
/// Value of the metric label `method` for requests with an unknown method.
const OTHER_METHOD: &str = "other";

/// Ends a request if the client takes too long to send it. The time limit for answering is separate and shorter.
pub(crate) async fn timed(Shared(state): Shared<Arc<State>>, request: Request, next: Next) -> Response {
    let limits = state.options.limits;
    let late = |_| Problem::new(StatusCode::REQUEST_TIMEOUT, "the request took too long to arrive").into_response();
    tokio::time::timeout(limits.time + limits.idle, next.run(request)).await.unwrap_or_else(late)
}

/// Logs and counts a request. The log contains the route, but never the query string.
pub(crate) async fn trace(Shared(state): Shared<Arc<State>>, request: Request, next: Next) -> Response {
    let begun = Instant::now();
    // Clients may send arbitrary methods, so only known methods become values of labels.
    let known = [Method::GET, Method::HEAD, Method::POST, Method::PUT, Method::PATCH, Method::DELETE, Method::OPTIONS];
    let method = known.iter().find(|known| *known == request.method()).map_or(OTHER_METHOD, Method::as_str).to_owned();
    let route = request.extensions().get::<MatchedPath>().map_or(NO_ROUTE, MatchedPath::as_str).to_owned();
    let response = next.run(request).await;
    let (took, status) = (begun.elapsed(), response.status().as_u16());
    state.metrics.answered(&method, &route, status, took);
    tracing::info!(method, route, status, ms = took.as_secs_f64() * 1e3, "request");
    response
}
