//! Writes one segment from sorted terms with sorted postings.

use super::block::{BlockWriter, ListLocation, MAX_INLINE_POSTINGS, encode_stored};
use super::encoded_lists::EncodedLists;
use super::source::SegmentSink;
use aurora_codec::put_varint;

/// Maximum size in bytes of a value that several lists share.
const MAX_SHARED_VALUE_BYTES: usize = 64 << 10;

/// Statistics of a segment.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SegmentTotals {
    /// Number of dictionary entries, labels included.
    pub terms: u64,
    /// Number of postings, including the postings of labels.
    pub postings: u64,
    /// Size of all blocks and values in bytes.
    pub bytes: u64,
}

/// Writes the dictionary and the posting lists of one segment.
pub struct SegmentWriter<W> {
    sink: W,
    totals: SegmentTotals,
    block: BlockWriter,
    /// Buffer for the body of an entry; reused.
    body: Vec<u8>,
    value: Vec<u8>,
    number: u32,
}

impl<W: SegmentSink> SegmentWriter<W> {
    /// Begins a segment; `sink` takes the bytes.
    pub fn new(sink: W) -> Self {
        let (totals, block) = (SegmentTotals::default(), BlockWriter::default());
        Self { sink, totals, block, body: Vec::new(), value: Vec::new(), number: 0 }
    }

    /// Restricts the writer to a range of the terms of a segment. The range begins at `from`, and its values are
    /// numbered from `first` on.
    #[must_use]
    pub fn with_range(mut self, from: &[u8], first: u32) -> Self {
        self.block = BlockWriter::from_key(from);
        self.number = first;
        self
    }

    /// Adds encoded lists. Their terms must be above the previous term. The bytes do not depend on how the lists are
    /// divided among calls.
    ///
    /// # Errors
    /// Fails if the sink fails.
    pub fn append(&mut self, lists: &EncodedLists) -> Result<(), W::Error> {
        for (term, count, mut parts) in lists.iter() {
            self.body.clear();
            if count as usize <= MAX_INLINE_POSTINGS {
                parts.for_each(|body| self.body.extend_from_slice(body));
            } else if parts.len() > 1 {
                self.flush_value()?;
                let location = ListLocation { parts: parts.len() as u32, number: self.number, offset: 0, length: 0 };
                encode_stored(&mut self.body, count, location);
                for part in parts {
                    self.value.extend_from_slice(part);
                    self.flush_value()?;
                }
            } else {
                let part = parts.next().unwrap_or_default();
                if self.value.len() + part.len() > MAX_SHARED_VALUE_BYTES {
                    self.flush_value()?;
                }
                let (offset, length) = (self.value.len() as u32, part.len() as u32);
                encode_stored(&mut self.body, count, ListLocation { parts: 1, number: self.number, offset, length });
                self.value.extend_from_slice(part);
            }
            self.push_entry(term, count)?;
        }
        Ok(())
    }

    /// Adds a list whose postings are encoded as in a dictionary entry. The list must be short enough to be inlined.
    pub(super) fn push_inline(&mut self, term: &[u8], count: u32, postings: &[u8]) -> Result<(), W::Error> {
        self.body.clear();
        put_varint(&mut self.body, u64::from(count));
        self.body.extend_from_slice(postings);
        self.push_entry(term, u64::from(count))
    }

    /// Adds the entry of a list to the dictionary.
    fn push_entry(&mut self, term: &[u8], count: u64) -> Result<(), W::Error> {
        self.totals.terms += 1;
        self.totals.postings += count;
        match self.block.push(term, &self.body) {
            Some((key, bytes)) => self.emit_block(&key, bytes),
            None => Ok(()),
        }
    }

    /// Completes the segment, or the range of terms that ends before `bound`. A range has a block even if it has no
    /// terms.
    ///
    /// # Errors
    /// Fails if the sink fails.
    pub fn finish(mut self, bound: &[u8]) -> Result<SegmentTotals, W::Error> {
        if let Some((key, bytes)) = self.block.finish(bound) {
            self.emit_block(&key, bytes)?;
        }
        self.flush_value()?;
        Ok(self.totals)
    }

    /// Writes the current value, if it is not empty.
    fn flush_value(&mut self) -> Result<(), W::Error> {
        let value = std::mem::take(&mut self.value);
        if value.is_empty() {
            return Ok(());
        }
        self.totals.bytes += value.len() as u64;
        let number = self.number;
        self.number += 1;
        self.sink.put_value(number, value)
    }

    fn emit_block(&mut self, key: &[u8], bytes: Vec<u8>) -> Result<(), W::Error> {
        self.totals.bytes += bytes.len() as u64;
        self.sink.put_block(key, bytes)
    }
}
