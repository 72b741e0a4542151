//! Errors of logs.

use std::io;
use std::path::{Path, PathBuf};

use serde::Serialize;

/// An error while writing or reading logs.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LogError {
    /// A file or directory could not be used.
    #[error("cannot {action} {}", path.display())]
    Io {
        /// The action that failed, such as `create`.
        action: &'static str,
        /// The file or directory.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// The text of the log, or of the addition, could not be read.
    #[error("cannot read the text of the log")]
    Text(#[source] io::Error),
    /// All numbered names for these keywords and this day are taken.
    #[error("all names for logs with these keywords on this day are taken in {}", .0.display())]
    NoName(PathBuf),
    /// The name of a section cannot be used as a heading.
    #[error("the name of a section must be {}", crate::heading::TITLE_RULE)]
    SectionName,
    /// The system provides no random numbers.
    #[error("cannot make an id for the log: {0}")]
    Random(String),
}

impl LogError {
    /// Creates the error of an action on a path, for `map_err`.
    pub(crate) fn io(action: &'static str, path: impl AsRef<Path>) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Io { action, path: path.as_ref().to_owned(), source }
    }
}

/// A log or directory that could not be read, or that maintenance left unchanged.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct UnreadLog {
    /// The path relative to the log directory.
    pub file: String,
    /// The reason.
    pub cause: String,
}

impl UnreadLog {
    pub(crate) fn new(file: impl Into<String>, cause: &dyn std::fmt::Display) -> Self {
        Self { file: file.into(), cause: cause.to_string() }
    }
}
