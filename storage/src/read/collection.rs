//! Implements [`Collection`] for snapshots, so that keyword search can run on them.

use std::borrow::Cow;

use aurora_inverted::{Collection, LengthColumns, Tombstones};

use crate::error::StorageError;
use crate::read::chunk::ChunkId;
use crate::read::snapshot::Snapshot;

impl Collection for Snapshot {
    type Error = StorageError;

    fn end(&self) -> u32 {
        self.manifest().next_chunk_id
    }

    fn tombstones(&self) -> &Tombstones {
        Self::tombstones(self)
    }

    fn window_lengths(&self, window: u32) -> Result<LengthColumns<'_>, StorageError> {
        Self::window_lengths(self, window)
    }

    fn key(&self, chunk: ChunkId) -> Result<Cow<'_, str>, StorageError> {
        Ok(self.chunk(chunk)?.map(|chunk| chunk.key()).unwrap_or_default())
    }
}
