//! The status of an index run: its progress while it runs, and its result.

use aurora_stages::index::RunRecord;
use serde::Serialize;

/// Phase of an index run.
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum RunPhase {
    /// This process has not run the pipeline.
    #[default]
    Idle,
    /// The run is in progress.
    Running,
    /// The run has ended normally.
    Completed,
    /// The run was stopped. Its finished work, if any, was published.
    Cancelled,
    /// The run has failed. The last published generation remains in use.
    Failed,
}

/// Reason for an index run.
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum RunReason {
    /// A user requested the run.
    #[default]
    Request,
    /// The index was missing.
    Missing,
    /// The tree has changed, or may have changed.
    Change,
}

/// The last index run of this process: its progress or its outcome.
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct RunStatus {
    /// Number of the run, from 1; 0 before the first run.
    pub run: u64,
    /// Phase of the run.
    pub phase: RunPhase,
    /// Reason for the run.
    pub reason: RunReason,
    /// Number of files that were processed or skipped.
    pub files_done: u64,
    /// Number of files in the tree, once known.
    pub files_total: Option<u64>,
    /// Number of chunks that were written.
    pub chunks: u64,
    /// Number of commits that were compared with their parents. The run reads git's history after the files.
    pub commits_done: u64,
    /// Number of commits to compare; 0 until known.
    pub commits_total: u64,
    /// Time since the run began, in milliseconds.
    pub elapsed_ms: u64,
    /// Reason for the failure.
    pub error: Option<String>,
    /// Advice on how to fix the failure.
    pub help: Option<String>,
    /// Statistics of the run; `None` until it has ended without an error.
    pub record: Option<RunRecord>,
}

impl RunStatus {
    /// Whether the run is in progress.
    pub fn is_running(&self) -> bool {
        self.phase == RunPhase::Running
    }
}
