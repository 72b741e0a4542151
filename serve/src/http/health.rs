//! Reports the health and the metrics of the server.

use std::sync::Arc;

use axum::Json;
use axum::extract::State as Shared;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use utoipa::ToSchema;

use crate::problem::Problem;
use crate::state::{RequestWork, State};

/// The media type of the OpenMetrics text format, which Prometheus reads.
const METRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// The state of the server.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Health {
    /// Always `ok`.
    status: &'static str,
}

/// Checks that the server is running.
#[utoipa::path(get, path = "/healthz", tag = "server", responses((status = 200, description = "It runs", body = Health)))]
pub(crate) async fn live() -> Json<Health> {
    Json(Health { status: "ok" })
}

/// Checks that every root has an index that can be searched.
#[utoipa::path(get, path = "/readyz", tag = "server", responses((status = 200, description = "It is ready", body = Health), (status = 503, description = "It is not ready yet", body = Problem)))]
pub(crate) async fn ready(Shared(state): Shared<Arc<State>>) -> Result<Json<Health>, Problem> {
    state
        .work(|state, _| {
            for root in state.options.roots.iter() {
                if root.searcher().is_err() {
                    // The answer does not contain the reason, because this path needs no token.
                    return Err(Problem::new(StatusCode::SERVICE_UNAVAILABLE, "an index cannot be searched yet"));
                }
            }
            Ok(Json(Health { status: "ok" }))
        })
        .await
}

/// Returns the metrics of the server, in the OpenMetrics text format.
#[utoipa::path(
    get,
    path = "/metrics",
    tag = "server",
    responses(
        (status = 200, description = "The metrics", body = String, content_type = "application/openmetrics-text"),
        (status = 503, description = "Too many requests are waiting", body = Problem),
    )
)]
pub(crate) async fn metrics(Shared(state): Shared<Arc<State>>) -> Result<Response, Problem> {
    let text = |state: &State, _: &RequestWork| {
        let now = aurora_clock::now_seconds();
        state.metrics.text(&state.options.roots, now).map_err(|error| Problem::bug(&error))
    };
    let text = state.work(text).await?;
    Ok(([(header::CONTENT_TYPE, METRICS)], text).into_response())
}
