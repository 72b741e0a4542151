//! Errors that occur while golden sets are generated.

use std::path::PathBuf;

/// An error that occurs while golden sets are generated.
#[derive(Debug, thiserror::Error)]
pub enum MineError {
    /// The history cannot be read.
    #[error("cannot read the history of {path}: {reason}")]
    Git {
        /// Path of the repository.
        path: PathBuf,
        /// The reason.
        reason: String,
    },
    /// A file cannot be read or written.
    #[error("{path}: {source}")]
    File {
        /// Path of the file.
        path: PathBuf,
        /// The error of the operating system.
        source: std::io::Error,
    },
    /// The directory contains other files, which must not be overwritten.
    #[error("{0} is neither empty nor a mined directory; choose another directory")]
    Occupied(PathBuf),
    /// A manifest cannot be read.
    #[error("{path}: {reason}; mine the directory again")]
    Manifest {
        /// Path of the manifest.
        path: PathBuf,
        /// The reason.
        reason: String,
    },
    /// The copy of a tree cannot be indexed.
    #[error("cannot index {root}: {reason}")]
    Index {
        /// Directory of the copy.
        root: PathBuf,
        /// The reason.
        reason: String,
    },
}
