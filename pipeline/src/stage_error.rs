//! Errors of stages.

use std::error::Error;

use crate::permissions::AccessError;

/// An error that prevents building a stage or continuing a run. It ends the run. A bad file is not an error of the
/// stage: report it with [`StageContext::error`](crate::StageContext::error).
#[derive(Debug, thiserror::Error)]
pub enum StageError {
    /// The stage violated its declared access.
    #[error(transparent)]
    Access(#[from] AccessError),
    /// The run is stopping because it was cancelled or another stage failed. Not an error of this stage.
    #[error("the run is being stopped")]
    Stopped,
    /// Any other error.
    #[error("{message}")]
    Failed {
        /// Description of the error, with advice.
        message: String,
        /// The cause, if there is one.
        source: Option<Box<dyn Error + Send + Sync>>,
    },
}

impl StageError {
    /// Creates an error from a message.
    pub fn new(message: impl Into<String>) -> Self {
        Self::Failed { message: message.into(), source: None }
    }

    /// Creates an error from a message and its cause.
    pub fn caused(message: impl Into<String>, cause: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self::Failed { message: message.into(), source: Some(cause.into()) }
    }

    /// Wraps an error and uses its message. The error becomes the source, so that callers can inspect its type.
    pub fn from_error(cause: impl Error + Send + Sync + 'static) -> Self {
        Self::Failed { message: cause.to_string(), source: Some(Box::new(cause)) }
    }
}
