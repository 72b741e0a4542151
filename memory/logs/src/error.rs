//! What can go wrong with logs.

use std::io;
use std::path::{Path, PathBuf};

use serde::Serialize;

/// Why logs could not be written or read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LogError {
    /// A file or directory could not be used.
    #[error("cannot {action} {}", path.display())]
    Io {
        /// What was to be done with it, such as `create`.
        action: &'static str,
        /// The file or directory.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// The text of the log, or of the addition, could not be read.
    #[error("cannot read the text of the log")]
    Text(#[source] io::Error),
    /// Every name of this day up to the last number is taken.
    #[error("no name is left for a log of these keywords and this day in {}", .0.display())]
    NoName(PathBuf),
    /// The name of a section cannot stand in a heading.
    #[error("the name of a section must be {}", crate::heading::TITLE_RULE)]
    SectionName,
    /// The system gives no random numbers.
    #[error("cannot make an id for the log: {0}")]
    Random(String),
}

impl LogError {
    /// The error of an action on a path, for `map_err`.
    pub(crate) fn io(action: &'static str, path: impl AsRef<Path>) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Io { action, path: path.as_ref().to_owned(), source }
    }
}

/// A log or directory that could not be read, or that maintenance has left alone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct UnreadLog {
    /// Its path below the directory of the logs.
    pub file: String,
    /// Why.
    pub cause: String,
}

impl UnreadLog {
    pub(crate) fn new(file: impl Into<String>, cause: &dyn std::fmt::Display) -> Self {
        Self { file: file.into(), cause: cause.to_string() }
    }
}
