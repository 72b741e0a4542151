//! Errors of an index run.

use std::path::PathBuf;

use aurora_pipeline::{Diagnostics, RunError, StageError};
use aurora_storage::StorageError;

/// Reason why an index run failed.
#[derive(Debug, thiserror::Error)]
pub enum IndexError {
    /// The configuration of the pipeline is invalid.
    #[error("the pipeline has errors")]
    Pipeline(Diagnostics),
    /// The pipeline file cannot be read.
    #[error("cannot read the pipeline {path}: {source}")]
    Unreadable {
        /// Path of the pipeline file.
        path: PathBuf,
        /// The I/O error.
        source: std::io::Error,
    },
    /// The root does not exist or is not a directory.
    #[error("{path} cannot be indexed: {reason}")]
    Root {
        /// The root as given by the caller.
        path: PathBuf,
        /// Reason why the root cannot be indexed.
        reason: String,
    },
    /// The limit of open files is too low. Nothing was written.
    #[error(
        "a run needs {needed} file descriptors and {allowed} are allowed; raise the limit (`ulimit -n {needed}`), or use \
         fewer threads"
    )]
    Descriptors {
        /// Number of files that may be open.
        allowed: u64,
        /// Minimum number of files that a run needs.
        needed: u64,
    },
    /// The run was restricted to changed files, but another pipeline made the index. Nothing was written.
    #[error("the index was made by another pipeline or version of the program")]
    OtherPipeline,
    /// The run requires an index that it can update, but there is none. Nothing was written.
    #[error("there is no index that this run can update: {0}")]
    Required(String),
    /// The cache of the history that the shards of a tree share cannot be opened. Nothing was written.
    #[error("cannot use {path} for the history: {source}")]
    SharedHistory {
        /// Path of the file.
        path: PathBuf,
        /// The I/O error.
        source: std::io::Error,
    },
    /// The run was restricted to a shard, but this stage of the pipeline supplies documents. Nothing was written.
    #[error(
        "a shard cannot be indexed with stage `{0}`, which supplies documents; disable the stage, or index the whole tree"
    )]
    Supplier(String),
    /// The index cannot be opened or written.
    #[error(transparent)]
    Storage(#[from] StorageError),
    /// A stage could not be built.
    #[error(transparent)]
    Stage(#[from] StageError),
    /// A stage failed while running. The index is unchanged.
    #[error(transparent)]
    Run(#[from] RunError),
}
