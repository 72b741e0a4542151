//! A fast traversal of the terms of the index, for comparing a word with all of them.

use aurora_inverted::{LABEL_PREFIX, Walk};

use crate::error::StorageError;
use crate::read::snapshot::Snapshot;

impl Snapshot {
    /// Calls `visit` with the terms that begin with `prefix`, as UTF-8: in byte order within a segment, one segment
    /// after another, so that a term may occur more than once. Terms that only deleted chunks have may be among them,
    /// see [`Self::doc_frequency`]. With an empty prefix, all terms are visited.
    ///
    /// Reads no posting lists, and does not decode blocks that [`Walk::SkipPrefix`] skips as a whole.
    ///
    /// # Errors
    /// The dictionary is damaged.
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
