//! Errors of stages.

use std::error::Error;

use crate::permissions::AccessError;

/// An error that prevents the building of a stage or ends the run. An error in a single file should not end the run:
/// report it with [`StageContext::error`](crate::StageContext::error) instead.
#[derive(Debug, thiserror::Error)]
pub enum StageError {
    /// The stage violated its declared access.
    #[error(transparent)]
    Access(#[from] AccessError),
    /// The run is stopping because it was cancelled or another stage failed. This is not an error of the stage.
    #[error("the run is being stopped")]
    Stopped,
    /// Any other error.
    #[error("{message}")]
    Failed {
        /// Description of the error, and advice on how to fix it.
        message: String,
        /// The cause, if known.
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

    /// Wraps an error and uses its message. The error becomes the source, so callers can inspect its type.
    pub fn from_error(cause: impl Error + Send + Sync + 'static) -> Self {
        Self::Failed { message: cause.to_string(), source: Some(Box::new(cause)) }
    }
}
