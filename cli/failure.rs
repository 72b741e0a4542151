//! How a command fails, and its exit code.

use std::error::Error;
use std::io;
use std::process::ExitCode;

use crate::advice::advice;

/// Why a command did not fully succeed.
#[derive(Debug)]
pub(crate) enum Failure {
    /// Done, but with something to report: exit code 1.
    Short(String),
    /// Not done: exit code 2, with a message and perhaps what to do about it.
    Fatal {
        /// What happened, naming the path, the key or the table.
        message: String,
        /// What to do next.
        help: Option<String>,
    },
    /// Stopped by the user: exit code 130.
    Interrupted(String),
    /// The reader of the output has closed it: no message, exit code 0.
    ReaderGone,
}

/// What a command returns.
pub(crate) type Outcome<T = ()> = Result<T, Failure>;

impl Failure {
    /// A failure with a message and no hint.
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self::Fatal { message: message.into(), help: None }
    }

    /// A library's error with everything that caused it, and what to do about it.
    pub(crate) fn from_error(error: &(dyn Error + 'static)) -> Self {
        Self::new(chain(error))
    }

    /// The same failure with advice.
    pub(crate) fn with_help(self, advice: impl Into<String>) -> Self {
        match self {
            Self::Fatal { message, help: None } => Self::Fatal { message, help: Some(advice.into()) },
            other => other,
        }
    }

    /// The message alone, for use in another message.
    pub(crate) fn message(self) -> String {
        match self {
            Self::Short(message) | Self::Interrupted(message) | Self::Fatal { message, .. } => message,
            Self::ReaderGone => String::new(),
        }
    }

    /// The exit code.
    pub(crate) fn code(&self) -> ExitCode {
        ExitCode::from(match self {
            Self::ReaderGone => 0,
            Self::Short(_) => 1,
            Self::Fatal { .. } => 2,
            Self::Interrupted(_) => 130,
        })
    }
}

/// An error's message and those of its causes, each only once, and then what to do about it.
pub(crate) fn chain(error: &(dyn Error + 'static)) -> String {
    let mut message = error.to_string();
    let mut hint = advice(error);
    let mut source = error.source();
    while let Some(cause) = source {
        let text = cause.to_string();
        if !message.contains(&text) {
            message.push_str(": ");
            message.push_str(&text);
        }
        if hint.is_empty() {
            hint = advice(cause);
        }
        source = cause.source();
    }
    message + &hint
}

impl From<io::Error> for Failure {
    /// An error while writing results.
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Self::ReaderGone,
            _ => Self::new(format!("cannot write the output: {error}")),
        }
    }
}

#[cfg(test)]
mod tests {
    use aurora_pipeline::{RunError, StageError};
    use aurora_query::QueryError;
    use aurora_stages::index::IndexError;
    use aurora_storage::StorageError;

    use super::*;

    #[derive(Debug, thiserror::Error)]
    #[error("cannot open the index")]
    struct Outer(#[source] io::Error);

    #[test]
    fn causes_are_told() {
        let error = Outer(io::Error::other("disk on fire"));
        assert_eq!(chain(&error), "cannot open the index: disk on fire");
    }

    #[test]
    fn an_error_tells_which_command_helps() {
        let storage = || StorageError::FormatVersion { path: "p".into(), found: 1, expected: 2 };
        let told = "the index at p has format 1, this program reads format 2; `aur mem index` builds it again";
        assert_eq!(chain(&storage()), told);
        assert_eq!(chain(&QueryError::from(storage())), told);
        assert_eq!(chain(&IndexError::from(storage())), told);
        assert_eq!(chain(&IndexError::from(StageError::from_error(storage()))), told);
        let run = RunError::Stage { stage: "store".to_owned(), error: StageError::from_error(storage()) };
        assert_eq!(chain(&IndexError::from(run)), format!("stage `store` failed: {told}"));
        let models = aurora_analysis::ModelDirectory::at("no/such/directory");
        let unknown = aurora_analysis::embedder("minilm", &models).err().expect("there is none");
        let message = chain(&StageError::from_error(unknown));
        assert!(message.contains("there is static. Get its files") && message.contains("model add DIR --name minilm"));
    }

    #[test]
    fn a_closed_pipe_is_no_error() {
        let failure = Failure::from(io::Error::from(io::ErrorKind::BrokenPipe));
        assert!(matches!(failure, Failure::ReaderGone));
    }
}
