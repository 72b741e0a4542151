//! Several indexes that are searched as one. Statistics cover the chunks of all indexes, so that scores are comparable
//! between indexes.

use aurora_inverted::FIELDS;
use aurora_storage::{Snapshot, StorageError, Walk};

/// The snapshots that a search covers.
pub(crate) struct Corpus<'s>(Vec<&'s Snapshot>);

impl<'s> Corpus<'s> {
    /// Creates the union of `snapshots`, which must not be empty.
    pub(crate) fn new(snapshots: impl IntoIterator<Item = &'s Snapshot>) -> Self {
        Self(snapshots.into_iter().collect())
    }

    /// The snapshots, in the order in which they were passed to [`Corpus::new`].
    pub(crate) fn snapshots(&self) -> &[&'s Snapshot] {
        &self.0
    }

    /// Number of live chunks.
    pub(crate) fn chunks(&self) -> u64 {
        self.0.iter().map(|snapshot| snapshot.live().len()).sum()
    }

    /// Number of files.
    pub(crate) fn files(&self) -> u64 {
        self.0.iter().map(|snapshot| snapshot.manifest().file_count).sum()
    }

    /// Number of terms in each field of the live chunks.
    pub(crate) fn field_totals(&self) -> [u64; FIELDS] {
        let mut totals = [0; FIELDS];
        for snapshot in &self.0 {
            totals.iter_mut().zip(snapshot.field_totals()).for_each(|(total, more)| *total += more);
        }
        totals
    }

    /// Number of live chunks that contain a term.
    pub(crate) fn doc_frequency(&self, term: &str) -> Result<u32, StorageError> {
        Ok(self.doc_frequency_up_to(term, u32::MAX)?.unwrap_or(u32::MAX))
    }

    /// Number of live chunks that contain a term; `None` if the number exceeds `most`.
    pub(crate) fn doc_frequency_up_to(&self, term: &str, most: u32) -> Result<Option<u32>, StorageError> {
        let mut sum = 0;
        for snapshot in &self.0 {
            match snapshot.doc_frequency_up_to(term, most - sum)? {
                Some(more) => sum += more,
                None => return Ok(None),
            }
        }
        Ok(Some(sum))
    }

    /// Returns whether any live chunk contains a term.
    pub(crate) fn contains(&self, term: &str) -> Result<bool, StorageError> {
        Ok(self.doc_frequency_up_to(term, 0)?.is_none())
    }

    /// Passes every term that begins with `prefix` to `visit`, snapshot by snapshot, in ascending order within a
    /// snapshot.
    pub(crate) fn walk_terms(&self, prefix: &str, visit: &mut dyn FnMut(&[u8]) -> Walk) -> Result<(), StorageError> {
        self.0.iter().try_for_each(|snapshot| snapshot.walk_terms(prefix, visit))
    }
}
