//! Writes the compressed blocks of a table: appends what new chunks have of each part, and shrinks blocks of a generation.

use roaring::RoaringBitmap;
use zstd::bulk::Compressor;

use crate::content::{BlockBuilder, Frame, compressor};
use crate::error::StorageError;
use crate::snapshot::Snapshot;
use crate::tables::{Emit, Operation, Table, chunk_key};

/// Gathers the blocks of a table, and gives one whenever it is full.
pub(crate) struct CompressedBlockWriter<const PARTS: usize> {
    table: Table,
    compressor: Compressor<'static>,
    open: Option<BlockBuilder<PARTS>>,
    /// First and last id of every block that was closed.
    closed: Vec<(u32, u32)>,
}

impl<const PARTS: usize> CompressedBlockWriter<PARTS> {
    /// Starts without a block.
    pub(crate) fn new(table: Table) -> Result<Self, StorageError> {
        Ok(Self { table, compressor: compressor().map_err(refused)?, open: None, closed: Vec::new() })
    }

    /// Adds a chunk, of which `put` appends each part. Ids must ascend. Returns a block that is full now.
    pub(crate) fn push(
        &mut self,
        id: u32,
        put: impl FnOnce(&mut [Vec<u8>; PARTS]),
    ) -> Result<Option<Operation>, StorageError> {
        let open = self.open.get_or_insert_with(|| BlockBuilder::new(id));
        open.push(id, &mut self.compressor, put).map_err(refused)?;
        if open.is_full() { self.finish() } else { Ok(None) }
    }

    /// Closes the block that is open.
    pub(crate) fn finish(&mut self) -> Result<Option<Operation>, StorageError> {
        let Some(open) = self.open.take() else { return Ok(None) };
        self.closed.push((open.first(), open.last()));
        self.close(open).map(Some)
    }

    /// Removes the blocks of which nothing is alive, and writes those again of which at most half is: blocks of this writer, and
    /// those of a generation that chunks in `dead` are in.
    pub(crate) fn remove(
        &mut self,
        base: &Snapshot,
        live: &RoaringBitmap,
        dead: &RoaringBitmap,
        emit: Emit<'_>,
    ) -> Result<(), StorageError> {
        for &(first, last) in &self.closed {
            if live.range_cardinality(first..=last) == 0 {
                emit(Operation::delete(self.table, chunk_key(first)))?;
            }
        }
        let mut end = 0;
        for id in dead.range(..base.manifest().next_chunk_id) {
            if id < end {
                continue;
            }
            let Some((first, block)) = base.block(self.table, id)? else { continue };
            let invalid = || base.damaged(format!("a block of table `{}` is invalid", self.table.name()));
            let frames = block.read::<PARTS>().ok_or_else(invalid)?;
            let ids: Vec<u32> = frames.iter().flat_map(Frame::ids).collect();
            end = ids.last().map_or(id, |last| *last).max(id) + 1;
            let alive = ids.iter().filter(|&&id| live.contains(id)).count();
            if alive == 0 {
                emit(Operation::delete(self.table, chunk_key(first)))?;
            } else if 2 * alive <= ids.len() {
                emit(self.shrink(base, first, &frames, live)?)?;
            }
        }
        Ok(())
    }

    /// The block with these frames without the chunks that are not alive.
    fn shrink(
        &mut self,
        base: &Snapshot,
        first: u32,
        frames: &[Frame<'_, PARTS>],
        live: &RoaringBitmap,
    ) -> Result<Operation, StorageError> {
        let mut builder = BlockBuilder::new(first);
        for frame in frames {
            let mut read = Vec::with_capacity(PARTS);
            for part in 0..PARTS {
                read.push(frame.decompress(part).map_err(|damage| base.wrap(damage))?);
            }
            for id in frame.ids().filter(|id| live.contains(*id)) {
                let pushed = builder.push(id, &mut self.compressor, |parts: &mut [Vec<u8>; PARTS]| {
                    for (part, (to, bytes)) in parts.iter_mut().zip(&read).enumerate() {
                        to.extend_from_slice(frame.place(id, part).map_or(&[], |place| &bytes[place]));
                    }
                });
                pushed.map_err(refused)?;
            }
        }
        self.close(builder)
    }

    fn close(&mut self, block: BlockBuilder<PARTS>) -> Result<Operation, StorageError> {
        let key = chunk_key(block.first());
        let value = block.finish(&mut self.compressor).map_err(refused)?;
        Ok(Operation::put(self.table, key, value))
    }
}

fn refused(error: std::io::Error) -> StorageError {
    StorageError::encode("compressed block", &error)
}
