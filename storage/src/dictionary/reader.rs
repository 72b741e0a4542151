//! Reads one segment: a term, or all terms from one on.

use super::block::{
    BlockReader, EntryBody, ListLocation, SEGMENT_KEY, decode_body, decode_inline, find, has_frequencies,
    try_each_inline,
};
use super::writer::{dictionary_key, postings_key};
use crate::btree::{Cursor, Damage, Pages, Tree};
use crate::postings::{ListPart, Posting, Tombstones, count_part};

/// A segment of one generation.
#[derive(Clone, Copy)]
pub(crate) struct SegmentReader<'a> {
    /// The mapped file.
    pub(crate) pages: Pages<'a>,
    /// Root of the dictionary table.
    pub(crate) dictionary: Tree,
    /// Root of the postings table.
    pub(crate) postings: Tree,
    /// Number of the segment.
    pub(crate) id: u32,
}

/// An entry of the dictionary.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TermEntry<'a> {
    /// Number of postings, dead ones included.
    pub(crate) count: u32,
    body: EntryBody<'a>,
    with_frequencies: bool,
}

impl<'a> SegmentReader<'a> {
    /// Finds a term.
    pub(crate) fn find(&self, term: &[u8]) -> Result<Option<TermEntry<'a>>, Damage> {
        let (_, block) = self.block_of(term)?;
        let body = find(block, term).ok_or_else(|| self.damaged("dictionary block"))?;
        body.map(|body| self.entry(term, body)).transpose()
    }

    /// The dictionary from a term on.
    pub(crate) fn terms_from(&self, term: &[u8]) -> Result<TermCursor<'a>, Damage> {
        let mut cursor = TermCursor { blocks: self.blocks_from(term)?, block: None, entry: None };
        cursor.advance()?;
        while cursor.entry.is_some() && cursor.term() < term {
            cursor.advance()?;
        }
        Ok(cursor)
    }

    /// The blocks from the one on that may hold `term`.
    pub(super) fn blocks_from(&self, term: &[u8]) -> Result<Blocks<'a>, Damage> {
        let (key, _) = self.block_of(term)?;
        let cursor = Cursor::seek(self.pages, self.dictionary, key)?;
        Ok(Blocks { segment: *self, cursor, expected: Some(&key[SEGMENT_KEY..]) })
    }

    /// Key and bytes of the block in which a term would be: there is one for every term.
    fn block_of(&self, term: &[u8]) -> Result<(&'a [u8], &'a [u8]), Damage> {
        let key = dictionary_key(self.id, term);
        let found = Cursor::floor(self.pages, self.dictionary, &key)?;
        let found = found.filter(|(found, _)| found.starts_with(&key[..SEGMENT_KEY]));
        found.ok_or_else(|| self.damaged("dictionary"))
    }

    /// The parts of a list, in order.
    pub(crate) fn parts(&self, entry: &TermEntry<'a>) -> Result<Vec<ListPart<'a>>, Damage> {
        match entry.body {
            EntryBody::Inline(bytes) => {
                let count = entry.count as usize;
                let (mut docs, mut rows) = (Vec::with_capacity(count), Vec::with_capacity(count));
                decode_inline(bytes, entry.count, entry.with_frequencies, |posting| {
                    docs.push(posting.chunk);
                    rows.push(posting.frequencies);
                })
                .and_then(|()| ListPart::decoded(docs, rows))
                .map(|part| vec![part])
                .ok_or_else(|| self.damaged("posting list"))
            }
            EntryBody::Stored(location) => self.stored(location, entry),
        }
    }

    /// Gives every posting of a list, dead ones included, until there is an error.
    pub(crate) fn for_each<E>(
        &self,
        entry: &TermEntry<'a>,
        damaged: impl Fn(Damage) -> E,
        mut each: impl FnMut(Posting) -> Result<(), E>,
    ) -> Result<(), E> {
        match entry.body {
            EntryBody::Inline(bytes) => {
                let damaged = || damaged(self.damaged("posting list"));
                try_each_inline(bytes, entry.count, entry.with_frequencies, damaged, each)
            }
            EntryBody::Stored(location) => {
                let parts = self.stored(location, entry).map_err(damaged)?;
                parts.iter().try_for_each(|part| part.for_each(&mut each))
            }
        }
    }

    /// The chunks of a list in order, dead ones included.
    pub(crate) fn docs(&self, entry: &TermEntry<'a>) -> Result<Vec<u32>, Damage> {
        let mut docs = Vec::with_capacity(entry.count.min(1 << 16) as usize);
        match entry.body {
            EntryBody::Inline(bytes) => {
                decode_inline(bytes, entry.count, entry.with_frequencies, |posting| docs.push(posting.chunk))
                    .ok_or_else(|| self.damaged("posting list"))?;
            }
            EntryBody::Stored(location) => {
                self.stored(location, entry)?.iter().for_each(|part| part.chunks(&mut docs));
            }
        }
        Ok(docs)
    }

    /// Number of live chunks of a list.
    pub(crate) fn live(&self, entry: &TermEntry<'a>, tombstones: &Tombstones) -> Result<u32, Damage> {
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

    fn stored(&self, location: ListLocation, entry: &TermEntry<'a>) -> Result<Vec<ListPart<'a>>, Damage> {
        let damaged = || self.damaged("posting list");
        let mut parts: Vec<ListPart<'a>> = Vec::new();
        for index in 0..location.parts {
            let part = ListPart::decode(self.value(location, index)?, entry.with_frequencies).ok_or_else(damaged)?;
            if parts.last().is_some_and(|before| before.last() >= part.first()) {
                return Err(damaged());
            }
            parts.push(part);
        }
        let count: usize = parts.iter().map(ListPart::len).sum();
        (count == entry.count as usize).then_some(parts).ok_or_else(damaged)
    }

    /// The bytes of a part.
    fn value(&self, location: ListLocation, index: u32) -> Result<&'a [u8], Damage> {
        let damaged = || self.damaged("posting list");
        let number = location.number.checked_add(index).ok_or_else(damaged)?;
        let key = postings_key(self.id, number);
        let value = Cursor::get(self.pages, self.postings, &key)?.ok_or_else(damaged)?;
        let (start, length) = (location.offset as usize, location.length as usize);
        match location.parts {
            1 => value.get(start..start + length).ok_or_else(damaged),
            _ => Ok(value),
        }
    }

    fn entry(&self, term: &[u8], body: &'a [u8]) -> Result<TermEntry<'a>, Damage> {
        let (count, body) = decode_body(body).ok_or_else(|| self.damaged("dictionary entry"))?;
        Ok(TermEntry { count, body, with_frequencies: has_frequencies(term) })
    }

    /// What is wrong with a structure of this segment.
    pub(crate) fn damaged(&self, what: &str) -> Damage {
        Damage(format!("segment {} has a damaged {what}", self.id))
    }
}

/// The blocks of a segment in order.
pub(super) struct Blocks<'a> {
    segment: SegmentReader<'a>,
    cursor: Cursor<'a>,
    /// The key that the next block must have, empty if there is to be none, where the block before it was read.
    expected: Option<&'a [u8]>,
}

impl<'a> Blocks<'a> {
    /// Reads the next block; `None` behind the last.
    pub(super) fn next(&mut self) -> Result<Option<BlockReader<'a>>, Damage> {
        let damaged = || self.segment.damaged("dictionary");
        let key = self.key()?;
        if self.expected.is_some_and(|expected| expected != key.unwrap_or_default()) {
            return Err(damaged());
        }
        let Some((_, bytes)) = self.cursor.entry()?.filter(|_| key.is_some()) else { return Ok(None) };
        let block = BlockReader::new(bytes).ok_or_else(damaged)?;
        self.expected = Some(block.bound);
        self.cursor.next()?;
        Ok(Some(block))
    }

    /// Leaves out the next block, if the terms from its key to the key behind it need not be seen.
    pub(super) fn skip(&mut self, is_covered: impl Fn(&[u8]) -> bool) -> Result<bool, Damage> {
        if !self.key()?.is_some_and(&is_covered) {
            return Ok(false);
        }
        let here = self.cursor.clone();
        self.cursor.next()?;
        if self.key()?.is_some_and(is_covered) {
            self.expected = None;
            return Ok(true);
        }
        self.cursor = here;
        Ok(false)
    }

    /// The key of the next block, without the segment's number.
    fn key(&self) -> Result<Option<&'a [u8]>, Damage> {
        let key = self.cursor.key()?;
        Ok(key.and_then(|key| key.strip_prefix(&self.segment.id.to_be_bytes())))
    }
}

/// Walks the terms of a segment in byte order.
pub(crate) struct TermCursor<'a> {
    blocks: Blocks<'a>,
    block: Option<BlockReader<'a>>,
    entry: Option<TermEntry<'a>>,
}

impl<'a> TermCursor<'a> {
    /// The term under the cursor; empty at the end.
    pub(crate) fn term(&self) -> &[u8] {
        self.block.as_ref().map_or(&[], |block| &block.term)
    }

    /// The entry under the cursor; `None` at the end.
    pub(crate) fn entry(&self) -> Option<TermEntry<'a>> {
        self.entry
    }

    /// The segment whose terms these are.
    pub(crate) fn segment(&self) -> &SegmentReader<'a> {
        &self.blocks.segment
    }

    /// Moves to the next term, or to the end.
    pub(crate) fn advance(&mut self) -> Result<(), Damage> {
        self.entry = None;
        if self.block.as_ref().is_none_or(BlockReader::is_empty) {
            self.block = self.blocks.next()?;
        }
        let segment = &self.blocks.segment;
        let Some(block) = &mut self.block else { return Ok(()) };
        let body = block.next().ok_or_else(|| segment.damaged("dictionary block"))?;
        self.entry = Some(segment.entry(&block.term, body)?);
        Ok(())
    }
}
