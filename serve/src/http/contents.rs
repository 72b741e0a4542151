//! Describes the contents of the indexes: statistics, directories, omitted files, and roots.

use std::collections::BTreeSet;
use std::sync::Arc;

use aurora_project::{ContentsReport, OmissionReport, ProjectError, TreeReport};
use axum::extract::State as Shared;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::answer::Answer;
use crate::http::extract::Parameters;
use crate::problem::Problem;
use crate::state::State;

/// Selects a root by name.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct RootParameters {
    /// Name of the root; the first root by default.
    pub(super) root: Option<String>,
}

/// Returns statistics of the index of a root.
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
    Parameters(query): Parameters<RootParameters>,
) -> Result<Answer, Problem> {
    state
        .read(query.root.as_deref(), |project, searcher, _| Ok(aurora_project::contents(project, searcher.snapshot())?))
        .await
}

/// Selects a directory by path.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct TreeParameters {
    /// Path of the directory, relative to the root. By default, the root itself.
    #[serde(default)]
    path: String,
    /// Number of levels of subdirectories in the answer, 0 to 8; 2 by default.
    depth: Option<u32>,
    /// Name of the root; the first root by default.
    root: Option<String>,
}

/// Default number of levels of subdirectories in an answer.
const DEFAULT_DEPTH: u32 = 2;
/// Maximum number of levels of subdirectories in an answer.
const MAX_DEPTH: u32 = 8;

/// Returns statistics of the index by directory.
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
    Parameters(query): Parameters<TreeParameters>,
) -> Result<Answer, Problem> {
    let depth = query.depth.unwrap_or(DEFAULT_DEPTH);
    if depth > MAX_DEPTH {
        return Err(Problem::invalid(format!("`depth` must be a number from 0 to {MAX_DEPTH}")));
    }
    state
        .read(query.root.as_deref(), move |_, searcher, _| {
            let tree = aurora_project::tree(searcher.snapshot(), &query.path, depth)?;
            let missing = || Problem::not_found(format!("the index has no file in {}", query.path));
            tree.ok_or_else(missing)
        })
        .await
}

/// Lists the files that an index run would omit now, with the reasons. Walks the tree on disk.
#[utoipa::path(
    get,
    path = "/api/v1/omissions",
    tag = "index",
    params(RootParameters),
    responses(
        (status = 200, description = "The omitted files", body = OmissionReport),
        (status = 404, description = "There is no such root", body = Problem),
        (status = 422, description = "The answer would be too large", body = Problem),
    )
)]
pub(crate) async fn omissions(
    Shared(state): Shared<Arc<State>>,
    Parameters(query): Parameters<RootParameters>,
) -> Result<Answer, Problem> {
    state
        .read(query.root.as_deref(), |project, _, request| {
            let mut options = project.options_without_programs()?;
            options.cancel = request.cancel.clone();
            Ok(aurora_project::omissions(&options).map_err(ProjectError::Index)?)
        })
        .await
}

/// A root that is served.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct RootSummary {
    /// Name of the root in requests.
    name: String,
    /// Path of the root.
    path: String,
    /// Whether the root has an index.
    indexed: bool,
    /// Groups of the root in the catalogue.
    groups: BTreeSet<String>,
    /// Owners of the root in the catalogue.
    owners: BTreeSet<String>,
}

/// Lists the roots that are served. The first root is the default.
#[utoipa::path(get, path = "/api/v1/roots", tag = "index", responses((status = 200, description = "The roots", body = Vec<RootSummary>)))]
pub(crate) async fn roots(Shared(state): Shared<Arc<State>>) -> Result<Answer, Problem> {
    let summary = |root: &Arc<aurora_live::LiveProject>| RootSummary {
        name: root.name().to_owned(),
        path: root.project().root().display().to_string(),
        indexed: root.project().has_index(),
        groups: root.labels().groups.clone(),
        owners: root.labels().owners.clone(),
    };
    state.answer(move |state, _| Ok(state.options.roots.iter().map(summary).collect::<Vec<_>>())).await
}
