//! Returns the texts of chunks and files, and the commits of lines.

use std::sync::Arc;

use aurora_project::{AttributionReport, ChunkReport, FileReport, Names, attribution, file_report};
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

/// Selects a file by path.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct FileParameters {
    /// Path below the root.
    path: String,
    /// Whether to include tokens of the text, for syntax highlighting.
    #[serde(default)]
    highlight: bool,
    /// Name of the root; the first root by default.
    root: Option<String>,
}

/// Returns an indexed file with its text and chunks. Files that are not in the index are never read.
#[utoipa::path(
    get,
    path = "/api/v1/file",
    tag = "search",
    params(FileParameters),
    responses(
        (status = 200, description = "The file", body = FileReport),
        (status = 404, description = "The file is not in the index", body = Problem),
        (status = 422, description = "The answer would be too large", body = Problem),
    )
)]
pub(crate) async fn file(
    Shared(state): Shared<Arc<State>>,
    Parameters(query): Parameters<FileParameters>,
) -> Result<Answer, Problem> {
    state
        .read(query.root.as_deref(), move |_, searcher, _| {
            let file = Names::for_searcher(searcher).file(&query.path)?;
            let mut report = file_report(searcher, &file)?;
            if query.highlight {
                report.highlight();
            }
            Ok(report)
        })
        .await
}

/// Selects a file by path.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct BlameParameters {
    /// Path below the root.
    path: String,
    /// Name of the root; the first root by default.
    root: Option<String>,
}

/// Returns the commit of each line of a file, as of the time when the file was indexed.
#[utoipa::path(
    get,
    path = "/api/v1/blame",
    tag = "search",
    params(BlameParameters),
    responses(
        (status = 200, description = "The attribution", body = AttributionReport),
        (status = 404, description = "The file is not indexed, or has no attribution", body = Problem),
        (status = 422, description = "The answer would be too large", body = Problem),
    )
)]
pub(crate) async fn blame(
    Shared(state): Shared<Arc<State>>,
    Parameters(query): Parameters<BlameParameters>,
) -> Result<Answer, Problem> {
    state
        .read(query.root.as_deref(), move |_, searcher, _| {
            let file = Names::for_searcher(searcher).file(&query.path)?;
            let blame = attribution(searcher.snapshot(), &file)?;
            Ok(AttributionReport::new(&file.path, &blame))
        })
        .await
}
