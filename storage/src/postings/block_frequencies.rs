//! The frequencies of one block, unpacked as far as somebody has asked.

use super::frequencies;
use crate::codec::Reader;
use crate::field::FIELDS;

/// Where the frequencies of a block come from.
#[derive(Debug, Clone, Copy)]
pub(super) enum BlockSource<'a> {
    /// Unpacked already; empty when there are none.
    Rows(&'a [[u16; FIELDS]]),
    /// As they stand in the file.
    Bytes(&'a [u8]),
}

/// Gives the frequencies of a block by place; what is damaged or absent is 0.
#[derive(Debug)]
pub(super) struct BlockFrequencies<'a> {
    rows: Vec<[u16; FIELDS]>,
    rest: Reader<'a>,
}

impl Default for BlockFrequencies<'_> {
    fn default() -> Self {
        Self { rows: Vec::new(), rest: Reader::new(&[]) }
    }
}

impl<'a> BlockFrequencies<'a> {
    /// Forgets the block before, and begins another.
    pub(super) fn enter(&mut self, source: BlockSource<'a>) {
        self.rows.clear();
        self.rest = Reader::new(&[]);
        match source {
            BlockSource::Rows(rows) => self.rows.extend_from_slice(rows),
            BlockSource::Bytes(bytes) => self.rest = Reader::new(bytes),
        }
    }

    /// The frequencies of the posting at a place of the block.
    #[inline]
    pub(super) fn get(&mut self, index: usize) -> [u16; FIELDS] {
        self.fill(index + 1);
        self.rows.get(index).copied().unwrap_or_default()
    }

    /// The frequencies of the first `count` postings of the block, or of as many as there are.
    #[inline]
    pub(super) fn fill(&mut self, count: usize) -> &[[u16; FIELDS]] {
        if self.rows.len() < count {
            self.unpack(count);
        }
        &self.rows
    }

    fn unpack(&mut self, count: usize) {
        self.rows.reserve(count - self.rows.len());
        while self.rows.len() < count {
            match frequencies::decode(&mut self.rest) {
                Some(row) => self.rows.push(row),
                None => return,
            }
        }
    }
}
