//! Reads one segment: a single term, or all terms from a given term on.

use std::marker::PhantomData;

use super::block::{BlockReader, EntryBody, ListLocation, decode_body, decode_inline, find, has_frequencies};
use super::source::{BlockCursor, KeyedBlock, SegmentSource};
use crate::postings::{ListPart, Posting, Tombstones, count_part};

/// A reader of one segment.
#[derive(Debug, Clone, Copy)]
pub struct SegmentReader<'a, S> {
    source: S,
    bytes: PhantomData<&'a [u8]>,
}

/// An entry of the dictionary.
#[derive(Debug, Clone, Copy)]
pub struct TermEntry<'a> {
    /// Number of postings, deleted chunks included.
    pub count: u32,
    body: EntryBody<'a>,
    with_frequencies: bool,
}

impl<'a, S: SegmentSource<'a>> SegmentReader<'a, S> {
    /// Creates a reader of the stored bytes of a segment.
    pub fn new(source: S) -> Self {
        Self { source, bytes: PhantomData }
    }

    /// Returns the entry of a term or label; `None` if the segment does not contain it.
    ///
    /// # Errors
    /// Fails if the dictionary cannot be read.
    pub fn find(&self, term: &[u8]) -> Result<Option<TermEntry<'a>>, S::Error> {
        let (_, block) = self.block_of(term)?;
        let body = find(block, term).ok_or_else(|| self.damaged("dictionary block"))?;
        body.map(|body| self.entry(term, body)).transpose()
    }

    /// Returns a cursor at the first term that is not below `term`.
    ///
    /// # Errors
    /// Fails if the dictionary cannot be read.
    pub fn terms_from(&self, term: &[u8]) -> Result<TermCursor<'a, S>, S::Error> {
        let mut cursor = TermCursor { blocks: self.blocks_from(term)?, block: None, entry: None };
        cursor.advance()?;
        while cursor.entry.is_some() && cursor.term() < term {
            cursor.advance()?;
        }
        Ok(cursor)
    }

    /// Returns a cursor over the terms of a range of blocks. The range begins with the block whose key is `from` and
    /// ends before the block whose key is `end`, or after the last block if `end` is `None`.
    ///
    /// # Errors
    /// Fails if the dictionary cannot be read. The cursor also fails if it does not reach `end`.
    pub fn terms_of_blocks(&self, from: &[u8], end: Option<&'a [u8]>) -> Result<TermCursor<'a, S>, S::Error> {
        let blocks = self.blocks_from(from)?;
        if blocks.expected != Some(from) {
            return Err(self.damaged("dictionary"));
        }
        let mut cursor = TermCursor { blocks: Blocks { end, ..blocks }, block: None, entry: None };
        cursor.advance()?;
        Ok(cursor)
    }

    /// Returns the key of every block whose number is a multiple of `step`.
    ///
    /// # Errors
    /// Fails if the dictionary cannot be read.
    pub fn block_keys(&self, step: usize) -> Result<Vec<&'a [u8]>, S::Error> {
        let (mut keys, mut number) = (Vec::new(), 0usize);
        let mut blocks = self.blocks_from(&[])?.cursor;
        while let Some(key) = blocks.key()? {
            if number.is_multiple_of(step) {
                keys.push(key);
            }
            number += 1;
            blocks.advance()?;
        }
        Ok(keys)
    }

    /// Returns an iterator over the blocks, starting at the block that covers `term`.
    pub(super) fn blocks_from(&self, term: &[u8]) -> Result<Blocks<'a, S>, S::Error> {
        let (key, _) = self.block_of(term)?;
        Ok(Blocks { segment: *self, cursor: self.source.blocks(key)?, expected: Some(key), end: None })
    }

    /// Returns the key and the bytes of the block that covers a term. Fails if there is no such block, because the
    /// blocks of an undamaged segment cover all terms.
    fn block_of(&self, term: &[u8]) -> Result<KeyedBlock<'a>, S::Error> {
        self.source.block(term)?.ok_or_else(|| self.damaged("dictionary"))
    }

    /// Returns the parts of a list, in ascending order.
    ///
    /// # Errors
    /// Fails if the list cannot be read.
    pub fn parts(&self, entry: &TermEntry<'a>) -> Result<Vec<ListPart<'a>>, S::Error> {
        match entry.body {
            EntryBody::Inline(bytes) => {
                let count = entry.count as usize;
                let (mut chunks, mut frequencies) = (Vec::with_capacity(count), Vec::with_capacity(count));
                decode_inline(bytes, entry.count, entry.with_frequencies, |posting| {
                    chunks.push(posting.chunk);
                    frequencies.push(posting.frequencies);
                })
                .and_then(|()| ListPart::from_decoded(chunks, frequencies))
                .map(|part| vec![part])
                .ok_or_else(|| self.damaged("posting list"))
            }
            EntryBody::Stored(location) => self.read_parts(location, entry),
        }
    }

    /// Calls `each` with every posting of a list, deleted chunks included.
    ///
    /// # Errors
    /// Fails if the list cannot be read.
    pub fn for_each(&self, entry: &TermEntry<'a>, mut each: impl FnMut(Posting)) -> Result<(), S::Error> {
        match entry.body {
            EntryBody::Inline(bytes) => decode_inline(bytes, entry.count, entry.with_frequencies, each)
                .ok_or_else(|| self.damaged("posting list")),
            EntryBody::Stored(location) => {
                self.read_parts(location, entry)?.iter().for_each(|part| part.for_each(&mut each));
                Ok(())
            }
        }
    }

    /// Returns the chunks of a list in ascending order, deleted chunks included.
    ///
    /// # Errors
    /// Fails if the list cannot be read.
    pub fn chunks(&self, entry: &TermEntry<'a>) -> Result<Vec<u32>, S::Error> {
        let mut chunks = Vec::with_capacity(entry.count.min(1 << 16) as usize);
        self.for_each(entry, |posting| chunks.push(posting.chunk))?;
        Ok(chunks)
    }

    /// Returns the number of live chunks of a list, which is its contribution to the document frequency. The list is
    /// read only if there are tombstones.
    ///
    /// # Errors
    /// Fails if the list cannot be read.
    pub fn live(&self, entry: &TermEntry<'a>, tombstones: &Tombstones) -> Result<u32, S::Error> {
        let gone = match entry.body {
            _ if tombstones.is_empty() => 0,
            EntryBody::Stored(location) if entry.with_frequencies => {
                let (mut count, mut gone) = (0, 0);
                for index in 0..location.parts {
                    let found = count_part(self.value(location, index)?, tombstones);
                    let (here, gone_here) = found.ok_or_else(|| self.damaged("posting list"))?;
                    (count, gone) = (count + here, gone + gone_here);
                }
                if count != entry.count as usize {
                    return Err(self.damaged("posting list"));
                }
                gone
            }
            _ => self.parts(entry)?.iter().map(|part| part.count_deleted(tombstones)).sum(),
        };
        Ok(entry.count - gone as u32)
    }

    fn read_parts(&self, location: ListLocation, entry: &TermEntry<'a>) -> Result<Vec<ListPart<'a>>, S::Error> {
        let damaged = || self.damaged("posting list");
        let mut parts: Vec<ListPart<'a>> = Vec::new();
        for index in 0..location.parts {
            let part = ListPart::decode(self.value(location, index)?, entry.with_frequencies).ok_or_else(damaged)?;
            if parts.last().is_some_and(|before| before.last() >= part.first()) {
                return Err(damaged());
            }
            parts.push(part);
        }
        let count: usize = parts.iter().map(ListPart::posting_count).sum();
        (count == entry.count as usize).then_some(parts).ok_or_else(damaged)
    }

    /// Returns the bytes of a part.
    fn value(&self, location: ListLocation, index: u32) -> Result<&'a [u8], S::Error> {
        let damaged = || self.damaged("posting list");
        let number = location.number.checked_add(index).ok_or_else(damaged)?;
        let value = self.source.value(number)?.ok_or_else(damaged)?;
        let (start, length) = (location.offset as usize, location.length as usize);
        if location.parts == 1 { value.get(start..start + length).ok_or_else(damaged) } else { Ok(value) }
    }

    fn entry(&self, term: &[u8], body: &'a [u8]) -> Result<TermEntry<'a>, S::Error> {
        let (count, body) = decode_body(body).ok_or_else(|| self.damaged("dictionary entry"))?;
        Ok(TermEntry { count, body, with_frequencies: has_frequencies(term) })
    }

    /// Creates the error for a damaged structure of this segment.
    pub(super) fn damaged(&self, structure: &str) -> S::Error {
        self.source.damaged(structure)
    }
}

/// Iterates over the blocks of a segment in order.
pub(super) struct Blocks<'a, S: SegmentSource<'a>> {
    segment: SegmentReader<'a, S>,
    cursor: S::Blocks,
    /// The expected key of the next block, empty after the last block; `None` if the previous block was skipped.
    expected: Option<&'a [u8]>,
    /// The key of the first block after the range; `None` for the end of the dictionary.
    end: Option<&'a [u8]>,
}

impl<'a, S: SegmentSource<'a>> Blocks<'a, S> {
    /// Reads the next block; `None` after the last block.
    pub(super) fn next(&mut self) -> Result<Option<BlockReader<'a>>, S::Error> {
        let damaged = || self.segment.damaged("dictionary");
        let key = self.cursor.key()?;
        if self.expected.is_some_and(|expected| expected != key.unwrap_or_default()) {
            return Err(damaged());
        }
        if self.end.is_some() && self.end == key {
            return Ok(None);
        }
        let Some(bytes) = self.cursor.bytes()? else {
            return if self.end.is_none() { Ok(None) } else { Err(damaged()) };
        };
        let block = BlockReader::new(bytes).ok_or_else(damaged)?;
        self.expected = Some(block.bound);
        self.cursor.advance()?;
        Ok(Some(block))
    }

    /// Skips the next block if `is_covered` is true for its key and for the key of the block after it. Returns whether
    /// the block was skipped.
    pub(super) fn skip(&mut self, is_covered: impl Fn(&[u8]) -> bool) -> Result<bool, S::Error> {
        if !self.cursor.key()?.is_some_and(&is_covered) {
            return Ok(false);
        }
        let here = self.cursor.clone();
        self.cursor.advance()?;
        if self.cursor.key()?.is_some_and(is_covered) {
            self.expected = None;
            return Ok(true);
        }
        self.cursor = here;
        Ok(false)
    }
}

/// Walks the terms of a segment in byte order.
pub struct TermCursor<'a, S: SegmentSource<'a>> {
    blocks: Blocks<'a, S>,
    block: Option<BlockReader<'a>>,
    entry: Option<TermEntry<'a>>,
}

impl<'a, S: SegmentSource<'a>> TermCursor<'a, S> {
    /// Returns the term at the cursor; empty at the end.
    pub fn term(&self) -> &[u8] {
        self.block.as_ref().map_or(&[], |block| &block.term)
    }

    /// Returns the entry at the cursor; `None` at the end.
    pub fn entry(&self) -> Option<TermEntry<'a>> {
        self.entry
    }

    /// Returns the segment that the cursor walks.
    pub fn segment(&self) -> &SegmentReader<'a, S> {
        &self.blocks.segment
    }

    /// Moves to the next term, or to the end.
    ///
    /// # Errors
    /// Fails if the dictionary cannot be read.
    pub fn advance(&mut self) -> Result<(), S::Error> {
        self.entry = None;
        // A writer of a range of terms (`SegmentWriter::with_range`) writes a block without entries if the range has no
        // terms.
        while self.block.as_ref().is_none_or(BlockReader::is_empty) {
            self.block = self.blocks.next()?;
            if self.block.is_none() {
                return Ok(());
            }
        }
        let segment = &self.blocks.segment;
        let Some(block) = &mut self.block else { return Ok(()) };
        let body = block.next().ok_or_else(|| segment.damaged("dictionary block"))?;
        self.entry = Some(segment.entry(&block.term, body)?);
        Ok(())
    }
}
