//! What one pass of the pipeline is for.

use std::sync::Arc;

use crate::git_signal::HistoryWalk;

/// What a pass does.
pub(super) enum PassKind {
    /// Everything that there is to do.
    Whole,
    /// The attributions that an earlier pass has left out, with the walk over git's history that it began.
    Attributions(Arc<HistoryWalk>),
    /// Only what files that have changed in the tree ask for, if the pipeline is the one that made the index.
    Changes,
}
