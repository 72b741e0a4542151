//! A fast walk over the terms of the index, for who compares a word with all of them.

use crate::dictionary::Walk;
use crate::error::StorageError;
use crate::label::LABEL_PREFIX;
use crate::snapshot::Snapshot;

impl Snapshot {
    /// Shows the terms that begin with `prefix` to `visit`, as UTF-8: in byte order within a segment, one segment after
    /// another, so that a term may be shown more than once. Terms whose chunks are all gone may be among them;
    /// [`Self::postings`] tells. With an empty prefix every term is shown.
    ///
    /// No posting list is read, and blocks that [`Walk::SkipPrefix`] leaves out whole are not decoded.
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
