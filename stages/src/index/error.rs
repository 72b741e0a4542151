//! Why an index run has failed.

use std::path::PathBuf;

use aurora_pipeline::{Diagnostics, RunError, StageError};
use aurora_storage::StorageError;

/// Why there is no new index.
#[derive(Debug, thiserror::Error)]
pub enum IndexError {
    /// The pipeline's configuration is wrong.
    #[error("the pipeline has errors")]
    Pipeline(Diagnostics),
    /// The pipeline's file cannot be read.
    #[error("cannot read the pipeline {path}: {source}")]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// The root is not there, or no directory.
    #[error("{path} cannot be indexed: {reason}")]
    Root {
        /// As given.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// The process may have too few files open; nothing was written.
    #[error(
        "a run needs {needed} file descriptors and {allowed} are allowed; raise the limit (`ulimit -n {needed}`), or use \
         fewer threads"
    )]
    Descriptors {
        /// How many files may be open.
        allowed: u64,
        /// How many a run needs at least.
        needed: u64,
    },
    /// Only changed files were to be indexed, but the pipeline is another one than the index was made by; nothing was written.
    #[error("the index was made by another pipeline or version of the program")]
    OtherPipeline,
    /// The run requires an index that it can update, and there is no such index; nothing was written.
    #[error("there is no index that this run can update: {0}")]
    Required(String),
    /// The index cannot be opened or written.
    #[error(transparent)]
    Storage(#[from] StorageError),
    /// A stage could not be made ready.
    #[error(transparent)]
    Stage(#[from] StageError),
    /// A stage failed while running; the index is as it was.
    #[error(transparent)]
    Run(#[from] RunError),
}
