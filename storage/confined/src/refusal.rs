//! Why something is not opened although the system would.

use std::io;

/// What this module refuses to open.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    /// The path, or a component of it, is a symbolic link.
    #[error("it is a symbolic link, or lies behind one")]
    SymbolicLink,
    /// A directory, pipe, socket or device where a regular file is expected.
    #[error("it is not a regular file")]
    NotRegular,
    /// Something else where a directory is expected.
    #[error("it is not a directory")]
    NotDirectory,
    /// The file has more bytes than the caller allows.
    #[error("it is larger than {limit} bytes")]
    TooLarge {
        /// In bytes.
        limit: u64,
    },
    /// The path is absolute, empty, or has a component such as `..`.
    #[error("the path does not lie below the directory")]
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

/// The refusal behind an error, if it is one.
pub fn refusal_of(error: &io::Error) -> Option<Refusal> {
    error.get_ref()?.downcast_ref().copied()
}
