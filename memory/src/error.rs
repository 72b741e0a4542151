//! Errors of operations on a memory.

use std::path::PathBuf;
use std::{fmt, io};

use aurora_pipeline::StageError;
use aurora_project::ProjectError;
use aurora_query::QueryError;
use aurora_stages::index::IndexError;
use aurora_storage::StorageError;

/// An error while reading or changing a memory.
#[derive(Debug, thiserror::Error)]
pub enum MemoryError {
    /// No entry has this id.
    #[error("no entry {0}")]
    NoEntry(String),
    /// No search in this session retrieved anything since the last task outcome was recorded.
    #[error("nothing was retrieved in session {0}")]
    NoSession(String),
    /// Another entry already has this id.
    #[error("{0} already exists")]
    Exists(String),
    /// All changes of the entry have been undone, or a compaction has deleted its earlier versions.
    #[error("nothing to undo: {0} has no change that can be undone")]
    NothingToUndo(String),
    /// An argument is invalid.
    #[error("{0}")]
    Unfit(String),
    /// The server of agents has not issued the id of a session, or has issued it for other projects.
    #[error("the session is unknown: this server has not issued its id")]
    UnknownSession,
    /// The server of agents refuses changes.
    #[error("the server is read-only")]
    ReadOnly,
    /// An entry of an agent is too large.
    #[error("the entry has {bytes} bytes; at most {max} are allowed")]
    TooLarge {
        /// Size of the entry.
        bytes: usize,
        /// Maximum size.
        max: usize,
    },
    /// The agents of a session or server add too many entries.
    #[error("{0}")]
    Quota(String),
    /// There is no memory at this path.
    #[error("no memory at {}", .0.display())]
    NoMemory(PathBuf),
    /// The current user has neither created nor accepted the memory.
    #[error("the memory at {} was not made by you", path.display())]
    Distrusted {
        /// The directory of the memory.
        path: PathBuf,
        /// The error of the entry store.
        source: StorageError,
    },
    /// The stored data is inconsistent.
    #[error("the memory is damaged: {0}")]
    Damaged(String),
    /// A file cannot be read or written.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file or directory.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
    /// The entries cannot be read or written.
    #[error(transparent)]
    Storage(#[from] StorageError),
    /// The index cannot be updated.
    #[error(transparent)]
    Index(Box<IndexError>),
    /// The index cannot be opened.
    #[error(transparent)]
    Project(Box<ProjectError>),
    /// A search cannot be answered.
    #[error(transparent)]
    Query(Box<QueryError>),
}

impl From<IndexError> for MemoryError {
    fn from(error: IndexError) -> Self {
        Self::Index(Box::new(error))
    }
}

impl From<ProjectError> for MemoryError {
    fn from(error: ProjectError) -> Self {
        Self::Project(Box::new(error))
    }
}

impl From<QueryError> for MemoryError {
    fn from(error: QueryError) -> Self {
        Self::Query(Box::new(error))
    }
}

impl MemoryError {
    pub(crate) fn io(path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| Self::Io { path, source }
    }
}

impl From<MemoryError> for StageError {
    fn from(error: MemoryError) -> Self {
        Self::new(error_chain(&error))
    }
}

/// Formats an error, followed by its chain of causes.
fn error_chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let _ = fmt::write(&mut text, format_args!(": {error}"));
        cause = error.source();
    }
    text
}
