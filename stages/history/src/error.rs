//! What can go wrong, for the whole history and for one file.

use std::path::PathBuf;

use crate::commit::CommitId;

/// Why the history of a repository cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum HistoryError {
    /// There is a repository, but it cannot be opened.
    #[error("cannot open the git repository of {}: {reason}", path.display())]
    Open {
        /// The directory that was asked about.
        path: PathBuf,
        /// What git's files said.
        reason: String,
    },
    /// HEAD names a commit that is not there.
    #[error("HEAD is commit {commit}, which this clone lacks; `git fsck` or a new clone helps")]
    MissingHead {
        /// The commit.
        commit: CommitId,
    },
    /// The git index cannot be read.
    #[error("cannot read the git index {}: {reason}", path.display())]
    Index {
        /// The index file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// The caller cancelled.
    #[error("cancelled")]
    Cancelled,
}

/// Why the lines of one file have no attribution.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Unattributed {
    /// The path is no regular file at HEAD.
    #[error("not in the commit at HEAD")]
    Untracked,
    /// The path is at HEAD, but its content cannot be had.
    #[error("{reason}")]
    Unavailable {
        /// Why not.
        reason: String,
    },
}
