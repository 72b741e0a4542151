//! The terms or labels of all segments, merged in byte order.

use aurora_inverted::{LABEL_PREFIX, Postings, TermCursor};

use crate::btree::Damage;
use crate::error::StorageError;
use crate::label::LabelKind;
use crate::segment::SegmentPages;
use crate::snapshot::Snapshot;

/// Lists dictionary entries that share a prefix and have live postings.
pub(crate) struct TermListing<'s> {
    snapshot: &'s Snapshot,
    cursors: Vec<TermCursor<'s, SegmentPages<'s>>>,
    prefix: Vec<u8>,
    /// Bytes of an entry that are not shown.
    hidden: usize,
    failed: Option<StorageError>,
}

impl Snapshot {
    /// Terms that begin with `prefix`, in byte order, with their number of live chunks.
    pub fn terms_with_prefix(&self, prefix: &str) -> impl Iterator<Item = Result<(String, u32), StorageError>> + '_ {
        TermListing::terms(self, prefix)
    }

    /// The values that labels of a kind have, in byte order, with their number of live chunks.
    ///
    /// A value beyond 240 bytes is cut, and ends in a digest.
    pub fn labels(&self, kind: LabelKind) -> impl Iterator<Item = Result<(String, u32), StorageError>> + '_ {
        TermListing::labels(self, kind)
    }
}

impl<'s> TermListing<'s> {
    /// Terms that begin with a text.
    fn terms(snapshot: &'s Snapshot, prefix: &str) -> Self {
        Self::new(snapshot, prefix.as_bytes().to_vec(), &[LABEL_PREFIX + 1], 0)
    }

    /// Labels of a kind.
    fn labels(snapshot: &'s Snapshot, kind: LabelKind) -> Self {
        Self::new(snapshot, vec![LABEL_PREFIX, kind as u8], &[], 2)
    }

    /// All entries.
    pub(crate) fn everything(snapshot: &'s Snapshot) -> Self {
        Self::new(snapshot, Vec::new(), &[], 0)
    }

    fn new(snapshot: &'s Snapshot, prefix: Vec<u8>, lowest: &[u8], hidden: usize) -> Self {
        let start = prefix.as_slice().max(lowest);
        let cursors: Result<Vec<_>, Damage> = snapshot.segments().map(|segment| segment.terms_from(start)).collect();
        let (cursors, failed) = match cursors {
            Ok(cursors) => (cursors, None),
            Err(damage) => (Vec::new(), Some(snapshot.wrap(damage))),
        };
        Self { snapshot, cursors, prefix, hidden, failed }
    }

    /// The next entry with its live postings, of which there may be none.
    pub(crate) fn step(&mut self) -> Result<Option<(Vec<u8>, Postings<'s>)>, StorageError> {
        if let Some(error) = self.failed.take() {
            return Err(error);
        }
        let term = |cursor: &TermCursor<'s, SegmentPages<'s>>| cursor.entry().map(|_| cursor.term().to_vec());
        let Some(lowest) = self.cursors.iter().filter_map(term).min() else { return Ok(None) };
        if !lowest.starts_with(&self.prefix) {
            return Ok(None);
        }
        let mut parts = Vec::new();
        for cursor in &mut self.cursors {
            if let Some(entry) = cursor.entry().filter(|_| cursor.term() == lowest) {
                let read = cursor.segment().parts(&entry);
                parts.extend(read.map_err(|damage| self.snapshot.wrap(damage))?);
                cursor.advance().map_err(|damage| self.snapshot.wrap(damage))?;
            }
        }
        Ok(Some((lowest, Postings::new(parts, self.snapshot.tombstones()))))
    }
}

impl Iterator for TermListing<'_> {
    type Item = Result<(String, u32), StorageError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            match self.step() {
                Ok(None) => return None,
                Ok(Some((_, postings))) if postings.doc_frequency() == 0 => {}
                Ok(Some((entry, postings))) => {
                    let text = String::from_utf8_lossy(&entry[self.hidden..]).into_owned();
                    return Some(Ok((text, postings.doc_frequency())));
                }
                Err(error) => {
                    self.cursors.clear();
                    return Some(Err(error));
                }
            }
        }
    }
}
