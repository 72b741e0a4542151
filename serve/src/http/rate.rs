//! How many requests a second a client may send.

use std::sync::Arc;

use axum::extract::{Request, State as Shared};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use crate::problem::Problem;
use crate::rates::Peer;
use crate::state::State;

/// Refuses requests of clients that send too many.
pub(crate) async fn limit(Shared(state): Shared<Arc<State>>, request: Request, next: Next) -> Response {
    let peer = request.extensions().get::<Peer>().copied().unwrap_or(Peer(None));
    match state.rates.as_ref().map(|rates| rates.count(peer)) {
        Some(Err(wait)) => Problem::too_many(wait).into_response(),
        _ => next.run(request).await,
    }
}
