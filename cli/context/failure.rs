//! Failures of commands and their exit codes.

use std::error::Error;
use std::io;
use std::process::ExitCode;

use aurora_memory::MemoryError;
use aurora_pipeline::{Diagnostics, Severity};
use aurora_project::{ProjectError, causes, chain};
use aurora_stages::index::IndexError;
use aurora_storage::StorageError;

use crate::output::units;

/// The reason why a command did not fully succeed.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The command finished with something to report: exit code 1.
    Short(String),
    /// The command finished with something to report, and has printed it: no message, exit code 1.
    Reported,
    /// The command failed: exit code 2, with a message and perhaps advice.
    Fatal {
        /// Description of the problem, naming the path, the key or the table.
        message: String,
        /// Advice on the next step.
        help: Option<String>,
    },
    /// A configuration has errors: exit code 2, with all findings before the message.
    Findings {
        /// The message, which names the configuration.
        message: String,
        found: Diagnostics,
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

    /// Creates a failure from the findings about a configuration. `what` names the configuration.
    pub(crate) fn findings(what: &str, found: &Diagnostics) -> Self {
        let errors = found.iter().filter(|finding| finding.severity == Severity::Error).count();
        let message = format!("{what} has {}", units::counted(errors as u64, "error"));
        Self::Findings { message, found: found.clone() }
    }

    /// Adds to the message of [`Self::Findings`] that the command has written nothing because of the errors.
    pub(crate) fn with_nothing_written(self) -> Self {
        match self {
            Self::Findings { message, found } => {
                Self::Findings { message: format!("{message}; nothing was written"), found }
            }
            other => other,
        }
    }

    /// Adds advice to a [`Self::Fatal`] without advice. Other failures stay unchanged.
    pub(crate) fn with_help(self, advice: impl Into<String>) -> Self {
        match self {
            Self::Fatal { message, help: None } => Self::Fatal { message, help: Some(advice.into()) },
            other => other,
        }
    }

    /// Returns the message, for use in another message.
    pub(crate) fn message(self) -> String {
        match self {
            Self::Short(message) | Self::Interrupted(message) => message,
            Self::Fatal { message, .. } | Self::Findings { message, .. } => message,
            Self::Reported | Self::ReaderGone => String::new(),
        }
    }

    /// Returns the message with all findings, for a report.
    pub(crate) fn description(&self) -> String {
        match self {
            Self::Short(message) | Self::Interrupted(message) | Self::Fatal { message, .. } => message.clone(),
            Self::Findings { message, found } => {
                let findings = found.iter().map(|finding| match &finding.location {
                    Some(place) => format!("{place}: {}", finding.message),
                    None => finding.message.clone(),
                });
                format!("{message}: {}", findings.collect::<Vec<_>>().join("; "))
            }
            Self::Reported | Self::ReaderGone => String::new(),
        }
    }

    pub(crate) fn code(&self) -> ExitCode {
        ExitCode::from(match self {
            Self::ReaderGone => 0,
            Self::Short(_) | Self::Reported => 1,
            Self::Fatal { .. } | Self::Findings { .. } => 2,
            Self::Interrupted(_) => 130,
        })
    }
}

impl<E: Error + 'static> From<E> for Failure {
    /// Converts an error of a library, with its findings and advice. An I/O error is reported as a failure to write the
    /// output.
    fn from(error: E) -> Self {
        let error: &(dyn Error + 'static) = &error;
        if let Some(error) = error.downcast_ref() {
            return project_failure(error);
        }
        if let Some(error) = error.downcast_ref() {
            return index_failure(error);
        }
        if let Some(error) = error.downcast_ref() {
            return memory_failure(error);
        }
        match error.downcast_ref::<io::Error>() {
            Some(error) if error.kind() == io::ErrorKind::BrokenPipe => Self::ReaderGone,
            Some(error) => Self::new(format!("cannot write the output: {error}")),
            None => Self::from_error(error),
        }
    }
}

fn project_failure(error: &ProjectError) -> Failure {
    match error {
        ProjectError::Configuration(found) => Failure::findings("the search configuration", found),
        ProjectError::Logs(found) => Failure::findings("the configuration of the logs", found),
        ProjectError::Index(error) => index_failure(error),
        error => Failure::Fatal { message: chain(error), help: error.help() },
    }
}

fn index_failure(error: &IndexError) -> Failure {
    match error {
        IndexError::Pipeline(found) => Failure::findings("the pipeline", found),
        error => Failure::from_error(error),
    }
}

fn memory_failure(error: &MemoryError) -> Failure {
    let failure = match error {
        // The advice for index errors is to run `aur mem index`, which does not repair the records of a memory.
        MemoryError::Storage(error) => Failure::new(causes(error)),
        MemoryError::Project(error) => Failure::Fatal { message: chain(&**error), help: error.help() },
        error => Failure::from_error(error),
    };
    match error {
        MemoryError::NoEntry(_) => failure.with_help("`aur mem list` shows the entries"),
        MemoryError::Exists(_) => failure.with_help("`aur mem edit ID FILE` replaces an entry"),
        MemoryError::Storage(StorageError::DamagedRecords { .. }) => {
            failure.with_help("import an export of the memory")
        }
        MemoryError::Damaged(_) => failure.with_help("restore the directory from a backup, or import an export of it"),
        _ => failure,
    }
}
