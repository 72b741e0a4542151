//! Writes the compressed blocks of a table. Appends blocks of new chunks, and rewrites blocks with many deleted chunks.

use roaring::RoaringBitmap;

use crate::error::StorageError;
use crate::read::{BlockBuilder, Frame, Snapshot};
use crate::tables::{Emit, Operation, Table, chunk_key};

/// Builds the blocks of a table, and returns each block when it is full.
pub(crate) struct CompressedBlockWriter<const PARTS: usize> {
    table: Table,
    open: Option<BlockBuilder<PARTS>>,
    closed: ClosedBlocks,
}

/// First and last id of every block that was closed.
pub(crate) type ClosedBlocks = Vec<(u32, u32)>;

impl<const PARTS: usize> CompressedBlockWriter<PARTS> {
    /// Creates a writer without an open block.
    pub(crate) fn new(table: Table) -> Self {
        Self { table, open: None, closed: Vec::new() }
    }

    /// Adds a chunk. `put` appends the chunk's content to each part. Ids must ascend. Returns the block if it is now
    /// full.
    pub(crate) fn push(
        &mut self,
        id: u32,
        put: impl FnOnce(&mut [Vec<u8>; PARTS]),
    ) -> Result<Option<Operation>, StorageError> {
        let open = self.open.get_or_insert_with(|| BlockBuilder::new(id));
        open.push(id, put).map_err(refused)?;
        if open.is_full() { self.finish() } else { Ok(None) }
    }

    /// Closes the open block, and returns it.
    pub(crate) fn finish(&mut self) -> Result<Option<Operation>, StorageError> {
        let Some(open) = self.open.take() else { return Ok(None) };
        self.closed.push((open.first(), open.last()));
        close(self.table, open).map(Some)
    }

    /// Returns the blocks that were closed since the last call.
    pub(crate) fn take_closed(&mut self) -> ClosedBlocks {
        std::mem::take(&mut self.closed)
    }
}

/// Removes the blocks of a table that have no live chunks. Examines the blocks in `closed`, which a writer has closed,
/// and the blocks of the base generation that contain chunks in `dead`. A block of the base with at most half of its
/// chunks live is rewritten without deleted chunks.
pub(crate) fn remove_dead_blocks<const PARTS: usize>(
    table: Table,
    closed: &ClosedBlocks,
    base: &Snapshot,
    live: &RoaringBitmap,
    dead: &RoaringBitmap,
    emit: Emit<'_>,
) -> Result<(), StorageError> {
    for &(first, last) in closed {
        if live.range_cardinality(first..=last) == 0 {
            emit(Operation::delete(table, chunk_key(first)))?;
        }
    }
    let mut end = 0;
    for id in dead.range(..base.manifest().next_chunk_id) {
        if id < end {
            continue;
        }
        let Some((first, block)) = base.block(table, id)? else { continue };
        let invalid = || base.damaged(format!("a block of table `{}` is invalid", table.name()));
        let frames = block.read::<PARTS>().ok_or_else(invalid)?;
        let ids: Vec<u32> = frames.iter().flat_map(Frame::ids).collect();
        end = ids.last().map_or(id, |last| *last).max(id) + 1;
        let alive = ids.iter().filter(|&&id| live.contains(id)).count();
        if alive == 0 {
            emit(Operation::delete(table, chunk_key(first)))?;
        } else if 2 * alive <= ids.len() {
            emit(shrink(table, base, first, &frames, live)?)?;
        }
    }
    Ok(())
}

/// Rewrites the block that consists of `frames`, without its deleted chunks.
fn shrink<const PARTS: usize>(
    table: Table,
    base: &Snapshot,
    first: u32,
    frames: &[Frame<'_, PARTS>],
    live: &RoaringBitmap,
) -> Result<Operation, StorageError> {
    let mut builder = BlockBuilder::new(first);
    for frame in frames {
        let mut read = Vec::with_capacity(PARTS);
        for part in 0..PARTS {
            read.push(base.check(frame.decompress(part))?);
        }
        for id in frame.ids().filter(|id| live.contains(*id)) {
            let pushed = builder.push(id, |parts: &mut [Vec<u8>; PARTS]| {
                for (part, (to, bytes)) in parts.iter_mut().zip(&read).enumerate() {
                    to.extend_from_slice(frame.range(id, part).map_or(&[], |range| &bytes[range]));
                }
            });
            pushed.map_err(refused)?;
        }
    }
    close(table, builder)
}

fn close<const PARTS: usize>(table: Table, block: BlockBuilder<PARTS>) -> Result<Operation, StorageError> {
    let key = chunk_key(block.first());
    Ok(Operation::put(table, key, block.finish().map_err(refused)?))
}

fn refused(error: std::io::Error) -> StorageError {
    StorageError::encode("compressed block", &error)
}
