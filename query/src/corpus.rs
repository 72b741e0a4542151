//! Several indexes as one: its statistics are those of all chunks of all of them, so that scores can be compared between them.

use aurora_inverted::FIELDS;
use aurora_storage::{Snapshot, StorageError, Walk};

/// The generations that a search covers.
pub(crate) struct Corpus<'s>(Vec<&'s Snapshot>);

impl<'s> Corpus<'s> {
    /// The union of `snapshots`, of which there is at least one.
    pub(crate) fn new(snapshots: impl IntoIterator<Item = &'s Snapshot>) -> Self {
        Self(snapshots.into_iter().collect())
    }

    /// Its parts, in the order given.
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

    /// Number of live chunks that hold a term.
    pub(crate) fn doc_frequency(&self, term: &str) -> Result<u32, StorageError> {
        Ok(self.doc_frequency_up_to(term, u32::MAX)?.unwrap_or(u32::MAX))
    }

    /// The same, if it is at most `most`.
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

    /// Whether a chunk holds a term.
    pub(crate) fn holds(&self, term: &str) -> Result<bool, StorageError> {
        Ok(self.doc_frequency_up_to(term, 0)?.is_none())
    }

    /// Shows `visit` the terms that begin with `prefix`, those of one part after those of another, each part's in ascending order.
    pub(crate) fn walk_terms(&self, prefix: &str, visit: &mut dyn FnMut(&[u8]) -> Walk) -> Result<(), StorageError> {
        self.0.iter().try_for_each(|snapshot| snapshot.walk_terms(prefix, visit))
    }
}
