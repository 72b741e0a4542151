//! Failures of commands and their exit codes.

use std::error::Error;
use std::io;
use std::process::ExitCode;

use aurora_project::{ProjectError, chain};

/// The reason why a command did not fully succeed.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The command finished with something to report: exit code 1.
    Short(String),
    /// The command failed: exit code 2, with a message and perhaps advice.
    Fatal {
        /// Description of the problem, naming the path, the key or the table.
        message: String,
        /// Advice on the next step.
        help: Option<String>,
    },
    /// The user stopped the command: exit code 130.
    Interrupted(String),
    /// The reader of the output closed it: no message, exit code 0.
    ReaderGone,
}

/// The result of a command.
pub(crate) type Outcome<T = ()> = Result<T, Failure>;

impl Failure {
    /// Creates a failure with a message and no advice.
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self::Fatal { message: message.into(), help: None }
    }

    /// Creates a failure from a library error and all of its causes.
    pub(crate) fn from_error(error: &(dyn Error + 'static)) -> Self {
        Self::new(chain(error))
    }

    /// Adds advice to a failure.
    pub(crate) fn with_help(self, advice: impl Into<String>) -> Self {
        match self {
            Self::Fatal { message, help: None } => Self::Fatal { message, help: Some(advice.into()) },
            other => other,
        }
    }

    /// Returns the message, for use in another message.
    pub(crate) fn message(self) -> String {
        match self {
            Self::Short(message) | Self::Interrupted(message) | Self::Fatal { message, .. } => message,
            Self::ReaderGone => String::new(),
        }
    }

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
    /// Converts a project error, with its advice.
    fn from(error: ProjectError) -> Self {
        Self::Fatal { message: chain(&error), help: error.help() }
    }
}

impl From<io::Error> for Failure {
    /// Converts an error of writing the output.
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
    fn a_closed_pipe_is_not_an_error() {
        let failure = Failure::from(io::Error::from(io::ErrorKind::BrokenPipe));
        assert!(matches!(failure, Failure::ReaderGone));
    }
}
