//! A part of a posting list: a roaring set of chunk ids, and their frequencies in blocks.
//!
//! Layout: length of the set · set in roaring's portable format · for lists with frequencies: length
//! of the directory · directory · frequencies. The directory has an entry per block of
//! [`BLOCK`] postings: first id (gap from the id before), last id (gap), bytes of frequencies, mask of
//! the fields that occur, and for each of those the highest frequency and the shortest length.

use roaring::RoaringBitmap;

use super::bound::{BlockBound, Bounds};
use super::dead::Dead;
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
    let ids = postings.iter().map(|posting| posting.chunk);
    let mut set = RoaringBitmap::from_sorted_iter(ids).expect("postings are in order");
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

/// A part that has been read, mostly still as bytes; never empty.
#[derive(Debug)]
pub(crate) enum Part<'a> {
    /// The list of a label, which has no frequencies.
    Label(RoaringBitmap),
    /// A list that stands in the dictionary: one block, without frequencies if it is a label's.
    Few { docs: Vec<u32>, rows: Vec<u8>, bounds: Bounds },
    /// A list of its own with frequencies; `lasts` are the last ids of the blocks again, side by side.
    Blocks { docs: Docs<'a>, directory: Vec<Block>, lasts: Vec<u32>, stream: &'a [u8] },
}

/// An entry of the directory.
#[derive(Debug)]
pub(crate) struct Block {
    bound: BlockBound,
    start: usize,
    end: usize,
}

impl<'a> Part<'a> {
    /// Reads a part; `None` when it is damaged.
    pub(crate) fn decode(bytes: &'a [u8], with_frequencies: bool) -> Option<Self> {
        let (ids, mut reader) = split(bytes)?;
        if !with_frequencies {
            let set = RoaringBitmap::deserialize_from(ids).ok()?;
            return (reader.is_empty() && !set.is_empty()).then_some(Self::Label(set));
        }
        let docs = Docs::decode(ids)?;
        let length = reader.length()?;
        let mut entries = Reader::new(reader.take(length)?);
        let count = docs.len().div_ceil(BLOCK);
        let (mut directory, mut lasts) = (Vec::with_capacity(count.min(length)), Vec::with_capacity(count.min(length)));
        let (mut before, mut start) = (0u32, 0usize);
        for _ in 0..count {
            let first = before.checked_add(entries.varint32()?)?;
            before = first.checked_add(entries.varint32()?)?;
            let end = start.checked_add(entries.length()?)?;
            let bound = Bounds::decode(&mut entries)?.between(ChunkId(first), ChunkId(before));
            directory.push(Block { bound, start, end });
            lasts.push(before);
            start = end;
        }
        let stream = reader.rest();
        let sound = entries.is_empty() && start == stream.len() && docs.last() == Some(before);
        sound.then_some(Self::Blocks { docs, directory, lasts, stream })
    }

    /// Makes a part of a few postings in order; `None` when there are none.
    pub(crate) fn few(postings: &[Posting], with_frequencies: bool) -> Option<Self> {
        let docs: Vec<u32> = postings.iter().map(|posting| posting.chunk).collect();
        let (mut rows, mut bounds) = (Vec::new(), Bounds::default());
        if with_frequencies {
            rows::encode(&mut rows, postings.iter().map(|posting| &posting.frequencies));
            postings.iter().for_each(|posting| bounds.add(&posting.frequencies, &[0; FIELDS]));
        }
        (!docs.is_empty()).then_some(Self::Few { docs, rows, bounds })
    }

    /// Number of chunks, dead ones included.
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Label(set) => set.len() as usize,
            Self::Few { docs, .. } => docs.len(),
            Self::Blocks { docs, .. } => docs.len(),
        }
    }

    /// The first chunk, dead or alive.
    pub(crate) fn first(&self) -> u32 {
        let first = match self {
            Self::Label(set) => set.min(),
            Self::Few { docs, .. } => docs.first().copied(),
            Self::Blocks { directory, .. } => directory.first().map(|block| block.bound.first.0),
        };
        first.unwrap_or(0)
    }

    /// The last chunk, dead or alive.
    pub(crate) fn last(&self) -> u32 {
        let last = match self {
            Self::Label(set) => set.max(),
            Self::Few { docs, .. } => docs.last().copied(),
            Self::Blocks { lasts, .. } => lasts.last().copied(),
        };
        last.unwrap_or(0)
    }

    /// Number of dead chunks.
    pub(crate) fn count_dead(&self, dead: &Dead) -> usize {
        if dead.is_empty() {
            return 0;
        }
        match self {
            Self::Label(set) => set.intersection_len(dead.set()) as usize,
            Self::Few { docs, .. } => docs.iter().filter(|chunk| dead.contains(**chunk)).count(),
            Self::Blocks { docs, .. } => docs.count_dead(dead),
        }
    }

    /// Appends the chunks in order, dead ones included.
    pub(crate) fn docs(&self, out: &mut Vec<u32>) {
        match self {
            Self::Label(set) => out.extend(set),
            Self::Few { docs, .. } => out.extend(docs),
            Self::Blocks { docs, .. } => docs.range(0, 0, self.last(), out),
        }
    }

    /// The bounds of every block.
    pub(crate) fn bounds(&self) -> Vec<BlockBound> {
        let bounds = match self {
            Self::Label(_) => Bounds::default(),
            Self::Few { bounds, .. } => *bounds,
            Self::Blocks { directory, .. } => return directory.iter().map(|block| block.bound).collect(),
        };
        vec![bounds.between(ChunkId(self.first()), ChunkId(self.last()))]
    }

    /// Number of blocks; a list without a directory is one.
    pub(super) fn blocks(&self) -> usize {
        match self {
            Self::Blocks { directory, .. } => directory.len(),
            Self::Label(_) | Self::Few { .. } => 1,
        }
    }

    /// The first block from `block` on that does not end below `target`.
    pub(super) fn block_from(&self, block: usize, target: u32) -> usize {
        match self {
            Self::Blocks { lasts, .. } => {
                let after = lasts.get(block..).unwrap_or_default();
                // Mostly it is one of the next.
                let near = after.iter().take(NEAR).take_while(|last| **last < target).count();
                let far = after.get(near..).filter(|_| near == NEAR).unwrap_or_default();
                block + near + far.partition_point(|last| *last < target)
            }
            Self::Label(_) | Self::Few { .. } => block,
        }
    }

    /// The frequencies in a chunk; `None` when it is not among those of the part.
    pub(super) fn find(&self, chunk: u32) -> Option<[u16; FIELDS]> {
        let index = match self {
            Self::Label(set) => return set.contains(chunk).then_some([0; FIELDS]),
            Self::Few { docs, .. } => docs.binary_search(&chunk).ok()?,
            Self::Blocks { docs, directory, .. } => match docs.find(chunk)? {
                Place::Index(index) => index,
                Place::Inside => {
                    let block = self.block_from(0, chunk);
                    block * BLOCK + docs.count(directory.get(block)?.bound.first.0, chunk)
                }
            },
        };
        Some(self.rows(index / BLOCK).get(index % BLOCK))
    }

    /// Appends the ids of a block.
    pub(super) fn block_docs(&self, block: usize, out: &mut Vec<u32>) {
        match self {
            Self::Blocks { docs, directory, .. } => {
                if let Some(Block { bound, .. }) = directory.get(block) {
                    docs.range(block * BLOCK, bound.first.0, bound.last.0, out);
                }
            }
            Self::Label(_) | Self::Few { .. } => self.docs(out),
        }
    }

    /// The frequencies of a block.
    pub(super) fn rows(&self, block: usize) -> Rows<'_> {
        match self {
            Self::Label(_) => Rows::default(),
            Self::Few { docs, rows, .. } => Rows::new(rows, docs.len()),
            Self::Blocks { docs, directory, stream, .. } => {
                let left = docs.len().saturating_sub(block * BLOCK);
                let bytes = directory.get(block).map(|block| &stream[block.start..block.end]);
                Rows::new(bytes.unwrap_or_default(), left.min(BLOCK))
            }
        }
    }

    /// Gives every posting, dead ones included.
    pub(crate) fn for_each<E>(&self, mut each: impl FnMut(Posting) -> Result<(), E>) -> Result<(), E> {
        let (mut rows, mut docs) = (Rows::default(), Vec::with_capacity(self.len()));
        self.docs(&mut docs);
        for (index, chunk) in docs.into_iter().enumerate() {
            if index % BLOCK == 0 {
                rows = self.rows(index / BLOCK);
            }
            each(Posting { chunk, frequencies: rows.get(index % BLOCK) })?;
        }
        Ok(())
    }

    /// Whether every block has as many ids as frequencies, from its first id to its last.
    pub(crate) fn is_exact(&self) -> bool {
        let Self::Blocks { directory, .. } = self else { return true };
        let mut docs = Vec::with_capacity(self.len());
        self.docs(&mut docs);
        let mut here = docs.chunks(BLOCK);
        directory.iter().enumerate().all(|(at, block)| {
            let ends = here.next().and_then(|here| here.first().zip(here.last()));
            ends == Some((&block.bound.first.0, &block.bound.last.0)) && self.rows(at).is_exact()
        })
    }
}

/// The number of chunks that a part's set counts, dead ones included, and how many are dead; `None` when it is damaged.
pub(crate) fn count(bytes: &[u8], dead: &Dead) -> Option<(usize, usize)> {
    let docs = Docs::decode(split(bytes)?.0)?;
    Some((docs.len(), docs.count_dead(dead)))
}

/// The set of a part, and what follows it.
fn split(bytes: &[u8]) -> Option<(&[u8], Reader<'_>)> {
    let mut reader = Reader::new(bytes);
    let length = reader.length()?;
    Some((reader.take(length)?, reader))
}
