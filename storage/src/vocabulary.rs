//! A fast walk over the terms of the index, to compare a word with all of them.

use aurora_inverted::{LABEL_PREFIX, Walk};

use crate::error::StorageError;
use crate::snapshot::Snapshot;

impl Snapshot {
    /// Calls `visit` with the terms that begin with `prefix`, as UTF-8: in byte order within a segment, one segment after
    /// another, so that a term may come more than once. Terms of deleted chunks only may be among them, see
    /// [`Self::doc_frequency`]. With an empty prefix every term comes.
    ///
    /// No posting list is read, and blocks that [`Walk::SkipPrefix`] skips as a whole are not decoded.
    ///
    /// # Errors
    /// When the dictionary is damaged.
    pub fn walk_terms(&self, prefix: &str, visit: &mut dyn FnMut(&[u8]) -> Walk) -> Result<(), StorageError> {
        let from = prefix.as_bytes().max(&[LABEL_PREFIX + 1]);
        for segment in self.segments() {
            if segment.walk(prefix.as_bytes(), from, visit).map_err(|damage| self.wrap(damage))? {
                break;
            }
        }
        Ok(())
    }
}
