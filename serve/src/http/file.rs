//! Returns files with their texts and chunks.

use std::sync::Arc;

use aurora_project::{FileReport, Names, file_report};
use axum::extract::State as Shared;
use serde::Deserialize;
use utoipa::IntoParams;

use crate::answer::Answer;
use crate::http::extract::Parameters;
use crate::problem::Problem;
use crate::state::State;

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
