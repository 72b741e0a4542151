//! Reasons to refuse a file that the system would open.

use std::io;

/// The reason why this crate refuses to open a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    /// The path, or a component of it, is a symbolic link.
    #[error("it is a symbolic link or is behind one")]
    SymbolicLink,
    /// A directory, pipe, socket or device where a regular file is expected.
    #[error("it is not a regular file")]
    NotRegular,
    /// A file, pipe, socket or device where a directory is expected.
    #[error("it is not a directory")]
    NotDirectory,
    /// The file has more bytes than the caller allows.
    #[error("it is larger than {limit} bytes")]
    TooLarge {
        /// Maximum size in bytes.
        limit: u64,
    },
    /// The path is absolute, empty, or has a component such as `..`.
    #[error("the path is not below the directory")]
    Outside,
}

impl From<Refusal> for io::Error {
    fn from(refusal: Refusal) -> Self {
        let kind = match refusal {
            Refusal::TooLarge { .. } => io::ErrorKind::FileTooLarge,
            Refusal::NotDirectory => io::ErrorKind::NotADirectory,
            _ => io::ErrorKind::InvalidInput,
        };
        Self::new(kind, refusal)
    }
}

/// Returns the [`Refusal`] that an error wraps, if there is one.
pub fn refusal_of(error: &io::Error) -> Option<Refusal> {
    error.get_ref()?.downcast_ref().copied()
}
