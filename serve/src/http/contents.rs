//! What the indexes hold.

use std::sync::Arc;

use aurora_project::{ContentsReport, OmissionReport, ProjectError, TreeReport};
use axum::extract::State as Shared;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::answer::Answer;
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
) -> Result<Answer, Problem> {
    state
        .read(asked.root.as_deref(), |searcher, _| {
            Ok(aurora_project::contents(searcher.project(), searcher.snapshot())?)
        })
        .await
}

/// Which directory is asked for.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct TreeParameters {
    /// Path of the directory below the root; the root unless given.
    #[serde(default)]
    path: String,
    /// Levels of directories below it, 0 to 8; 2 unless given.
    depth: Option<u32>,
    /// Name of the root; the first one unless given.
    root: Option<String>,
}

/// Levels of directories in an answer.
const DEPTH: u32 = 2;
const MOST_LEVELS: u32 = 8;

/// What the index holds by directory, in figures.
#[utoipa::path(
    get,
    path = "/api/v1/tree",
    tag = "index",
    params(TreeParameters),
    responses(
        (status = 200, description = "The directories", body = TreeReport),
        (status = 404, description = "The index has no file in the directory", body = Problem),
        (status = 422, description = "The depth is too great, or the answer too large", body = Problem),
    )
)]
pub(crate) async fn tree(
    Shared(state): Shared<Arc<State>>,
    Parameters(asked): Parameters<TreeParameters>,
) -> Result<Answer, Problem> {
    let depth = asked.depth.unwrap_or(DEPTH);
    if depth > MOST_LEVELS {
        return Err(Problem::invalid(format!("`depth` is a number from 0 to {MOST_LEVELS}")));
    }
    state
        .read(asked.root.as_deref(), move |searcher, _| {
            let tree = aurora_project::tree(searcher.snapshot(), &asked.path, depth)?;
            let missing = || Problem::not_found(format!("the index has no file in {}", asked.path));
            tree.ok_or_else(missing)
        })
        .await
}

/// What the tree on disk has now and a run would not index, with the reasons. The tree is walked for it.
#[utoipa::path(
    get,
    path = "/api/v1/omissions",
    tag = "index",
    params(RootParameters),
    responses(
        (status = 200, description = "What is not indexed", body = OmissionReport),
        (status = 404, description = "There is no such root", body = Problem),
        (status = 422, description = "The answer would be too large", body = Problem),
    )
)]
pub(crate) async fn omissions(
    Shared(state): Shared<Arc<State>>,
    Parameters(asked): Parameters<RootParameters>,
) -> Result<Answer, Problem> {
    state
        .read(asked.root.as_deref(), |searcher, request| {
            let mut options = searcher.project().options_without_programs()?;
            options.cancel = request.cancel.clone();
            Ok(aurora_project::omissions(&options).map_err(ProjectError::Index)?)
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
pub(crate) async fn roots(Shared(state): Shared<Arc<State>>) -> Result<Answer, Problem> {
    let roots = state.options.roots.clone();
    let summary = |root: &aurora_live::Root| RootSummary {
        name: root.name.clone(),
        path: root.live.project().root().display().to_string(),
        indexed: root.live.project().has_index(),
    };
    state.answer(move |_| Ok(roots.iter().map(summary).collect::<Vec<_>>())).await
}
