//! Returns chunks with their texts.

use std::sync::Arc;

use aurora_project::{ChunkReport, Names};
use axum::extract::State as Shared;
use serde::Deserialize;
use utoipa::IntoParams;

use crate::answer::Answer;
use crate::http::extract::Parameters;
use crate::problem::Problem;
use crate::state::State;

/// Selects a chunk by id.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct ChunkParameters {
    /// The `id` of a result, or `PATH:LINE`.
    id: String,
    /// Name of the root; the first root by default.
    root: Option<String>,
}

/// Returns a chunk with its text.
#[utoipa::path(
    get,
    path = "/api/v1/chunk",
    tag = "search",
    params(ChunkParameters),
    responses(
        (status = 200, description = "The chunk", body = ChunkReport),
        (status = 404, description = "There is no such chunk", body = Problem),
        (status = 422, description = "The answer would be too large", body = Problem),
    )
)]
pub(crate) async fn chunk(
    Shared(state): Shared<Arc<State>>,
    Parameters(query): Parameters<ChunkParameters>,
) -> Result<Answer, Problem> {
    state
        .read(query.root.as_deref(), move |_, searcher, request| {
            let (id, key) = Names::for_searcher(searcher).within(&request.budget).chunk(&query.id)?;
            let chunk = searcher.snapshot().whole_chunk(id)?;
            let gone = || Problem::not_found(format!("no chunk has the id {key}"));
            Ok(ChunkReport::from(chunk.ok_or_else(gone)?))
        })
        .await
}
