//! Upper bounds of what a block of postings can score.

use crate::chunk::ChunkId;
use crate::codec::{Reader, put_varint};
use crate::field::FIELDS;

/// What holds for every posting of a block of at most 128 consecutive ones.
///
/// A term's weight grows with its frequency and falls with the length of the field, so that both
/// together bound the score of the block, whatever the average length is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BlockBound {
    /// First chunk of the block, dead or alive.
    pub first: ChunkId,
    /// Last chunk of the block, dead or alive.
    pub last: ChunkId,
    /// Highest frequency in every field.
    pub max_frequencies: [u16; FIELDS],
    /// Shortest field length, in terms, where the field holds the term; `u16::MAX` where none does.
    pub min_lengths: [u16; FIELDS],
}

/// The bounds without the ids.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Bounds {
    frequencies: [u16; FIELDS],
    lengths: [u16; FIELDS],
}

impl Default for Bounds {
    fn default() -> Self {
        Self { frequencies: [0; FIELDS], lengths: [u16::MAX; FIELDS] }
    }
}

impl Bounds {
    /// Widens the bounds so that they hold for a posting.
    pub(super) fn add(&mut self, frequencies: &[u16; FIELDS], lengths: &[u16; FIELDS]) {
        for field in 0..FIELDS {
            if frequencies[field] > 0 {
                self.frequencies[field] = self.frequencies[field].max(frequencies[field]);
                self.lengths[field] = self.lengths[field].min(lengths[field]);
            }
        }
    }

    /// Adds the ids.
    pub(super) fn between(self, first: ChunkId, last: ChunkId) -> BlockBound {
        BlockBound { first, last, max_frequencies: self.frequencies, min_lengths: self.lengths }
    }

    pub(super) fn encode(&self, out: &mut Vec<u8>) {
        let present = (0..FIELDS).filter(|&field| self.frequencies[field] > 0);
        out.push(present.clone().fold(0, |mask, field| mask | 1 << field));
        for field in present {
            put_varint(out, u64::from(self.frequencies[field]));
            put_varint(out, u64::from(self.lengths[field]));
        }
    }

    pub(super) fn decode(reader: &mut Reader<'_>) -> Option<Self> {
        let mask = reader.byte()?;
        let mut bounds = Self::default();
        for field in (0..FIELDS).filter(|field| mask >> field & 1 != 0) {
            bounds.frequencies[field] = reader.varint()?.try_into().ok()?;
            bounds.lengths[field] = reader.varint()?.try_into().ok()?;
        }
        Some(bounds)
    }
}
