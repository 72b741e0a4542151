//! Errors that answer a request.

use std::error::Error;
use std::time::Duration;

use aurora_articles::ArticleError;
use aurora_live::UnknownRoot;
use aurora_memory::MemoryError;
use aurora_project::{ProjectError, chain};
use aurora_query::{Cancelled, QueryError};
use aurora_storage::StorageError;
use axum::Json;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use utoipa::ToSchema;

/// Maximum length of an error message and of its help, in bytes.
const MAX_TEXT_BYTES: usize = 8 << 10;

/// The error that answers a request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub(crate) struct Problem {
    /// The error message, a sentence without a full stop.
    error: String,
    /// How to solve the problem.
    #[serde(skip_serializing_if = "Option::is_none")]
    help: Option<String>,
    /// Ids of the first definitions with the name, if the name is ambiguous.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    candidates: Vec<String>,
    /// The HTTP status of the answer.
    #[serde(skip)]
    #[schema(ignore)]
    status: StatusCode,
}

impl Problem {
    pub(crate) fn new(status: StatusCode, error: impl Into<String>) -> Self {
        Self { error: shorten(error.into()), help: None, candidates: Vec::new(), status }
    }

    pub(crate) fn not_found(error: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, error)
    }

    /// Creates the error for an invalid value.
    pub(crate) fn invalid(error: impl Into<String>) -> Self {
        Self::new(StatusCode::UNPROCESSABLE_ENTITY, error)
    }

    pub(crate) fn forbidden(error: impl Into<String>) -> Self {
        Self::new(StatusCode::FORBIDDEN, error)
    }

    /// Creates the error for a request that writes to a read-only server.
    pub(crate) fn read_only() -> Self {
        Self::forbidden("the server is read-only")
    }

    /// Creates the error for a request that is rejected because too many requests are waiting.
    pub(crate) fn busy() -> Self {
        Self::new(StatusCode::SERVICE_UNAVAILABLE, "the server has more requests than it can answer; try again later")
    }

    /// Creates the error for a client that has exceeded its rate limit. The client may send the next request after
    /// `wait`.
    pub(crate) fn too_many(wait: Duration) -> Self {
        let seconds = wait.as_millis().div_ceil(1_000).max(1);
        Self::new(StatusCode::TOO_MANY_REQUESTS, "the client sends too many requests")
            .with_help(format!("try again in {seconds} seconds"))
    }

    pub(crate) fn too_slow(time: Duration) -> Self {
        Self::new(StatusCode::GATEWAY_TIMEOUT, format!("there was no answer within {} s", time.as_secs_f64()))
    }

    /// Creates the error for a request that was cancelled. The client has disconnected, so nobody receives the error.
    pub(crate) fn cancelled() -> Self {
        Self::new(StatusCode::GATEWAY_TIMEOUT, "the request was cancelled")
    }

    /// Creates the error for an answer that would have more than `limit` bytes.
    pub(crate) fn too_large(limit: usize) -> Self {
        Self::invalid(format!("the answer would have more than {} MiB", limit >> 20))
            .with_help("request fewer results, less content of each, or a smaller part")
    }

    /// Creates an internal error. Only the log contains its details.
    pub(crate) fn bug(error: &dyn Error) -> Self {
        tracing::error!("a bug aborted a request: {error}");
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, "a bug aborted the request; see the server's log")
    }

    pub(crate) fn with_help(self, help: impl Into<String>) -> Self {
        Self { help: Some(shorten(help.into())), ..self }
    }

    fn from_project_error(error: &ProjectError) -> Self {
        let status = match error {
            ProjectError::UnknownChunk { .. }
            | ProjectError::NoChunkAtLine { .. }
            | ProjectError::UnknownName { .. }
            | ProjectError::UnknownFile { .. }
            | ProjectError::OutsideRoot { .. }
            | ProjectError::NoRepository { .. }
            | ProjectError::NotAttributed { .. } => StatusCode::NOT_FOUND,
            ProjectError::AmbiguousName { .. } | ProjectError::AmbiguousModule { .. } | ProjectError::History(_) => {
                StatusCode::UNPROCESSABLE_ENTITY
            }
            ProjectError::Query(error) => return Self::from_query_error(error),
            ProjectError::Storage(error) => status_of_storage(error),
            ProjectError::Distrusted { .. } => StatusCode::SERVICE_UNAVAILABLE,
            _ => StatusCode::INTERNAL_SERVER_ERROR,
        };
        let candidates = match error {
            ProjectError::AmbiguousName { ids, .. } => ids.clone(),
            ProjectError::AmbiguousModule { files, .. } => files.clone(),
            _ => Vec::new(),
        };
        Self { help: error.help(), candidates, ..Self::new(status, chain(error)) }
    }

    fn from_query_error(error: &QueryError) -> Self {
        let status = match error {
            QueryError::Storage(error) => status_of_storage(error),
            QueryError::Cancelled(_) => return Self::cancelled(),
            _ => StatusCode::UNPROCESSABLE_ENTITY,
        };
        Self::new(status, error.to_string())
    }
}

/// Cuts a message that is too long. Messages may repeat input of the client.
fn shorten(mut text: String) -> String {
    if text.len() > MAX_TEXT_BYTES {
        text.truncate(text.floor_char_boundary(MAX_TEXT_BYTES));
        text.push('…');
    }
    text
}

/// Returns the status for a storage error: 503 if the index is unavailable, otherwise 500.
fn status_of_storage(error: &StorageError) -> StatusCode {
    match error {
        StorageError::NoIndex { .. }
        | StorageError::Replaced { .. }
        | StorageError::Locked { .. }
        | StorageError::StaleLock { .. } => StatusCode::SERVICE_UNAVAILABLE,
        _ => StatusCode::INTERNAL_SERVER_ERROR,
    }
}

impl From<QueryError> for Problem {
    fn from(error: QueryError) -> Self {
        Self::from_query_error(&error)
    }
}

impl From<UnknownRoot> for Problem {
    fn from(error: UnknownRoot) -> Self {
        Self::not_found(error.to_string()).with_help(format!("known names: {}", error.names.join(", ")))
    }
}

impl From<ArticleError> for Problem {
    fn from(error: ArticleError) -> Self {
        let status = match &error {
            ArticleError::NoSession(_) | ArticleError::NoArticle { .. } => StatusCode::NOT_FOUND,
            ArticleError::InvalidArticle(_) => StatusCode::UNPROCESSABLE_ENTITY,
            ArticleError::Busy(_) | ArticleError::Locked(_) => StatusCode::SERVICE_UNAVAILABLE,
            ArticleError::Io { .. } | ArticleError::Aborted(_) => StatusCode::INTERNAL_SERVER_ERROR,
            ArticleError::Cancelled => return Self::cancelled(),
            ArticleError::Index(error) => return Self::from_project_error(error),
            ArticleError::Query(error) => return Self::from_query_error(error),
        };
        Self::new(status, chain(&error))
    }
}

impl From<MemoryError> for Problem {
    fn from(error: MemoryError) -> Self {
        let status = match &error {
            MemoryError::UnknownSession | MemoryError::NoSession(_) | MemoryError::NoEntry(_) => StatusCode::NOT_FOUND,
            MemoryError::Unfit(_) | MemoryError::Exists(_) | MemoryError::TooLarge { .. } => {
                StatusCode::UNPROCESSABLE_ENTITY
            }
            MemoryError::Quota(_) => StatusCode::TOO_MANY_REQUESTS,
            MemoryError::ReadOnly => return Self::read_only(),
            MemoryError::Distrusted { .. } | MemoryError::Damaged(_) => StatusCode::SERVICE_UNAVAILABLE,
            MemoryError::Storage(error) => status_of_storage(error),
            MemoryError::Project(error) => return Self::from_project_error(error),
            MemoryError::Query(error) => return Self::from_query_error(error),
            _ => StatusCode::INTERNAL_SERVER_ERROR,
        };
        let problem = Self::new(status, chain(&error));
        match error {
            MemoryError::UnknownSession => {
                problem.with_help("`POST /api/v1/memory/sessions` issues the id of a session")
            }
            _ => problem,
        }
    }
}

impl From<Cancelled> for Problem {
    fn from(_: Cancelled) -> Self {
        Self::cancelled()
    }
}

impl From<StorageError> for Problem {
    fn from(error: StorageError) -> Self {
        Self::from_project_error(&ProjectError::Storage(error))
    }
}

impl From<ProjectError> for Problem {
    fn from(error: ProjectError) -> Self {
        Self::from_project_error(&error)
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let status = self.status;
        let mut response = (status, Json(self)).into_response();
        if status == StatusCode::SERVICE_UNAVAILABLE || status == StatusCode::TOO_MANY_REQUESTS {
            response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
        }
        if status == StatusCode::UNAUTHORIZED {
            response.headers_mut().insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        response
    }
}
