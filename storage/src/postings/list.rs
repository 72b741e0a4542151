//! The live postings of a term over all segments.

use roaring::RoaringBitmap;

use super::bound::BlockBound;
use super::part::{BLOCK, Part};
use crate::chunk::ChunkId;
use crate::field::FIELDS;

/// The postings of one term in one generation, borrowed from its snapshot: live chunks only.
#[derive(Debug)]
pub struct Postings<'s> {
    parts: Vec<Part<'s>>,
    dead: &'s RoaringBitmap,
    doc_frequency: u32,
}

impl<'s> Postings<'s> {
    /// Puts together parts that ascend by chunk.
    pub(crate) fn new(parts: Vec<Part<'s>>, dead: &'s RoaringBitmap) -> Self {
        let all: u64 = parts.iter().map(|part| part.set.len()).sum();
        let gone = match dead.is_empty() {
            true => 0,
            false => parts.iter().map(|part| part.set.intersection_len(dead)).sum(),
        };
        Self { parts, dead, doc_frequency: (all - gone) as u32 }
    }

    /// Exact number of live chunks that hold the term.
    pub fn doc_frequency(&self) -> u32 {
        self.doc_frequency
    }

    /// The live chunks that hold the term.
    pub fn docs(&self) -> RoaringBitmap {
        let mut docs = RoaringBitmap::new();
        for part in &self.parts {
            docs |= &part.set;
        }
        docs -= self.dead;
        docs
    }

    /// The chunks with the term's frequency in every field, ascending.
    pub fn iter(&self) -> impl Iterator<Item = (ChunkId, [u16; FIELDS])> + '_ {
        let mut cursor = self.cursor();
        std::iter::from_fn(move || {
            let posting = cursor.current()?;
            cursor.advance();
            Some(posting)
        })
    }

    /// Blocks of at most 128 postings with their bounds, ascending. Dead chunks count, so that a bound
    /// may be higher than what is alive can reach.
    pub fn blocks(&self) -> impl Iterator<Item = BlockBound> + '_ {
        self.parts.iter().flat_map(Part::bounds)
    }

    /// Stands on the first posting.
    pub fn cursor(&self) -> PostingsCursor<'_> {
        let mut cursor = PostingsCursor {
            postings: self,
            part: 0,
            docs: Vec::new(),
            index: 0,
            block: usize::MAX,
            frequencies: Vec::with_capacity(BLOCK),
            check_dead: false,
        };
        cursor.enter(0);
        cursor.settle();
        cursor
    }
}

/// Walks live postings forward, and skips.
///
/// The ids of a part, up to some thousands, are unpacked when the cursor enters it; frequencies by
/// blocks of 128, when one of the block is asked for.
#[derive(Debug)]
pub struct PostingsCursor<'p> {
    postings: &'p Postings<'p>,
    part: usize,
    docs: Vec<u32>,
    index: usize,
    block: usize,
    frequencies: Vec<[u16; FIELDS]>,
    check_dead: bool,
}

impl PostingsCursor<'_> {
    /// The chunk that the cursor stands on; `None` at the end.
    #[inline]
    pub fn chunk(&self) -> Option<ChunkId> {
        self.docs.get(self.index).map(|&chunk| ChunkId(chunk))
    }

    /// The posting that the cursor stands on; `None` at the end.
    #[inline]
    pub fn current(&mut self) -> Option<(ChunkId, [u16; FIELDS])> {
        let chunk = self.chunk()?;
        let block = self.index / BLOCK;
        if self.block != block {
            self.postings.parts[self.part].block_frequencies(block, &mut self.frequencies);
            self.block = block;
        }
        Some((chunk, self.frequencies[self.index % BLOCK]))
    }

    /// Moves to the next posting, and returns its chunk.
    #[inline]
    pub fn advance(&mut self) -> Option<ChunkId> {
        self.index += 1;
        self.settle();
        self.chunk()
    }

    /// Moves to the first posting whose chunk is not below `target`, never backwards, and returns its
    /// chunk.
    pub fn seek(&mut self, target: ChunkId) -> Option<ChunkId> {
        if self.chunk()? >= target {
            return self.chunk();
        }
        let parts = &self.postings.parts;
        if self.docs.last().is_none_or(|&last| last < target.0) {
            let after = &parts[self.part + 1..];
            let skipped = after.partition_point(|part| part.set.max() < Some(target.0));
            self.enter(self.part + 1 + skipped);
        }
        let rest = &self.docs[self.index..];
        self.index += rest.partition_point(|&chunk| chunk < target.0);
        self.settle();
        self.chunk()
    }

    fn enter(&mut self, part: usize) {
        self.part = part;
        self.index = 0;
        self.block = usize::MAX;
        self.docs.clear();
        if let Some(part) = self.postings.parts.get(part) {
            self.docs.extend(&part.set);
            self.check_dead = !part.set.is_disjoint(self.postings.dead);
        }
    }

    /// From a dead posting, or the end of a part, moves to the next live posting.
    #[inline]
    fn settle(&mut self) {
        loop {
            match self.docs.get(self.index) {
                Some(&chunk) if self.check_dead && self.postings.dead.contains(chunk) => {
                    self.index += 1;
                }
                Some(_) => return,
                None if self.part + 1 < self.postings.parts.len() => self.enter(self.part + 1),
                None => return,
            }
        }
    }
}
