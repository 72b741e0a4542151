//! The exact scan for the nearest vectors.

use roaring::RoaringBitmap;

use super::block::VectorBlock;
use super::kernel::dot;
use crate::lengths::BLOCK_IDS;

/// A vector that may be among the nearest.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Candidate {
    /// Number of the chunk.
    pub(crate) chunk: u32,
    /// Dot product in signed bytes × the scale of the vector.
    pub(crate) score: f32,
}

/// Scores every allowed vector of a block.
pub(crate) fn scan(
    block: u32,
    vectors: &VectorBlock<'_>,
    query: &[i8],
    allowed: &RoaringBitmap,
    out: &mut Vec<Candidate>,
) {
    let first = block * BLOCK_IDS;
    let mut mask = [false; BLOCK_IDS as usize];
    for chunk in allowed.range(first..=first + (BLOCK_IDS - 1)) {
        mask[(chunk - first) as usize] = true;
    }
    for (index, scale, row) in vectors.iter() {
        if mask[index] {
            let score = dot(query, row) as f32 * scale;
            out.push(Candidate { chunk: first + index as u32, score });
        }
    }
}
