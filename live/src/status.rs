//! The status of an index run: its progress while it is running, and its result.

use aurora_stages::index::RunRecord;
use serde::Serialize;

/// How far an index run is.
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum RunPhase {
    /// There has been none in this process.
    #[default]
    Idle,
    /// It is running.
    Running,
    /// It has come to its end.
    Completed,
    /// It was stopped; what was finished is kept.
    Cancelled,
    /// It has published nothing.
    Failed,
}

/// Why an index run was started.
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum RunReason {
    /// Somebody has asked for it.
    #[default]
    Request,
    /// There was no index.
    Missing,
    /// The tree has changed, or may have.
    Change,
}

/// The last index run of this process: its progress, or what became of it.
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct RunStatus {
    /// Number of the run, from 1; 0 if there was none.
    pub run: u64,
    /// How far it is.
    pub phase: RunPhase,
    /// Why it was started.
    pub reason: RunReason,
    /// Files that have been processed, or were left out.
    pub files_done: u64,
    /// Files of the tree, once that is known.
    pub files_total: Option<u64>,
    /// Chunks that have been written.
    pub chunks: u64,
    /// Commits that have been compared with their parents, in the part that reads git's history after the files.
    pub commits_done: u64,
    /// Commits that have to be compared; 0 before that is known.
    pub commits_total: u64,
    /// Time since the run began, in milliseconds.
    pub elapsed_ms: u64,
    /// Why it has failed.
    pub error: Option<String>,
    /// What to do about it.
    pub help: Option<String>,
    /// The figures of the run after its end.
    pub record: Option<RunRecord>,
}

impl RunStatus {
    /// Whether it is running.
    pub fn is_running(&self) -> bool {
        self.phase == RunPhase::Running
    }
}
