//! Writes one segment from terms in order and their postings in order.

use super::block::{BlockWriter, INLINE, ListLocation, encode_inline, encode_stored, has_frequencies};
use super::inverter::SortedRun;
use crate::codec::put_varint;
use crate::error::StorageError;
use crate::lengths::LengthCodes;
use crate::manifest::SegmentInfo;
use crate::postings::{LONGEST_PART, PartLayout, Posting, SHORT_LIST, WINDOW, encode_part};
use crate::tables::{Operation, Table};

/// Longest value of the postings table that several lists share.
const VALUE_BYTES: usize = 64 << 10;
/// A part of a list is closed behind the window with which it has as many postings: it mostly fits the value then.
const PART_POSTINGS: usize = 48 << 10;
const _: () = assert!(PART_POSTINGS + WINDOW as usize <= LONGEST_PART);

/// Writes the dictionary and the postings of one segment as operations.
pub(crate) struct SegmentWriter<'w> {
    emit: &'w mut dyn FnMut(Operation) -> Result<(), StorageError>,
    length: &'w dyn Fn(u32) -> LengthCodes,
    info: SegmentInfo,
    block: BlockWriter,
    /// The body of the entry, and the part of the list, that are being written; kept for their room.
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

impl<'w> SegmentWriter<'w> {
    /// Starts a segment; `length` gives the field lengths of its chunks, `emit` takes the operations.
    pub(crate) fn new(
        info: SegmentInfo,
        length: &'w dyn Fn(u32) -> LengthCodes,
        emit: &'w mut dyn FnMut(Operation) -> Result<(), StorageError>,
    ) -> Self {
        Self {
            emit,
            length,
            info,
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

    /// Starts the list of a term, which must be above the term before.
    pub(crate) fn begin(&mut self, term: &[u8]) {
        self.term.clear();
        self.term.extend_from_slice(term);
        self.with_frequencies = has_frequencies(term);
        self.pending.clear();
        self.count = 0;
        self.parts = 0;
    }

    /// Adds a posting, whose chunk must be above that of the posting before.
    pub(crate) fn push(&mut self, posting: Posting) -> Result<(), StorageError> {
        let begins_window = |last: &Posting| last.chunk / WINDOW != posting.chunk / WINDOW;
        if self.pending.len() >= PART_POSTINGS && self.pending.last().is_some_and(begins_window) {
            self.flush_part()?;
        }
        self.pending.push(posting);
        self.count += 1;
        Ok(())
    }

    /// Ends the list; one without postings leaves nothing.
    pub(crate) fn end(&mut self) -> Result<(), StorageError> {
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
            let shape = self.shape(if self.pending.len() <= SHORT_LIST { PartLayout::Short } else { PartLayout::Long });
            encode_part(&mut self.part, &self.pending, shape, self.length);
            if !self.value.is_empty() && self.value.len() + self.part.len() > VALUE_BYTES {
                self.flush_value()?;
            }
            let (offset, length) = (self.value.len() as u32, self.part.len() as u32);
            encode_stored(&mut self.body, self.count, ListLocation { parts: 1, number: self.number, offset, length });
            self.value.append(&mut self.part);
        }
        self.enter()
    }

    /// Ends a list to which nothing was added with the list at hand of an inversion, if that is short enough to stand in
    /// the dictionary; tells whether it is.
    pub(crate) fn end_with_list(&mut self, lists: &SortedRun) -> Result<bool, StorageError> {
        let Some((_, count, postings)) = lists.current().filter(|(_, count, _)| *count as usize <= INLINE) else {
            return Ok(false);
        };
        self.count = u64::from(count);
        self.body.clear();
        put_varint(&mut self.body, self.count);
        self.body.extend_from_slice(postings);
        self.enter().map(|()| true)
    }

    /// Adds the entry of the list to the dictionary.
    fn enter(&mut self) -> Result<(), StorageError> {
        self.info.terms += 1;
        self.info.postings += self.count;
        match self.block.push(&self.term, &self.body) {
            Some((key, bytes)) => self.emit_block(&key, bytes),
            None => Ok(()),
        }
    }

    /// Ends the segment.
    pub(crate) fn finish(mut self) -> Result<SegmentInfo, StorageError> {
        if let Some((key, bytes)) = self.block.finish() {
            self.emit_block(&key, bytes)?;
        }
        if !self.value.is_empty() {
            self.flush_value()?;
        }
        Ok(self.info)
    }

    /// Writes the pending postings as a value of its own, next to the list's other parts.
    fn flush_part(&mut self) -> Result<(), StorageError> {
        if self.parts == 0 {
            if !self.value.is_empty() {
                self.flush_value()?;
            }
            self.first = self.number;
        }
        let shape = self.shape(PartLayout::Long);
        encode_part(&mut self.value, &self.pending, shape, self.length);
        self.pending.clear();
        self.parts += 1;
        self.flush_value()
    }

    /// The shape of a part of the list: a label's if it is one.
    fn shape(&self, shape: PartLayout) -> PartLayout {
        if self.with_frequencies { shape } else { PartLayout::Label }
    }

    fn flush_value(&mut self) -> Result<(), StorageError> {
        let value = std::mem::take(&mut self.value);
        self.info.bytes += value.len() as u64;
        let key = postings_key(self.info.id, self.number);
        self.number += 1;
        (self.emit)(Operation::put(Table::Postings, key, value))
    }

    fn emit_block(&mut self, key: &[u8], bytes: Vec<u8>) -> Result<(), StorageError> {
        self.info.bytes += bytes.len() as u64;
        let key = dictionary_key(self.info.id, key);
        (self.emit)(Operation::put(Table::Dictionary, key, bytes))
    }
}

/// Key of a value of the postings table.
pub(super) fn postings_key(segment: u32, number: u32) -> [u8; 8] {
    (u64::from(segment) << 32 | u64::from(number)).to_be_bytes()
}

/// Key of the block with the terms from `term` on.
pub(super) fn dictionary_key(segment: u32, term: &[u8]) -> Vec<u8> {
    [&segment.to_be_bytes()[..], term].concat()
}
