//! The error type for failures that affect a whole repository.

use std::path::PathBuf;

use crate::commit::CommitId;

/// An error that makes the history of a repository unavailable.
#[derive(Debug, thiserror::Error)]
pub enum HistoryError {
    /// There is a repository, but it cannot be opened.
    #[error("cannot open the git repository of {}: {reason}", path.display())]
    Open {
        /// The directory to open.
        path: PathBuf,
        /// The damaged or unsafe file in git's directory, and the problem with the file.
        reason: String,
    },
    /// The object database does not contain the commit at HEAD.
    #[error("HEAD is commit {commit}, which is missing from this clone; run `git fsck` or clone again")]
    MissingHead {
        /// The commit.
        commit: CommitId,
    },
    /// The git index cannot be read.
    #[error("cannot read the git index {}: {reason}", path.display())]
    Index {
        /// The index file.
        path: PathBuf,
        /// The problem with the file.
        reason: String,
    },
    /// A revision does not name a commit.
    #[error("`{revision}` does not name a commit: {reason}")]
    UnknownRevision {
        /// The revision or range.
        revision: String,
        /// The problem with the revision.
        reason: String,
    },
    /// The caller cancelled the operation.
    #[error("cancelled")]
    Cancelled,
}
