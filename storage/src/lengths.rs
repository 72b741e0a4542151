//! Field lengths: a block of six saturating 16-bit numbers for each of 1,024 chunk ids.

use crate::chunk::ChunkId;
use crate::field::FIELDS;
use crate::postings::{PostingBatch, Words};

/// Chunk ids in a block of lengths or vectors.
pub(crate) const BLOCK_IDS: u32 = 1024;
/// Bytes of one row.
const ROW: usize = 2 * FIELDS;

/// The field lengths of all chunks of a generation, for whoever asks for many.
#[derive(Debug)]
pub struct FieldLengths<'s> {
    blocks: Vec<&'s [[u8; ROW]]>,
}

impl<'s> FieldLengths<'s> {
    pub(crate) fn new(blocks: impl Iterator<Item = &'s [u8]>) -> Self {
        Self { blocks: blocks.map(|block| block.as_chunks().0).collect() }
    }

    /// As [`crate::Snapshot::field_lengths`].
    #[inline]
    pub fn of(&self, id: ChunkId) -> [u16; FIELDS] {
        let block = self.blocks.get((id.0 / BLOCK_IDS) as usize).copied().unwrap_or_default();
        block.get((id.0 % BLOCK_IDS) as usize).map_or([0; FIELDS], row_of)
    }

    /// Looks up the lengths of all chunks of a batch. Their rows lie far from each other: it takes as long to wait for one
    /// as to score it, but here many are waited for together.
    pub fn fill(&self, batch: &mut PostingBatch) {
        batch.set_lengths(|id| {
            let block = self.blocks.get((id / BLOCK_IDS) as usize).copied().unwrap_or_default();
            let Some(row) = block.get((id % BLOCK_IDS) as usize) else { return Words::default() };
            let words = row.as_chunks().0;
            std::array::from_fn(|at| words.get(at).map_or(0, |word| u32::from_le_bytes(*word)))
        });
    }
}

/// Appends the rows of a block, from its first id on.
pub(crate) fn encode(out: &mut Vec<u8>, rows: &[[u16; FIELDS]]) {
    for length in rows.as_flattened() {
        out.extend_from_slice(&length.to_le_bytes());
    }
}

/// The row of one id, by its place in the block; zeros where there is none.
#[inline]
pub(crate) fn row(block: &[u8], index: usize) -> [u16; FIELDS] {
    block.as_chunks().0.get(index).map_or([0; FIELDS], row_of)
}

#[inline]
fn row_of(bytes: &[u8; ROW]) -> [u16; FIELDS] {
    let mut lengths = [0; FIELDS];
    for (length, bytes) in lengths.iter_mut().zip(bytes.as_chunks().0) {
        *length = u16::from_le_bytes(*bytes);
    }
    lengths
}

/// All rows of a block; `None` when its size is no whole number of rows, or too many.
pub(crate) fn rows(block: &[u8]) -> Option<Vec<[u16; FIELDS]>> {
    let count = block.len() / ROW;
    let sound = block.len().is_multiple_of(ROW) && count <= BLOCK_IDS as usize;
    sound.then(|| (0..count).map(|index| row(block, index)).collect())
}

/// Lengths as they are stored: each saturates at `u16::MAX`.
pub(crate) fn saturate(lengths: [u32; FIELDS]) -> [u16; FIELDS] {
    lengths.map(|length| length.try_into().unwrap_or(u16::MAX))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn rows_come_back(written in prop::collection::vec(any::<[u16; FIELDS]>(), 0..40)) {
            let mut bytes = Vec::new();
            encode(&mut bytes, &written);
            prop_assert_eq!(rows(&bytes), Some(written.clone()));
            prop_assert_eq!(row(&bytes, written.len()), [0; FIELDS]);
        }
    }
}
