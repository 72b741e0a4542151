//! From chunks to rows: records, source records, and blocks of contents.

use roaring::RoaringBitmap;

use crate::chunk::{self, Chunk, SourceRecord};
use crate::content::{Block, ContentWriter};
use crate::error::StorageError;
use crate::snapshot::Snapshot;
use crate::tables::{Emit, Operation, Table, chunk_key};

/// Makes the rows of [`Table::Chunks`], [`Table::Sources`] and [`Table::Content`].
pub(crate) struct ChunkRows {
    content: ContentWriter,
    /// Id and source record of the file at hand.
    source: Option<(u32, SourceRecord)>,
}

impl ChunkRows {
    pub(crate) fn new() -> Result<Self, StorageError> {
        Ok(Self { content: ContentWriter::new()?, source: None })
    }

    /// Has the next chunk begin another file, even if that has the path of the one before.
    pub(crate) fn begin_file(&mut self) {
        self.source = None;
    }

    /// Adds a chunk. Ids ascend, and the chunks of a file come one after another.
    pub(crate) fn push(&mut self, id: u32, chunk: &Chunk, emit: Emit<'_>) -> Result<(), StorageError> {
        let source = match self.source.take().filter(|(_, source)| source.holds(chunk)) {
            Some(known) => known,
            None => {
                let source = SourceRecord::of(chunk);
                emit(Operation::put(Table::Sources, chunk_key(id), source.encode()?))?;
                (id, source)
            }
        };
        let (source_id, record) = &source;
        emit(Operation::put(Table::Chunks, chunk_key(id), chunk::encode(chunk, *source_id, record)?))?;
        let full = self.content.push(id, chunk, &record.key_base())?;
        self.source = Some(source);
        full.into_iter().try_for_each(emit)
    }

    /// Closes the last block.
    pub(crate) fn finish(&mut self, emit: Emit<'_>) -> Result<(), StorageError> {
        self.content.finish()?.into_iter().try_for_each(emit)
    }

    /// First and last id of every block of contents that was given.
    pub(crate) fn blocks(&self) -> &[(u32, u32)] {
        self.content.closed()
    }

    /// A block of a generation without the chunks that are not in `live`.
    pub(crate) fn shrink_block(
        &mut self,
        first: u32,
        block: &Block<'_>,
        live: &RoaringBitmap,
        snapshot: &Snapshot,
    ) -> Result<Operation, StorageError> {
        self.content.shrink(first, block, |id| live.contains(id), |damage| snapshot.wrap(damage))
    }
}
