//! Errors of sessions and of their store.

use std::path::PathBuf;
use std::sync::Arc;

use aurora_project::ProjectError;
use aurora_query::QueryError;
use aurora_storage::StorageError;

/// An error of a session or the store.
#[derive(Debug, Clone, thiserror::Error)]
pub enum ArticleError {
    /// The session does not exist.
    #[error("there is no session {0}")]
    NoSession(u64),
    /// The session has no article with this number.
    #[error("session {session} has no article {article}")]
    NoArticle {
        /// Number of the session.
        session: u64,
        /// Number of the article.
        article: u64,
    },
    /// The article is invalid.
    #[error("{0}")]
    InvalidArticle(String),
    /// The session's queue of changes is full, or no thread can be started for the queue.
    #[error("too many changes of session {0} are waiting")]
    Busy(u64),
    /// Another process has opened the store for writing.
    #[error("another process has locked the sessions in {}", .0.display())]
    Locked(PathBuf),
    /// A file cannot be read or written.
    #[error("{}: {source}", path.display())]
    Io {
        /// Path of the file.
        path: PathBuf,
        /// The error of the operating system.
        source: Arc<std::io::Error>,
    },
    /// The index cannot be updated or read.
    #[error(transparent)]
    Index(Arc<ProjectError>),
    /// The query cannot be answered.
    #[error(transparent)]
    Query(Arc<QueryError>),
    /// The request was cancelled.
    #[error("the request was cancelled")]
    Cancelled,
    /// The thread that applied the change panicked, because of a bug.
    #[error("the change of session {0} was aborted by a bug")]
    Aborted(u64),
}

impl ArticleError {
    pub(crate) fn io(path: PathBuf) -> impl FnOnce(std::io::Error) -> Self {
        move |source| Self::Io { path, source: Arc::new(source) }
    }
}

impl From<ProjectError> for ArticleError {
    fn from(error: ProjectError) -> Self {
        Self::Index(Arc::new(error))
    }
}

impl From<StorageError> for ArticleError {
    fn from(error: StorageError) -> Self {
        ProjectError::Storage(error).into()
    }
}

impl From<QueryError> for ArticleError {
    fn from(error: QueryError) -> Self {
        Self::Query(Arc::new(error))
    }
}
