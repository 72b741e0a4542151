//! Returns the commit of each line of a file.

use std::sync::Arc;

use aurora_project::{AttributionReport, Names, attribution};
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
