//! Why nothing was mined.

use std::path::PathBuf;

/// Why nothing was mined.
#[derive(Debug, thiserror::Error)]
pub enum MineError {
    /// The history cannot be read.
    #[error("cannot read the history of {path}: {reason}")]
    Git {
        /// The repository.
        path: PathBuf,
        /// What is wrong.
        reason: String,
    },
    /// A file cannot be read or written.
    #[error("{path}: {source}")]
    File {
        /// Which.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// The directory holds other things, which are not to be overwritten.
    #[error("{0} is neither empty nor a mined directory; give another")]
    Occupied(PathBuf),
    /// A manifest cannot be understood.
    #[error("{path}: {reason}; mine the directory again")]
    Manifest {
        /// Which.
        path: PathBuf,
        /// What is wrong.
        reason: String,
    },
    /// A copy cannot be indexed.
    #[error("cannot index {root}: {reason}")]
    Index {
        /// The copy.
        root: PathBuf,
        /// What is wrong.
        reason: String,
    },
}
