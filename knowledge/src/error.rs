//! Why a session cannot do what it is asked to.

use std::path::PathBuf;
use std::sync::Arc;

use aurora_project::ProjectError;
use aurora_query::QueryError;
use aurora_storage::StorageError;

/// Why a session cannot do what it is asked to.
#[derive(Debug, Clone, thiserror::Error)]
pub enum KnowledgeError {
    /// There is no such session.
    #[error("there is no session {0}")]
    NoSession(u64),
    /// The session has no such article.
    #[error("session {session} has no article {article}")]
    NoArticle {
        /// The session.
        session: u64,
        /// The article.
        article: u64,
    },
    /// The article cannot be indexed as it is.
    #[error("{0}")]
    Unfit(String),
    /// More changes of the session wait than may.
    #[error("too many changes of session {0} wait")]
    Busy(u64),
    /// Another process has the sessions.
    #[error("another process keeps the sessions in {}", .0.display())]
    Taken(PathBuf),
    /// A file cannot be read or written.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system says.
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
    /// A bug has ended the change.
    #[error("the change of session {0} was given up")]
    Ended(u64),
}

impl KnowledgeError {
    pub(crate) fn io(path: PathBuf) -> impl FnOnce(std::io::Error) -> Self {
        move |source| Self::Io { path, source: Arc::new(source) }
    }
}

impl From<ProjectError> for KnowledgeError {
    fn from(error: ProjectError) -> Self {
        Self::Index(Arc::new(error))
    }
}

impl From<StorageError> for KnowledgeError {
    fn from(error: StorageError) -> Self {
        ProjectError::Storage(error).into()
    }
}

impl From<QueryError> for KnowledgeError {
    fn from(error: QueryError) -> Self {
        Self::Query(Arc::new(error))
    }
}
