//! A block of contents.
//!
//! Layout: number of chunks · for each, its id less the one before (of the first, less the key), length of its texts, length of
//! its relations · compressed length of the texts · zstd frame of all texts, one after another · zstd frame of all relations.
//! Numbers are variable-length integers. The key is at most the id of the first chunk, and above those of the block before.

use std::cell::RefCell;
use std::ops::Range;

use zstd::bulk::{Compressor, Decompressor};

use crate::btree::Damage;
use aurora_inverted::codec::{ByteReader, put_varint};

/// How much zstd tries. Beyond this a twentieth less takes twice as long.
const LEVEL: i32 = 3;
/// Most bytes of the texts, or the relations, of one block.
const MOST_BYTES: usize = 1 << 28;

thread_local! {
    static DECOMPRESSOR: RefCell<Option<Decompressor<'static>>> = const { RefCell::new(None) };
}

/// One of the two frames of a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Part {
    /// See [`super::decode_text`].
    Texts,
    /// See [`super::decode_relations`].
    Relations,
}

/// A block as it is stored.
#[derive(Debug, Clone)]
pub(crate) struct Block<'a> {
    rows: Vec<Row>,
    /// Lengths of the two parts.
    lengths: [usize; 2],
    frames: [&'a [u8]; 2],
}

/// Where the content of a chunk begins in each part.
#[derive(Debug, Clone, Copy)]
struct Row {
    id: u32,
    starts: [usize; 2],
}

impl<'a> Block<'a> {
    /// Reads what stands in front of the frames.
    pub(crate) fn decode(first: u32, bytes: &'a [u8]) -> Option<Self> {
        let mut reader = ByteReader::new(bytes);
        let count = reader.length().filter(|count| (1..=bytes.len()).contains(count))?;
        let mut rows = Vec::with_capacity(count);
        let (mut id, mut lengths) = (first, [0usize; 2]);
        for at in 0..count {
            let step = reader.varint32()?;
            id = id.checked_add(step).filter(|_| at == 0 || step > 0)?;
            rows.push(Row { id, starts: lengths });
            for length in &mut lengths {
                *length = length.checked_add(reader.length()?).filter(|sum| *sum <= MOST_BYTES)?;
            }
        }
        let texts = reader.sized()?;
        Some(Self { rows, lengths, frames: [texts, reader.rest()] })
    }

    /// The ids of the chunks, ascending.
    pub(crate) fn ids(&self) -> impl ExactSizeIterator<Item = u32> + DoubleEndedIterator + '_ {
        self.rows.iter().map(|row| row.id)
    }

    /// Where the content of a chunk stands in a part.
    pub(crate) fn place(&self, id: u32, part: Part) -> Option<Range<usize>> {
        let at = self.rows.binary_search_by_key(&id, |row| row.id).ok()?;
        let part = part as usize;
        let end = self.rows.get(at + 1).map_or(self.lengths[part], |next| next.starts[part]);
        Some(self.rows[at].starts[part]..end)
    }

    /// A part with the content of all chunks.
    pub(crate) fn decompress(&self, part: Part) -> Result<Vec<u8>, Damage> {
        let (frame, length) = (self.frames[part as usize], self.lengths[part as usize]);
        let decompressed = DECOMPRESSOR.with_borrow_mut(|decompressor| {
            let decompressor = match decompressor {
                Some(decompressor) => decompressor,
                None => decompressor.insert(Decompressor::new().ok()?),
            };
            // A frame is asked for its length first: one that was forged must not take up memory.
            let told = zstd::zstd_safe::get_frame_content_size(frame).ok().flatten();
            told.filter(|told| *told == length as u64)?;
            decompressor.decompress(frame, length).ok()
        });
        decompressed
            .filter(|bytes| bytes.len() == length)
            .ok_or_else(|| Damage("a block of contents cannot be decompressed".to_owned()))
    }
}

/// Collects the contents of a block.
pub(super) struct BlockBuilder {
    first: u32,
    last: u32,
    count: u64,
    rows: Vec<u8>,
    parts: [Vec<u8>; 2],
}

impl BlockBuilder {
    /// Starts a block with the id that will be its key.
    pub(super) fn new(first: u32) -> Self {
        Self { first, last: first, count: 0, rows: Vec::new(), parts: [Vec::new(), Vec::new()] }
    }

    /// The key.
    pub(super) fn first(&self) -> u32 {
        self.first
    }

    /// Id of the chunk that was added last.
    pub(super) fn last(&self) -> u32 {
        self.last
    }

    /// Bytes before compression.
    pub(super) fn len(&self) -> usize {
        self.parts.iter().map(Vec::len).sum()
    }

    /// Adds a chunk, whose id is above those before: `put` appends its texts and its relations.
    pub(super) fn push(&mut self, id: u32, put: impl FnOnce(&mut Vec<u8>, &mut Vec<u8>)) {
        put_varint(&mut self.rows, u64::from(id - self.last));
        (self.last, self.count) = (id, self.count + 1);
        let before = [self.parts[0].len(), self.parts[1].len()];
        let [texts, relations] = &mut self.parts;
        put(texts, relations);
        for (part, before) in self.parts.iter().zip(before) {
            put_varint(&mut self.rows, (part.len() - before) as u64);
        }
    }

    /// The block as it is stored.
    pub(super) fn finish(&self, compressor: &mut Compressor<'_>) -> std::io::Result<Vec<u8>> {
        let [texts, relations] = &self.parts;
        if texts.len().max(relations.len()) > MOST_BYTES {
            return Err(std::io::Error::other(format!("the texts of chunk {} are too long", self.last)));
        }
        let (texts, relations) = (compressor.compress(texts)?, compressor.compress(relations)?);
        let mut out = Vec::with_capacity(self.rows.len() + texts.len() + relations.len() + 16);
        put_varint(&mut out, self.count);
        out.extend_from_slice(&self.rows);
        aurora_inverted::codec::put_sized(&mut out, &texts);
        out.extend_from_slice(&relations);
        Ok(out)
    }
}

/// A compressor for blocks.
pub(super) fn compressor() -> std::io::Result<Compressor<'static>> {
    Compressor::new(LEVEL)
}
