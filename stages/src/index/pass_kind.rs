//! What one pass of the pipeline is for.

use std::sync::Arc;

use super::checkpoints::EarlierPasses;
use super::summary::IndexSummary;
use crate::git_signal::HistoryWalk;

/// What a pass does.
pub(super) enum PassKind {
    /// Everything that there is to do.
    Whole,
    /// The rest of a run whose earlier passes ended at a checkpoint.
    Rest(Box<EarlierPasses>),
    /// The attributions that an earlier pass has left out, with the walk over git's history that it began.
    Attributions(Arc<HistoryWalk>),
    /// Only what files that have changed in the tree ask for, if the pipeline is the one that made the index.
    Changes,
}

/// Result of a pass.
pub(super) enum PassEnd {
    /// It has come to its end, or was cancelled. The walk over git's history, if files were published without attribution
    /// because it takes longer than everything else.
    Done(Box<IndexSummary>, Option<Arc<HistoryWalk>>),
    /// At a checkpoint: what was finished is published, and another pass has to follow.
    AtCheckpoint(Box<EarlierPasses>),
}

impl PassEnd {
    /// The summary of a pass that has no checkpoint.
    pub(super) fn summary(self) -> Option<IndexSummary> {
        match self {
            Self::Done(summary, _) => Some(*summary),
            Self::AtCheckpoint(_) => None,
        }
    }
}
