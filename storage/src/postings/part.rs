//! A part of a posting list: a roaring set of chunk ids, and their frequencies in blocks.
//!
//! Layout: length of the set · set in roaring's portable format · for lists with frequencies: length
//! of the directory · directory · frequencies. The directory has an entry per block of
//! [`BLOCK`] postings: first id (gap from the id before), last id (gap), bytes of frequencies, mask of
//! the fields that occur, and for each of those the highest frequency and the shortest length.

use roaring::RoaringBitmap;

use super::bound::{BlockBound, Bounds};
use super::frequencies;
use super::posting::Posting;
use crate::chunk::ChunkId;
use crate::codec::{Reader, put_varint};
use crate::field::FIELDS;

/// Postings in a block.
pub(crate) const BLOCK: usize = 128;

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
        let mut bounds = Bounds::default();
        for posting in block {
            frequencies::encode(&mut stream, &posting.frequencies);
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
    /// Those of a list that stands in the dictionary.
    Few(Vec<[u16; FIELDS]>),
    /// Those of a list of its own.
    Blocks { directory: Vec<Block>, stream: &'a [u8] },
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
        let set = RoaringBitmap::deserialize_from(reader.take(length)?).ok()?;
        let last = set.max()?;
        if !with_frequencies {
            return reader.is_empty().then_some(Self { set, frequencies: Frequencies::None });
        }
        let length = reader.length()?;
        let mut entries = Reader::new(reader.take(length)?);
        let mut directory = Vec::new();
        let (mut before, mut start) = (0u32, 0usize);
        for _ in 0..set.len().div_ceil(BLOCK as u64) {
            let first = before.checked_add(entries.varint32()?)?;
            before = first.checked_add(entries.varint32()?)?;
            let end = start.checked_add(entries.length()?)?;
            let bound = Bounds::decode(&mut entries)?.between(ChunkId(first), ChunkId(before));
            directory.push(Block { bound, start, end });
            start = end;
        }
        let stream = reader.rest();
        let sound = entries.is_empty() && start == stream.len() && before == last;
        sound.then_some(Self { set, frequencies: Frequencies::Blocks { directory, stream } })
    }

    /// Makes a part of a few postings in order; `None` when there are none.
    pub(crate) fn few(postings: &[Posting], with_frequencies: bool) -> Option<Self> {
        let chunks = postings.iter().map(|posting| posting.chunk);
        let set = RoaringBitmap::from_sorted_iter(chunks).ok().filter(|set| !set.is_empty())?;
        let frequencies = match with_frequencies {
            true => Frequencies::Few(postings.iter().map(|posting| posting.frequencies).collect()),
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
            Frequencies::Few(rows) => {
                let mut bounds = Bounds::default();
                rows.iter().for_each(|row| bounds.add(row, &[0; FIELDS]));
                bounds
            }
        };
        let ends = self.set.min().zip(self.set.max());
        ends.map(|(first, last)| bounds.between(ChunkId(first), ChunkId(last))).into_iter().collect()
    }

    /// Reads the frequencies of a block into `out`; what is not there is left at 0.
    pub(crate) fn block_frequencies(&self, block: usize, out: &mut Vec<[u16; FIELDS]>) {
        out.clear();
        match &self.frequencies {
            Frequencies::None => {}
            Frequencies::Few(rows) => out.extend_from_slice(rows),
            Frequencies::Blocks { directory, stream } => {
                let bytes = directory.get(block).map(|block| &stream[block.start..block.end]);
                let mut reader = Reader::new(bytes.unwrap_or_default());
                while out.len() < BLOCK && !reader.is_empty() {
                    out.push(frequencies::decode(&mut reader).unwrap_or_default());
                }
            }
        }
        out.resize(BLOCK, [0; FIELDS]);
    }

    /// Gives every posting, dead ones included.
    pub(crate) fn for_each<E>(&self, mut each: impl FnMut(Posting) -> Result<(), E>) -> Result<(), E> {
        let mut rows = Vec::with_capacity(BLOCK);
        for (index, chunk) in self.set.iter().enumerate() {
            if index % BLOCK == 0 {
                self.block_frequencies(index / BLOCK, &mut rows);
            }
            each(Posting { chunk, frequencies: rows[index % BLOCK] })?;
        }
        Ok(())
    }

    /// Whether the frequencies of every block are as many as its postings.
    pub(crate) fn is_exact(&self) -> bool {
        let Frequencies::Blocks { directory, stream } = &self.frequencies else { return true };
        let mut left = self.set.len() as usize;
        directory.iter().all(|block| {
            let mut reader = Reader::new(&stream[block.start..block.end]);
            let here = left.min(BLOCK);
            left -= here;
            (0..here).all(|_| frequencies::decode(&mut reader).is_some()) && reader.is_empty()
        })
    }
}
