//! The live postings of a term over all segments.

use roaring::RoaringBitmap;

use super::batch::PostingBatch;
use super::bound::BlockBound;
use super::dead::Dead;
use super::part::{BLOCK, Part};
use super::rows::Rows;
use crate::chunk::ChunkId;
use crate::field::FIELDS;

/// The postings of one term in one generation, borrowed from its snapshot: live chunks only.
#[derive(Debug)]
pub struct Postings<'s> {
    parts: Vec<Part<'s>>,
    /// The last chunk of each part.
    lasts: Vec<u32>,
    /// Whether a part holds dead chunks.
    with_dead: Vec<bool>,
    dead: &'s Dead,
    doc_frequency: u32,
}

impl<'s> Postings<'s> {
    /// Puts together parts that ascend by chunk.
    pub(crate) fn new(parts: Vec<Part<'s>>, dead: &'s Dead) -> Self {
        let gone: Vec<usize> = parts.iter().map(|part| part.count_dead(dead)).collect();
        let doc_frequency = parts.iter().map(Part::len).sum::<usize>() - gone.iter().sum::<usize>();
        let lasts = parts.iter().map(Part::last).collect();
        let with_dead = gone.iter().map(|&gone| gone > 0).collect();
        Self { parts, lasts, with_dead, dead, doc_frequency: doc_frequency as u32 }
    }

    /// Exact number of live chunks that hold the term.
    pub fn doc_frequency(&self) -> u32 {
        self.doc_frequency
    }

    /// The live chunks that hold the term.
    pub fn docs(&self) -> RoaringBitmap {
        let mut docs = RoaringBitmap::new();
        for part in &self.parts {
            match part {
                Part::Label(set) => docs |= set,
                part => {
                    let mut ids = Vec::with_capacity(part.len());
                    part.docs(&mut ids);
                    docs.extend(ids);
                }
            }
        }
        docs -= self.dead.set();
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

    /// The term's frequencies in a live chunk; `None` when it does not hold the term. Nothing is unpacked for it: the
    /// way to ask for few chunks of a long list.
    #[inline]
    pub fn find(&self, chunk: ChunkId) -> Option<[u16; FIELDS]> {
        let part = self.lasts.partition_point(|last| *last < chunk.0);
        self.parts.get(part)?.find(chunk.0)
    }

    /// Stands on the first posting.
    pub fn cursor(&self) -> PostingsCursor<'_> {
        let mut cursor = PostingsCursor {
            postings: self,
            part: 0,
            block: 0,
            docs: Vec::with_capacity(BLOCK),
            index: 0,
            frequencies: Rows::default(),
            check_dead: false,
        };
        cursor.enter(0, 0);
        cursor.settle();
        cursor
    }
}

/// Walks live postings forward, and skips.
///
/// The ids of a block are unpacked when the cursor enters it, frequencies when they are asked for.
#[derive(Debug)]
pub struct PostingsCursor<'p> {
    postings: &'p Postings<'p>,
    part: usize,
    block: usize,
    /// Ids of the block; empty at the end of the list.
    docs: Vec<u32>,
    index: usize,
    frequencies: Rows<'p>,
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
        Some((chunk, self.frequencies.get(self.index)))
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
        if self.docs.last().is_none_or(|&last| last < target.0) {
            let (part, block) = self.block_from(target.0, self.part, self.block + 1);
            self.enter(part, block);
        }
        self.skip_to(target.0);
        self.settle();
        self.chunk()
    }

    /// Moves to the first posting whose chunk is not below `target`, forwards or backwards.
    pub fn move_to(&mut self, target: ChunkId) {
        if !self.is_inside(target.0) {
            let (part, block) = self.locate(target.0);
            self.enter(part, block);
        }
        self.index = self.docs.partition_point(|&chunk| chunk < target.0);
        self.settle();
    }

    /// Reads postings from the cursor's on that are below `end`, at most as many as a batch holds, and moves behind them.
    /// Whether there were any.
    pub fn read_below(&mut self, end: ChunkId, batch: &mut PostingBatch) -> bool {
        batch.clear();
        while let Some(&last) = self.docs.last() {
            let from = self.index;
            self.skip_to(end.0);
            self.index = self.index.min(from + PostingBatch::MOST);
            let (docs, dead) = (&self.docs, self.postings.dead);
            self.frequencies.each(from..self.index, |index, words| {
                let chunk = docs[index];
                if !self.check_dead || !dead.contains(chunk) {
                    batch.push(chunk, words);
                }
            });
            if self.index == self.docs.len() {
                self.enter(self.part, self.block + 1);
            }
            if !batch.chunks().is_empty() || last >= end.0 {
                break;
            }
        }
        self.settle();
        !batch.chunks().is_empty()
    }

    /// Whether `target` lies between the first and the last id of the block.
    #[inline]
    fn is_inside(&self, target: u32) -> bool {
        self.docs.first().is_some_and(|&first| first <= target) && self.docs.last().is_some_and(|&last| last >= target)
    }

    /// The first block that does not end below `target`.
    fn locate(&self, target: u32) -> (usize, usize) {
        match self.docs.last() {
            Some(&last) if last < target => self.block_from(target, self.part, self.block + 1),
            _ => self.block_from(target, 0, 0),
        }
    }

    /// Moves within the block to the first id that is not below `target`, or to its end.
    #[inline]
    fn skip_to(&mut self, target: u32) {
        self.index += self.docs[self.index..].partition_point(|&chunk| chunk < target);
    }

    /// The first block from one on that does not end below `target`.
    fn block_from(&self, target: u32, part: usize, block: usize) -> (usize, usize) {
        let Postings { parts, lasts, .. } = self.postings;
        let (mut part, mut block) = (part, block);
        if lasts.get(part).is_none_or(|last| *last < target) {
            part += 1 + lasts.get(part + 1..).unwrap_or_default().partition_point(|last| *last < target);
            block = 0;
        }
        (part, parts.get(part).map_or(0, |part| part.block_from(block, target)))
    }

    /// Unpacks a block, or the first of the next part when this one has no more.
    fn enter(&mut self, part: usize, block: usize) {
        let parts = &self.postings.parts;
        let behind = parts.get(part).is_some_and(|part| block >= part.blocks());
        let (part, block) = if behind { (part + 1, 0) } else { (part, block) };
        self.docs.clear();
        self.index = 0;
        if let Some(found) = parts.get(part) {
            self.check_dead = self.postings.with_dead[part];
            found.block_docs(block, &mut self.docs);
            self.frequencies = found.rows(block);
        }
        (self.part, self.block) = (part, block);
    }

    /// From a dead posting, or the end of a block, moves to the next live posting.
    #[inline]
    fn settle(&mut self) {
        loop {
            match self.docs.get(self.index) {
                Some(&chunk) if self.check_dead && self.postings.dead.contains(chunk) => {
                    self.index += 1;
                }
                Some(_) => return,
                None if self.part < self.postings.parts.len() => self.enter(self.part, self.block + 1),
                None => return,
            }
        }
    }
}
