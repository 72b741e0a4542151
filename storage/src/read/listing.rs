//! Lists the terms or labels of all segments, merged in byte order, and provides a fast traversal of all terms.

use std::ops::Range;

use aurora_inverted::{LABEL_PREFIX, ListPart, Postings, TermCursor, TermRange, Walk};
use aurora_lmdb_pages::Damage;
use roaring::RoaringBitmap;

use crate::error::StorageError;
use crate::read::label::{Label, LabelKind};
use crate::read::segment::SegmentPages;
use crate::read::snapshot::Snapshot;

/// Iterator over those dictionary entries of all segments that begin with a given prefix.
pub(crate) struct TermListing<'s> {
    snapshot: &'s Snapshot,
    cursors: Vec<TermCursor<'s, SegmentPages<'s>>>,
    prefix: Vec<u8>,
    /// Upper bound of the entries, exclusive; empty if there is no bound.
    end: Vec<u8>,
    /// Range of chunk ids. Parts of posting lists without ids in this range are omitted.
    chunks: Range<u32>,
    /// Length in bytes of the prefix that is removed from listed entries.
    hidden: usize,
    failed: Option<StorageError>,
}

impl Snapshot {
    /// Returns the terms that begin with `prefix`, in byte order, with the number of live chunks of each term.
    pub fn terms_with_prefix(&self, prefix: &str) -> impl Iterator<Item = Result<(String, u32), StorageError>> + '_ {
        TermListing::new(self, prefix.as_bytes().to_vec(), &[LABEL_PREFIX + 1], 0)
    }

    /// Returns the values of all labels of a kind, in byte order, with the number of live chunks of each label.
    ///
    /// A value of more than 240 bytes is truncated, and a digest is appended.
    pub fn labels(&self, kind: LabelKind) -> impl Iterator<Item = Result<(String, u32), StorageError>> + '_ {
        TermListing::new(self, vec![LABEL_PREFIX, kind as u8], &[], 2)
    }

    /// Returns the values under a metadata key, in byte order, with the live chunks that have each value. Values that
    /// are labels are truncated as in [`Snapshot::labels`].
    pub fn meta_values(
        &self,
        key: &str,
    ) -> Box<dyn Iterator<Item = Result<(String, RoaringBitmap), StorageError>> + '_> {
        if self.custom_column(key).is_some() {
            return match self.chunks_by_value(key) {
                Ok(values) => Box::new(values.into_iter().map(Ok)),
                Err(error) => Box::new(std::iter::once(Err(error))),
            };
        }
        let prefix = Label::Meta { key, value: "" }.to_bytes();
        let hidden = prefix.len();
        let mut listing = TermListing::new(self, prefix, &[], hidden);
        Box::new(std::iter::from_fn(move || {
            let found = listing.step_to_live().transpose()?;
            Some(found.map(|(entry, postings)| (listing.visible_part(&entry), postings.docs())))
        }))
    }

    /// Returns the metadata keys that have labels, and the filterable custom columns that have values, in byte order.
    ///
    /// # Errors
    /// Fails if the dictionary of a segment, or a block of values, is damaged.
    pub fn meta_keys(&self) -> Result<Vec<String>, StorageError> {
        let prefix = [LABEL_PREFIX, LabelKind::Meta as u8];
        let mut keys = Vec::new();
        for column in self.manifest().columns.iter().filter(|column| column.filter) {
            if !self.chunks_by_value(&column.name)?.is_empty() {
                keys.push(column.name.clone());
            }
        }
        let mut from = prefix.to_vec();
        loop {
            let mut listing = TermListing::new(self, prefix.to_vec(), &from, prefix.len());
            let Some((entry, _)) = listing.step_to_live()? else {
                keys.sort_unstable();
                return Ok(keys);
            };
            let key = entry.split(|byte| *byte == b'=').next().unwrap_or_default();
            keys.push(listing.visible_part(key));
            // Continue after all labels of this key.
            from = [key, &[b'=' + 1]].concat();
        }
    }

    /// Calls `visit` with each term that begins with `prefix`, as UTF-8. With an empty prefix, all terms are visited.
    /// Visits one segment after another, and the terms of a segment in byte order, so `visit` may receive a term more
    /// than once. It may also receive terms that occur only in deleted chunks (see [`Self::doc_frequency`]).
    ///
    /// Reads no posting lists, and does not decode blocks that [`Walk::SkipPrefix`] skips as a whole.
    ///
    /// # Errors
    /// Fails if the dictionary is damaged.
    pub fn walk_terms(&self, prefix: &str, visit: &mut dyn FnMut(&[u8]) -> Walk) -> Result<(), StorageError> {
        let from = prefix.as_bytes().max(&[LABEL_PREFIX + 1]);
        for segment in self.segments() {
            if self.check(segment.walk(prefix.as_bytes(), from, visit))? {
                break;
            }
        }
        Ok(())
    }
}

impl<'s> TermListing<'s> {
    /// Lists all entries of a range, with the parts of their posting lists that contain chunks in `chunks`. These parts
    /// may also contain chunks outside of `chunks`.
    pub(crate) fn entries(snapshot: &'s Snapshot, range: TermRange<'_>, chunks: Range<u32>) -> Self {
        Self { end: range.to.to_vec(), chunks, ..Self::new(snapshot, Vec::new(), range.from, 0) }
    }

    fn new(snapshot: &'s Snapshot, prefix: Vec<u8>, lowest: &[u8], hidden: usize) -> Self {
        let start = prefix.as_slice().max(lowest);
        let cursors: Result<Vec<_>, Damage> = snapshot.segments().map(|segment| segment.terms_from(start)).collect();
        let (cursors, failed) = match cursors {
            Ok(cursors) => (cursors, None),
            Err(damage) => (Vec::new(), Some(snapshot.wrap(damage))),
        };
        Self { snapshot, cursors, prefix, end: Vec::new(), chunks: 0..u32::MAX, hidden, failed }
    }

    /// Returns the next entry with its live postings, which may be empty.
    pub(crate) fn step(&mut self) -> Result<Option<(Vec<u8>, Postings<'s>)>, StorageError> {
        if let Some(error) = self.failed.take() {
            return Err(error);
        }
        let term = |cursor: &TermCursor<'s, SegmentPages<'s>>| cursor.entry().map(|_| cursor.term().to_vec());
        let Some(lowest) = self.cursors.iter().filter_map(term).min() else { return Ok(None) };
        if !lowest.starts_with(&self.prefix) || !self.end.is_empty() && lowest >= self.end {
            return Ok(None);
        }
        let mut parts = Vec::new();
        for cursor in &mut self.cursors {
            if let Some(entry) = cursor.entry().filter(|_| cursor.term() == lowest) {
                let read = cursor.segment().parts(&entry);
                parts.extend(self.snapshot.check(read)?);
                self.snapshot.check(cursor.advance())?;
            }
        }
        parts.retain(|part: &ListPart<'_>| part.first() < self.chunks.end && part.last() >= self.chunks.start);
        Ok(Some((lowest, Postings::new(parts, self.snapshot.tombstones()))))
    }

    /// Returns the next entry with live postings. The iteration ends after an error.
    fn step_to_live(&mut self) -> Result<Option<(Vec<u8>, Postings<'s>)>, StorageError> {
        loop {
            match self.step() {
                Ok(Some((_, postings))) if postings.doc_frequency() == 0 => {}
                Err(error) => {
                    self.cursors.clear();
                    return Err(error);
                }
                found => return found,
            }
        }
    }

    /// Returns an entry without its hidden prefix.
    fn visible_part(&self, entry: &[u8]) -> String {
        String::from_utf8_lossy(entry.get(self.hidden..).unwrap_or_default()).into_owned()
    }
}

impl Iterator for TermListing<'_> {
    type Item = Result<(String, u32), StorageError>;

    fn next(&mut self) -> Option<Self::Item> {
        let found = self.step_to_live().transpose()?;
        Some(found.map(|(entry, postings)| (self.visible_part(&entry), postings.doc_frequency())))
    }
}
