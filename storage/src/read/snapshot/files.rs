//! The id ranges of files.

use std::ops::Range;

use aurora_lmdb_pages::Cursor;

use super::Snapshot;
use crate::error::StorageError;
use crate::read::chunk::ChunkId;
use crate::tables::{Table, chunk_key};

impl Snapshot {
    /// Returns the range of ids from the first to the last chunk of a live chunk's file. A file has consecutive ids, so
    /// all live chunks in the range belong to the file.
    ///
    /// # Errors
    /// The table of source records is damaged.
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
}
