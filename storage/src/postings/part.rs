//! A part of a posting list: a roaring set of chunk ids, and their frequencies in blocks.
//!
//! Layout: length of the set · set in roaring's portable format · for lists with frequencies: length
//! of the directory · directory · frequencies. The directory has an entry per block of
//! [`BLOCK`] postings: first id (gap from the id before), last id (gap), bytes of frequencies, mask of
//! the fields that occur, and for each of those the highest frequency and the shortest length.

use roaring::RoaringBitmap;

use super::bound::{BlockBound, Bounds};
use super::docs::{Docs, Place};
use super::posting::Posting;
use super::rows::{self, Rows};
use crate::chunk::ChunkId;
use crate::codec::{Reader, put_varint};
use crate::field::FIELDS;

/// Postings in a block.
pub(crate) const BLOCK: usize = 128;
/// Blocks that are looked at one by one before a search by halves.
const NEAR: usize = 4;

/// Appends a part; `length` gives the field lengths of a chunk, for the bounds.
///
/// `postings` must ascend by chunk.
pub(crate) fn encode(
    out: &mut Vec<u8>,
    postings: &[Posting],
    with_frequencies: bool,
    length: &dyn Fn(u32) -> [u16; FIELDS],
) {
    let mut set: RoaringBitmap = postings.iter().map(|posting| posting.chunk).collect();
    set.optimize();
    put_varint(out, set.serialized_size() as u64);
    if set.serialize_into(&mut *out).is_err() {
        unreachable!("writing to a vector cannot fail");
    }
    if !with_frequencies {
        return;
    }
    let (mut directory, mut stream) = (Vec::new(), Vec::new());
    let mut before = 0;
    for block in postings.chunks(BLOCK) {
        let start = stream.len();
        rows::encode(&mut stream, block.iter().map(|posting| &posting.frequencies));
        let mut bounds = Bounds::default();
        for posting in block {
            bounds.add(&posting.frequencies, &length(posting.chunk));
        }
        let (first, last) = (block[0].chunk, block[block.len() - 1].chunk);
        put_varint(&mut directory, u64::from(first - before));
        put_varint(&mut directory, u64::from(last - first));
        put_varint(&mut directory, (stream.len() - start) as u64);
        bounds.encode(&mut directory);
        before = last;
    }
    put_varint(out, directory.len() as u64);
    out.extend_from_slice(&directory);
    out.extend_from_slice(&stream);
}

/// A part that has been read: its set, and its frequencies, mostly still as bytes.
#[derive(Debug)]
pub(crate) struct Part<'a> {
    /// The chunks, dead ones included; never empty.
    pub(crate) set: RoaringBitmap,
    frequencies: Frequencies<'a>,
}

#[derive(Debug)]
enum Frequencies<'a> {
    /// A label has none.
    None,
    /// Those of a list that stands in the dictionary: one block.
    Few { rows: Vec<u8>, bounds: Bounds },
    /// Those of a list of its own; `lasts` are the last ids of the blocks again, side by side.
    Blocks { docs: Docs<'a>, directory: Vec<Block>, lasts: Vec<u32>, stream: &'a [u8] },
}

/// An entry of the directory.
#[derive(Debug)]
struct Block {
    bound: BlockBound,
    start: usize,
    end: usize,
}

impl<'a> Part<'a> {
    /// Reads a part; `None` when it is damaged.
    pub(crate) fn decode(bytes: &'a [u8], with_frequencies: bool) -> Option<Self> {
        let mut reader = Reader::new(bytes);
        let length = reader.length()?;
        let bytes = reader.take(length)?;
        let set = RoaringBitmap::deserialize_from(bytes).ok()?;
        let last = set.max()?;
        if !with_frequencies {
            return reader.is_empty().then_some(Self { set, frequencies: Frequencies::None });
        }
        let docs = Docs::decode(bytes)?;
        let length = reader.length()?;
        let mut entries = Reader::new(reader.take(length)?);
        let blocks = set.len().div_ceil(BLOCK as u64).min(length as u64) as usize;
        let (mut directory, mut lasts) = (Vec::with_capacity(blocks), Vec::with_capacity(blocks));
        let (mut before, mut start) = (0u32, 0usize);
        for _ in 0..set.len().div_ceil(BLOCK as u64) {
            let first = before.checked_add(entries.varint32()?)?;
            before = first.checked_add(entries.varint32()?)?;
            let end = start.checked_add(entries.length()?)?;
            let bound = Bounds::decode(&mut entries)?.between(ChunkId(first), ChunkId(before));
            directory.push(Block { bound, start, end });
            lasts.push(before);
            start = end;
        }
        let stream = reader.rest();
        let sound = entries.is_empty() && start == stream.len() && before == last;
        sound.then_some(Self { set, frequencies: Frequencies::Blocks { docs, directory, lasts, stream } })
    }

    /// Makes a part of a few postings in order; `None` when there are none.
    pub(crate) fn few(postings: &[Posting], with_frequencies: bool) -> Option<Self> {
        let chunks = postings.iter().map(|posting| posting.chunk);
        let set = RoaringBitmap::from_sorted_iter(chunks).ok().filter(|set| !set.is_empty())?;
        let frequencies = match with_frequencies {
            true => {
                let (mut rows, mut bounds) = (Vec::new(), Bounds::default());
                rows::encode(&mut rows, postings.iter().map(|posting| &posting.frequencies));
                postings.iter().for_each(|posting| bounds.add(&posting.frequencies, &[0; FIELDS]));
                Frequencies::Few { rows, bounds }
            }
            false => Frequencies::None,
        };
        Some(Self { set, frequencies })
    }

    /// The bounds of every block.
    pub(crate) fn bounds(&self) -> Vec<BlockBound> {
        let bounds = match &self.frequencies {
            Frequencies::Blocks { directory, .. } => {
                return directory.iter().map(|block| block.bound).collect();
            }
            Frequencies::None => Bounds::default(),
            Frequencies::Few { bounds, .. } => *bounds,
        };
        let ends = self.set.min().zip(self.set.max());
        ends.map(|(first, last)| bounds.between(ChunkId(first), ChunkId(last))).into_iter().collect()
    }

    /// Number of blocks; a list without a directory is one.
    pub(super) fn blocks(&self) -> usize {
        match &self.frequencies {
            Frequencies::Blocks { directory, .. } => directory.len(),
            Frequencies::None | Frequencies::Few { .. } => 1,
        }
    }

    /// The first block from `block` on that does not end below `target`.
    pub(super) fn block_from(&self, block: usize, target: u32) -> usize {
        match &self.frequencies {
            Frequencies::Blocks { lasts, .. } => {
                let after = lasts.get(block..).unwrap_or_default();
                // Mostly it is one of the next.
                let near = after.iter().take(NEAR).take_while(|last| **last < target).count();
                let far = after.get(near..).filter(|_| near == NEAR).unwrap_or_default();
                block + near + far.partition_point(|last| *last < target)
            }
            Frequencies::None | Frequencies::Few { .. } => block,
        }
    }

    /// The frequencies in a chunk; `None` when it is not among those of the part.
    pub(super) fn find(&self, chunk: u32) -> Option<[u16; FIELDS]> {
        let Frequencies::Blocks { docs, directory, .. } = &self.frequencies else {
            let index = self.set.contains(chunk).then(|| self.set.rank(chunk) as usize - 1)?;
            return Some(self.rows(0).get(index));
        };
        let index = match docs.find(chunk)? {
            Place::Index(index) => index,
            Place::Inside => {
                let block = self.block_from(0, chunk);
                block * BLOCK + docs.count(directory.get(block)?.bound.first.0, chunk)
            }
        };
        Some(self.rows(index / BLOCK).get(index % BLOCK))
    }

    /// Appends the ids of a block.
    pub(super) fn block_docs(&self, block: usize, out: &mut Vec<u32>) {
        match &self.frequencies {
            Frequencies::Blocks { docs, directory, .. } => {
                if let Some(Block { bound, .. }) = directory.get(block) {
                    docs.range(block * BLOCK, bound.first.0, bound.last.0, out);
                }
            }
            Frequencies::None | Frequencies::Few { .. } => out.extend(&self.set),
        }
    }

    /// The frequencies of a block.
    pub(super) fn rows(&self, block: usize) -> Rows<'_> {
        match &self.frequencies {
            Frequencies::None => Rows::default(),
            Frequencies::Few { rows, .. } => Rows::new(rows, self.set.len() as usize),
            Frequencies::Blocks { directory, stream, .. } => {
                let left = (self.set.len() as usize).saturating_sub(block * BLOCK);
                let bytes = directory.get(block).map(|block| &stream[block.start..block.end]);
                Rows::new(bytes.unwrap_or_default(), left.min(BLOCK))
            }
        }
    }

    /// Gives every posting, dead ones included.
    pub(crate) fn for_each<E>(&self, mut each: impl FnMut(Posting) -> Result<(), E>) -> Result<(), E> {
        let mut rows = Rows::default();
        for (index, chunk) in self.set.iter().enumerate() {
            if index % BLOCK == 0 {
                rows = self.rows(index / BLOCK);
            }
            each(Posting { chunk, frequencies: rows.get(index % BLOCK) })?;
        }
        Ok(())
    }

    /// Whether every block has as many ids as frequencies, from its first id to its last.
    pub(crate) fn is_exact(&self) -> bool {
        let Frequencies::Blocks { directory, .. } = &self.frequencies else { return true };
        let mut docs = self.set.iter();
        directory.iter().enumerate().all(|(at, block)| {
            let here: Vec<u32> = docs.by_ref().take(BLOCK).collect();
            let ends = here.first().zip(here.last());
            ends == Some((&block.bound.first.0, &block.bound.last.0)) && self.rows(at).is_exact()
        })
    }
}
