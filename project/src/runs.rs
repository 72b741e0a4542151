//! The last index runs.

use aurora_stages::index::{self as indexing, RunRecord};
use aurora_storage::Snapshot;
use serde::Serialize;

use crate::project::Project;

/// The last index runs of a project, for programs.
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RunsReport {
    /// The indexed directory.
    pub root: String,
    /// The runs that changed the index, newest first.
    pub runs: Vec<RunRecord>,
}

/// Returns the last run of an index: see [`run_reports`].
pub fn last_run(project: &Project, snapshot: &Snapshot) -> Option<RunRecord> {
    indexing::last_run(project.root(), snapshot)
}

/// Returns the last runs that changed the index, no matter which process ran them.
pub fn run_reports(project: &Project, snapshot: &Snapshot) -> RunsReport {
    RunsReport { root: project.root().display().to_string(), runs: indexing::runs(project.root(), snapshot) }
}
