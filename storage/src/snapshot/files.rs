//! Files: where their chunks are, and what stands for them.

use std::ops::Range;

use super::Snapshot;
use crate::btree::Cursor;
use crate::chunk::ChunkId;
use crate::error::StorageError;
use crate::representation::{FileRepresentation, no_representation};
use crate::tables::{Table, chunk_key};

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

    /// What stands for a file as a whole, given the id of its first chunk.
    ///
    /// # Errors
    /// When the index is damaged.
    pub fn representation(&self, first: ChunkId) -> Result<FileRepresentation<'_>, StorageError> {
        let row = self.get(Table::Representations, &chunk_key(first.0))?;
        row.and_then(FileRepresentation::decode).ok_or_else(|| self.damaged(no_representation(first.0)))
    }

    /// The same as bytes, as it follows from the chunks with their vectors of the current model.
    pub(crate) fn encoded_representation(&self, first: ChunkId) -> Result<&[u8], StorageError> {
        let dimensions = self.manifest().model.as_ref().map(|model| model.dimensions);
        let row = self.get(Table::Representations, &chunk_key(first.0))?;
        let read = row.and_then(|row| Some(FileRepresentation::decode(row)?.of_model(row, dimensions)));
        read.ok_or_else(|| self.damaged(no_representation(first.0)))
    }
}
