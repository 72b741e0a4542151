//! Why the history of a whole repository is unavailable.

use std::path::PathBuf;

use crate::commit::CommitId;

/// Why the history of a repository cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum HistoryError {
    /// There is a repository, but it cannot be opened.
    #[error("cannot open the git repository of {}: {reason}", path.display())]
    Open {
        /// The directory that was to be opened.
        path: PathBuf,
        /// Which of git's files is wrong, and how.
        reason: String,
    },
    /// The object database lacks the commit at HEAD.
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
