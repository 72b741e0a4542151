//! The chunks of one file together.

use std::ops::Range;

use super::Snapshot;
use crate::btree::Cursor;
use crate::chunk::ChunkId;
use crate::error::StorageError;
use crate::tables::{Table, chunk_key};
use crate::vectors::Mean;

impl Snapshot {
    /// Ids from the first chunk of a live chunk's file to behind its last one. All that are live are chunks of the file: it
    /// has consecutive ids.
    ///
    /// # Errors
    /// When the table of source records is damaged.
    pub fn file_range(&self, chunk: ChunkId) -> Result<Range<u32>, StorageError> {
        let no_key = || self.damaged(format!("chunk {chunk} belongs to no file"));
        let number = |key: &[u8]| key.try_into().map(u64::from_be_bytes).ok().and_then(|id| u32::try_from(id).ok());
        let (pages, tree) = (self.pages(), self.tree(Table::Sources));
        let first = Cursor::floor(pages, tree, &chunk_key(chunk.0)).map_err(|damage| self.wrap(damage))?;
        let first = first.and_then(|(key, _)| number(key)).ok_or_else(no_key)?;
        let next = Cursor::seek(pages, tree, &chunk_key(chunk.0.saturating_add(1)));
        let next = next.and_then(|cursor| cursor.key()).map_err(|damage| self.wrap(damage))?;
        let end = next.map_or(Some(self.manifest().next_chunk_id), number).ok_or_else(no_key)?;
        Ok(first..end.min(self.manifest().next_chunk_id))
    }

    /// The cosine of a query with the mean of the vectors of some live chunks, in ascending order; `None` when none of them has
    /// a vector of as many dimensions, or their sum is zero.
    ///
    /// # Errors
    /// When a block of vectors is damaged.
    pub fn similarity_to_mean(&self, chunks: &[ChunkId], query: &[f32]) -> Result<Option<f32>, StorageError> {
        let mut mean = Mean::new(query.len());
        for chunks in chunks.chunk_by(|a, b| Mean::block_of(*a) == Mean::block_of(*b)) {
            let Some(block) = self.vectors(Mean::block_of(chunks[0]))? else { continue };
            chunks.iter().try_for_each(|&chunk| mean.add(&block, chunk)).map_err(|damage| self.wrap(damage))?;
        }
        Ok(mean.cosine(query))
    }
}
