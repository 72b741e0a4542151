//! Errors of mining.

use std::path::PathBuf;

/// An error of mining.
#[derive(Debug, thiserror::Error)]
pub enum MineError {
    /// The history cannot be read.
    #[error("cannot read the history of {path}: {reason}")]
    Git {
        /// The repository.
        path: PathBuf,
        /// The problem.
        reason: String,
    },
    /// A file cannot be read or written.
    #[error("{path}: {source}")]
    File {
        /// The path.
        path: PathBuf,
        /// The error of the operating system.
        source: std::io::Error,
    },
    /// The directory has other content, which must not be overwritten.
    #[error("{0} is neither empty nor a mined directory; choose another directory")]
    Occupied(PathBuf),
    /// A manifest cannot be read.
    #[error("{path}: {reason}; mine the directory again")]
    Manifest {
        /// The path.
        path: PathBuf,
        /// The problem.
        reason: String,
    },
    /// A copy cannot be indexed.
    #[error("cannot index {root}: {reason}")]
    Index {
        /// The copy.
        root: PathBuf,
        /// The problem.
        reason: String,
    },
}
