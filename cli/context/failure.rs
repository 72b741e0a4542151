//! How a command fails, and its exit code.

use std::error::Error;
use std::io;
use std::process::ExitCode;

use aurora_project::{ProjectError, chain};

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

impl From<ProjectError> for Failure {
    /// An error of a project, with what to do next.
    fn from(error: ProjectError) -> Self {
        Self::Fatal { message: chain(&error), help: error.help() }
    }
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
    use super::*;

    #[test]
    fn a_closed_pipe_is_no_error() {
        let failure = Failure::from(io::Error::from(io::ErrorKind::BrokenPipe));
        assert!(matches!(failure, Failure::ReaderGone));
    }
}
