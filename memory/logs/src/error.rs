//! Errors of reading and writing logs.

use std::io;
use std::path::{Path, PathBuf};

use serde::Serialize;

/// An error while reading or writing logs.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LogError {
    /// An operation on a file or directory failed.
    #[error("cannot {action} {}", path.display())]
    Io {
        /// The action that failed, such as `create`.
        action: &'static str,
        /// The file or directory.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
    /// The text to store in a log could not be read.
    #[error("cannot read the text of the log")]
    Text(#[source] io::Error),
    /// All numbered names for the keywords and the day are already used.
    #[error("all names for logs with these keywords on this day are taken in {}", .0.display())]
    NoName(PathBuf),
    /// The name of a section is not valid as a heading.
    #[error("the name of a section must be {}", crate::heading::TITLE_RULE)]
    SectionName,
    /// The operating system did not provide random numbers.
    #[error("cannot make an id for the log: {0}")]
    Random(String),
}

impl LogError {
    /// Returns a function for `map_err` that adds the action and the path to an error.
    pub(crate) fn io(action: &'static str, path: impl AsRef<Path>) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Io { action, path: path.as_ref().to_owned(), source }
    }
}

/// A log or directory that could not be read, or that maintenance left unchanged.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct UnreadLog {
    /// The path relative to the log directory.
    pub file: String,
    /// The reason why it could not be read or was left unchanged.
    pub cause: String,
}

impl UnreadLog {
    pub(crate) fn new(file: impl Into<String>, cause: &dyn std::fmt::Display) -> Self {
        Self { file: file.into(), cause: cause.to_string() }
    }
}
