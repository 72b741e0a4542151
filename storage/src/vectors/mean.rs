//! The mean of some vectors.

use super::block::{BLOCK_IDS, VectorBlock};
use crate::btree::Damage;
use crate::chunk::ChunkId;

/// The sum of the vectors that were added.
pub(super) struct Mean {
    sum: Vec<f32>,
    row: Vec<u8>,
}

impl Mean {
    /// Nothing is added yet.
    pub(super) fn new(dimensions: usize) -> Self {
        Self { sum: vec![0.0; dimensions], row: Vec::new() }
    }

    /// The number of the block that has the vector of a chunk.
    pub(super) fn block_of(chunk: ChunkId) -> u32 {
        chunk.0 / BLOCK_IDS
    }

    /// Adds the vector that a block has of a chunk, if it has one of as many dimensions.
    pub(super) fn add(&mut self, block: &VectorBlock<'_>, chunk: ChunkId) -> Result<(), Damage> {
        let Some(order) = block.order_of((chunk.0 % BLOCK_IDS) as usize) else { return Ok(()) };
        if block.dimensions == self.sum.len() {
            let scale = block.read(order, &mut self.row)?;
            self.sum.iter_mut().zip(&self.row).for_each(|(sum, &value)| *sum += f32::from(value as i8) * scale);
        }
        Ok(())
    }

    /// The cosine of a vector of length 1 with the mean; `None` if that is zero.
    pub(super) fn cosine(&self, query: &[f32]) -> Option<f32> {
        let length = self.sum.iter().map(|value| value * value).sum::<f32>().sqrt();
        let product = self.sum.iter().zip(query).map(|(a, b)| a * b).sum::<f32>();
        (length > 0.0).then(|| (product / length).clamp(-1.0, 1.0))
    }
}
