//! Writes one segment from terms in order and their postings in order.

use super::block::{BlockWriter, INLINE, ListLocation, encode_inline, encode_stored, has_frequencies};
use super::source::SegmentSink;
use crate::chunk_id::WINDOW;
use crate::lengths::LengthCodes;
use crate::postings::{LONGEST_PART, PartLayout, Posting, SHORT_LIST, encode_part};
use aurora_codec::put_varint;

/// Most bytes of a value that several lists share.
const VALUE_BYTES: usize = 64 << 10;
/// A part ends with the window in which it reaches this many postings.
const PART_POSTINGS: usize = 48 << 10;
const _: () = assert!(PART_POSTINGS + WINDOW as usize <= LONGEST_PART);

/// What a segment holds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SegmentTotals {
    /// Dictionary entries, labels included.
    pub terms: u64,
    /// Postings, those of labels included.
    pub postings: u64,
    /// Bytes of blocks and values.
    pub bytes: u64,
}

/// Writes the dictionary and the posting lists of one segment.
pub struct SegmentWriter<'w, W> {
    sink: W,
    length: &'w dyn Fn(u32) -> LengthCodes,
    totals: SegmentTotals,
    block: BlockWriter,
    /// Buffers for the body of an entry and for a part; reused.
    body: Vec<u8>,
    part: Vec<u8>,
    value: Vec<u8>,
    number: u32,
    term: Vec<u8>,
    with_frequencies: bool,
    pending: Vec<Posting>,
    count: u64,
    parts: u32,
    first: u32,
}

impl<'w, W: SegmentSink> SegmentWriter<'w, W> {
    /// Begins a segment; `length` gives the field lengths of its chunks, `sink` takes its bytes.
    pub fn new(sink: W, length: &'w dyn Fn(u32) -> LengthCodes) -> Self {
        Self {
            sink,
            length,
            totals: SegmentTotals::default(),
            block: BlockWriter::default(),
            body: Vec::new(),
            part: Vec::new(),
            value: Vec::new(),
            number: 0,
            term: Vec::new(),
            with_frequencies: false,
            pending: Vec::new(),
            count: 0,
            parts: 0,
            first: 0,
        }
    }

    /// Begins a part of a segment: the terms from `from` on, with values from number `first` on.
    #[must_use]
    pub fn with_range(mut self, from: &[u8], first: u32) -> Self {
        self.block = BlockWriter::from_key(from);
        self.number = first;
        self
    }

    /// Begins the list of a term, which must be above the term before.
    pub fn begin(&mut self, term: &[u8]) {
        self.term.clear();
        self.term.extend_from_slice(term);
        self.with_frequencies = has_frequencies(term);
        self.pending.clear();
        self.count = 0;
        self.parts = 0;
    }

    /// Adds a posting, whose chunk must be above that of the posting before.
    ///
    /// # Errors
    /// When the sink fails.
    pub fn push(&mut self, posting: Posting) -> Result<(), W::Error> {
        let begins_window = |last: &Posting| last.chunk / WINDOW != posting.chunk / WINDOW;
        if self.pending.len() >= PART_POSTINGS && self.pending.last().is_some_and(begins_window) {
            self.flush_part()?;
        }
        self.pending.push(posting);
        self.count += 1;
        Ok(())
    }

    /// Ends the list; a list without postings leaves no entry.
    ///
    /// # Errors
    /// When the sink fails.
    pub fn end(&mut self) -> Result<(), W::Error> {
        if self.count == 0 {
            return Ok(());
        }
        self.body.clear();
        if self.count as usize <= INLINE {
            encode_inline(&mut self.body, &self.pending, self.with_frequencies);
        } else if self.parts > 0 {
            self.flush_part()?;
            let location = ListLocation { parts: self.parts, number: self.first, offset: 0, length: 0 };
            encode_stored(&mut self.body, self.count, location);
        } else {
            self.part.clear();
            let layout =
                self.layout(if self.pending.len() <= SHORT_LIST { PartLayout::Short } else { PartLayout::Long });
            encode_part(&mut self.part, &self.pending, layout, self.length);
            if !self.value.is_empty() && self.value.len() + self.part.len() > VALUE_BYTES {
                self.flush_value()?;
            }
            let (offset, length) = (self.value.len() as u32, self.part.len() as u32);
            encode_stored(&mut self.body, self.count, ListLocation { parts: 1, number: self.number, offset, length });
            self.value.append(&mut self.part);
        }
        self.enter()
    }

    /// Ends a list to which nothing was added with postings as in a dictionary entry; there are few enough to be inlined.
    pub(super) fn end_with(&mut self, count: u32, postings: &[u8]) -> Result<(), W::Error> {
        self.count = u64::from(count);
        self.body.clear();
        put_varint(&mut self.body, self.count);
        self.body.extend_from_slice(postings);
        self.enter()
    }

    /// Adds the entry of the list to the dictionary.
    fn enter(&mut self) -> Result<(), W::Error> {
        self.totals.terms += 1;
        self.totals.postings += self.count;
        match self.block.push(&self.term, &self.body) {
            Some((key, bytes)) => self.emit_block(&key, bytes),
            None => Ok(()),
        }
    }

    /// Ends the segment, or a part of it before `bound`. A part has a block even if it has no terms.
    ///
    /// # Errors
    /// When the sink fails.
    pub fn finish(mut self, bound: &[u8]) -> Result<SegmentTotals, W::Error> {
        if let Some((key, bytes)) = self.block.finish(bound) {
            self.emit_block(&key, bytes)?;
        }
        if !self.value.is_empty() {
            self.flush_value()?;
        }
        Ok(self.totals)
    }

    /// Writes the pending postings as a part with a value of its own; the parts of a list have consecutive values.
    fn flush_part(&mut self) -> Result<(), W::Error> {
        if self.parts == 0 {
            if !self.value.is_empty() {
                self.flush_value()?;
            }
            self.first = self.number;
        }
        let layout = self.layout(PartLayout::Long);
        encode_part(&mut self.value, &self.pending, layout, self.length);
        self.pending.clear();
        self.parts += 1;
        self.flush_value()
    }

    /// The layout of a part of the list: the given one, but for labels.
    fn layout(&self, layout: PartLayout) -> PartLayout {
        if self.with_frequencies { layout } else { PartLayout::Label }
    }

    fn flush_value(&mut self) -> Result<(), W::Error> {
        let value = std::mem::take(&mut self.value);
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
