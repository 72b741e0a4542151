//! The kinds and results of passes.

use std::sync::Arc;

use super::checkpoints::EarlierPasses;
use super::summary::IndexSummary;
use crate::git_signal::HistoryWalk;

/// The work that a pass does.
pub(super) enum PassKind {
    /// All work.
    Whole,
    /// The remaining work of a run whose earlier passes ended at a checkpoint.
    Rest(Box<EarlierPasses>),
    /// The attributions that are missing after an earlier pass. Contains the walk over the git history that the earlier
    /// pass began.
    Attributions(Arc<HistoryWalk>),
    /// Only the work for changed files. The pass fails if another pipeline made the index.
    Changes,
}

/// The result of a pass.
pub(super) enum PassEnd {
    /// The pass completed or was cancelled. Contains the walk over the git history if files were published without
    /// attribution because the walk took too long.
    Done(Box<IndexSummary>, Option<Arc<HistoryWalk>>),
    /// The pass ended at a checkpoint: its finished work is published, and another pass has to follow.
    AtCheckpoint(Box<EarlierPasses>),
}

impl PassEnd {
    /// Returns the summary of a pass without a checkpoint.
    pub(super) fn summary(self) -> Option<IndexSummary> {
        match self {
            Self::Done(summary, _) => Some(*summary),
            Self::AtCheckpoint(_) => None,
        }
    }
}
