//! Limits the rate of requests per client.

use std::sync::Arc;

use axum::extract::{Request, State as Shared};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use crate::problem::Problem;
use crate::rates::Peer;
use crate::state::State;

/// Rejects requests of clients that exceed the rate limit.
pub(crate) async fn limit(Shared(state): Shared<Arc<State>>, request: Request, next: Next) -> Response {
    let peer = request.extensions().get::<Peer>().copied().unwrap_or(Peer(None));
    match state.rates.as_ref().map(|rates| rates.count(peer)) {
        Some(Err(wait)) => Problem::too_many(wait).into_response(),
        _ => next.run(request).await,
    }
}
