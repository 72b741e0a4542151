//! What the indexes hold.

use std::sync::Arc;

use aurora_project::ContentsReport;
use axum::Json;
use axum::extract::State as Shared;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::http::extract::Parameters;
use crate::problem::Problem;
use crate::state::State;

/// Which root is asked for.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct RootParameters {
    /// Name of the root; the first one unless given.
    pub(super) root: Option<String>,
}

/// What the index of a root holds, in figures.
#[utoipa::path(
    get,
    path = "/api/v1/stats",
    tag = "index",
    params(RootParameters),
    responses(
        (status = 200, description = "The figures", body = ContentsReport),
        (status = 404, description = "There is no such root", body = Problem),
        (status = 503, description = "There is no index", body = Problem),
    )
)]
pub(crate) async fn contents(
    Shared(state): Shared<Arc<State>>,
    Parameters(asked): Parameters<RootParameters>,
) -> Result<Json<ContentsReport>, Problem> {
    state
        .read(asked.root.as_deref(), |searcher| {
            Ok(Json(aurora_project::contents(searcher.project(), searcher.snapshot())?))
        })
        .await
}

/// A root that is served.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct RootSummary {
    /// How requests name it.
    name: String,
    /// Its path.
    path: String,
    /// Whether it has an index.
    indexed: bool,
}

/// The roots that are served; the first one answers where a request names none.
#[utoipa::path(get, path = "/api/v1/roots", tag = "index", responses((status = 200, description = "The roots", body = Vec<RootSummary>)))]
pub(crate) async fn roots(Shared(state): Shared<Arc<State>>) -> Json<Vec<RootSummary>> {
    let summary = |root: &aurora_live::Root| RootSummary {
        name: root.name.clone(),
        path: root.live.project().root().display().to_string(),
        indexed: root.live.project().has_index(),
    };
    Json(state.options.roots.iter().map(summary).collect())
}
