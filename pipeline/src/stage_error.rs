//! Errors of stages.

use std::error::Error;

use crate::permissions::AccessError;

/// Why a stage could not be built, or could not continue. Either ends the run. A bad file is not an error of the stage:
/// it is reported through [`StageContext::error`](crate::StageContext::error).
#[derive(Debug, thiserror::Error)]
pub enum StageError {
    /// The stage broke its declaration.
    #[error(transparent)]
    Access(#[from] AccessError),
    /// The run is stopping, because it was cancelled or another stage failed. Not an error of this stage.
    #[error("the run is being stopped")]
    Stopped,
    /// Everything else.
    #[error("{message}")]
    Failed {
        /// What happened, and what to do.
        message: String,
        /// The cause, where there is one.
        source: Option<Box<dyn Error + Send + Sync>>,
    },
}

impl StageError {
    /// An error with a message.
    pub fn new(message: impl Into<String>) -> Self {
        Self::Failed { message: message.into(), source: None }
    }

    /// An error with a message and its cause.
    pub fn caused(message: impl Into<String>, cause: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self::Failed { message: message.into(), source: Some(cause.into()) }
    }

    /// Wraps an error, with its own message. It remains the source, so that callers can tell its type.
    pub fn from_error(cause: impl Error + Send + Sync + 'static) -> Self {
        Self::Failed { message: cause.to_string(), source: Some(Box::new(cause)) }
    }
}
