//! Files that were moved since the last run.

use std::sync::{Arc, Mutex, PoisonError};

use crate::columns::RelativePath;

/// Collects the files that were moved. After the run, the access history of their chunks gets the new keys.
#[derive(Default)]
pub(crate) struct Moves {
    pairs: Mutex<Vec<(RelativePath, RelativePath)>>,
}

impl Moves {
    /// Records that a file was moved.
    pub(crate) fn add(&self, from: &RelativePath, to: &RelativePath) {
        let pair = (Arc::clone(from), Arc::clone(to));
        self.pairs.lock().unwrap_or_else(PoisonError::into_inner).push(pair);
    }

    /// Removes and returns the recorded moves, as pairs of old and new path.
    pub(crate) fn take(&self) -> Vec<(RelativePath, RelativePath)> {
        std::mem::take(&mut *self.pairs.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
