//! Errors of remotes.

use std::io;
use std::path::PathBuf;

use aurora_storage::StorageError;
use thiserror::Error;

/// The reason why an operation on a remote failed.
#[derive(Debug, Error)]
pub enum RemoteError {
    /// The URL of a remote cannot be used.
    #[error("the URL of a remote is invalid: {0}")]
    Url(String),
    /// The variables that configure the access to a store are invalid or incomplete.
    #[error("the access to the remote is not configured: {0}")]
    Access(String),
    /// The configuration of remotes is invalid.
    #[error("{}: {what}", path.display())]
    Settings {
        /// The configuration file.
        path: PathBuf,
        /// Description of the problem.
        what: String,
    },
    /// A request to the store failed.
    #[error("cannot {action}")]
    Store {
        /// Description of the request.
        action: String,
        /// The error of the store.
        source: object_store::Error,
    },
    /// A request to the store took too long.
    #[error("cannot {action}: the store did not answer within {seconds} seconds")]
    Timeout {
        /// Description of the request.
        action: String,
        /// The limit.
        seconds: u64,
    },
    /// The store refuses requests that must not overwrite objects.
    #[error(
        "the store does not support conditional writes, so two pushes at the same time could overwrite each other; \
         nothing was pushed"
    )]
    NoConditionalWrites,
    /// The location contains no remote.
    #[error("there is no remote at {0}; the first push creates it")]
    Missing(String),
    /// The layout of the remote has another version.
    #[error("the remote has another layout than this program: {0}")]
    Layout(String),
    /// An object of the remote is missing or invalid.
    #[error("{object} of the remote is damaged: {what}")]
    Damaged {
        /// Name of the object.
        object: String,
        /// Description of the damage.
        what: String,
    },
    /// The remote exceeds a limit.
    #[error("the remote exceeds a limit: {0}")]
    TooLarge(String),
    /// The signature of a manifest is missing or not accepted.
    #[error("manifest {sequence} is not accepted: {what}")]
    Untrusted {
        /// Number of the manifest.
        sequence: u64,
        /// The reason.
        what: String,
    },
    /// A key cannot be used.
    #[error("{0}")]
    Key(String),
    /// The remote has only manifests that are older than a manifest that this user has seen.
    #[error(
        "the newest manifest of the remote is {found}, but manifest {seen} has been seen before: the remote was reset \
         or shows an old state"
    )]
    Replayed {
        /// Number of the newest manifest.
        found: u64,
        /// Highest number that this user has seen.
        seen: u64,
    },
    /// The remote has a different manifest with a known number.
    #[error("manifest {0} of the remote has changed since it was seen before")]
    Changed(u64),
    /// The caller stopped the operation with a [`Stopper`](crate::Stopper).
    #[error("the operation was stopped")]
    Stopped,
    /// Another process prevents the operation.
    #[error("{0}")]
    Busy(String),
    /// A manifest was written by another version of the program.
    #[error(
        "manifest {sequence} has index format {found}, but this program reads format {expected}; push again with this \
         version, or use the version `{program}`"
    )]
    Version {
        /// Number of the manifest.
        sequence: u64,
        /// The format of the manifest.
        found: u32,
        /// The format of this program.
        expected: u32,
        /// The program that wrote the manifest.
        program: String,
    },
    /// A local file cannot be read or written.
    #[error("cannot access {}", path.display())]
    Io {
        /// The file or directory.
        path: PathBuf,
        /// The error of the file system.
        source: io::Error,
    },
    /// The index cannot be read or written.
    #[error(transparent)]
    Storage(#[from] StorageError),
}

impl RemoteError {
    pub(crate) fn damaged(object: impl Into<String>, what: impl Into<String>) -> Self {
        Self::Damaged { object: object.into(), what: what.into() }
    }
}
