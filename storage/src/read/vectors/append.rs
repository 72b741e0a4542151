//! Appends the vectors of new chunks, block by block.

use super::block::{BLOCK_IDS, EncodedVectors, VectorBlockWriter};
use crate::error::StorageError;
use crate::read::snapshot::Snapshot;
use crate::tables::Operation;

/// Receives operations that are committed in one transaction.
pub(crate) type EmitTogether<'e> = &'e mut dyn FnMut(Vec<Operation>) -> Result<(), StorageError>;

/// Collects the vectors of one block at a time.
///
/// The first block may also contain vectors of the base generation. These vectors are included in the new version of
/// the block. The block can therefore be written before the new generation is published, and readers of the base
/// generation still find their vectors.
pub(crate) struct VectorAppender {
    base: Snapshot,
    /// Number of dimensions of the announced vectors. If no vectors have been announced, number of dimensions of the
    /// vectors in the index.
    dimensions: Option<usize>,
    /// Whether vectors have been announced with [`VectorAppender::announce`].
    is_announced: bool,
    open: Option<(u32, VectorBlockWriter)>,
}

impl VectorAppender {
    /// Creates an appender for ids after those of a generation.
    pub(crate) fn new(base: &Snapshot) -> Result<Self, StorageError> {
        let dimensions = base.manifest().model.as_ref().map(|model| model.dimensions);
        Ok(Self { base: base.clone(), dimensions, is_announced: false, open: None })
    }

    /// Number of dimensions of the announced vectors; `None` if no vectors have been announced.
    pub(crate) fn announced_dimensions(&self) -> Option<usize> {
        self.dimensions.filter(|_| self.is_announced)
    }

    /// Announces vectors with `dimensions` dimensions. Returns the first id that can have such a vector: `next_id`, or
    /// the first id of the next block if the vectors in the index have a different number of dimensions.
    pub(crate) fn announce(&mut self, dimensions: usize, next_id: u32) -> Result<u32, StorageError> {
        let known = self.dimensions.replace(dimensions);
        if dimensions == 0 || self.is_announced && known != Some(dimensions) {
            return Err(StorageError::Refused(format!(
                "a vector of {dimensions} dimensions cannot be stored with vectors of {}",
                known.unwrap_or(0)
            )));
        }
        let moved = !self.is_announced && known.is_some_and(|known| known != dimensions);
        self.is_announced = true;
        if moved { Ok(next_id.checked_next_multiple_of(BLOCK_IDS).unwrap_or(u32::MAX)) } else { Ok(next_id) }
    }

    /// Adds the vectors of `ids`, which must ascend and be greater than the previous ids.
    pub(crate) fn push(
        &mut self,
        ids: &[u32],
        vectors: &EncodedVectors,
        emit: EmitTogether<'_>,
    ) -> Result<(), StorageError> {
        let mut start = 0;
        for of_block in ids.chunk_by(|a, b| a / BLOCK_IDS == b / BLOCK_IDS) {
            let block = of_block[0] / BLOCK_IDS;
            if self.open.as_ref().is_some_and(|(open, _)| *open != block) {
                self.finish(emit)?;
            }
            if self.open.is_none() {
                self.open = Some((block, self.begin(block, self.dimensions.unwrap_or(0))?));
            }
            let range = start..start + of_block.len();
            start = range.end;
            if let Some((_, writer)) = &mut self.open {
                writer.extend(of_block.iter().map(|id| (id % BLOCK_IDS) as usize), vectors, range);
            }
        }
        Ok(())
    }

    /// Writes the open block. A block is stored as two values (see [`VectorBlockWriter::operations`]). Both are written
    /// in one transaction, because the published generation may contain an earlier version of the block. If each value
    /// had its own transaction, a reader that opens the index between the two transactions, or after a crash between
    /// them, would find values that do not match.
    pub(crate) fn finish(&mut self, emit: EmitTogether<'_>) -> Result<(), StorageError> {
        match self.open.take() {
            Some((block, writer)) => emit(writer.operations(block)),
            None => Ok(()),
        }
    }

    /// Starts a block with the vectors that the base generation has in it.
    fn begin(&self, block: u32, dimensions: usize) -> Result<VectorBlockWriter, StorageError> {
        let mut writer = VectorBlockWriter::new(dimensions);
        let first_new = self.base.manifest().next_chunk_id;
        if block * BLOCK_IDS >= first_new {
            return Ok(writer);
        }
        let stored = self.base.vectors(block)?.filter(|stored| stored.dimensions == dimensions);
        for row in stored.iter().flat_map(|stored| stored.iter()) {
            let (index, (scale, row)) = self.base.check(row)?;
            if block * BLOCK_IDS + (index as u32) < first_new {
                writer.push(index, scale, &row);
            }
        }
        Ok(writer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::environment::Environment;
    use crate::opening::OpenMode;
    use crate::write::commit::Committer;
    use crate::write::options::WriterOptions;

    #[test]
    fn both_values_of_a_block_are_written_in_one_transaction() {
        let directory = tempfile::tempdir().expect("a temporary directory can be created");
        let environment = Environment::open(directory.path(), OpenMode::Create).expect("the index can be opened");
        drop(environment.writer(WriterOptions::default()).expect("the writer can create the tables"));
        let base = environment.snapshot().expect("the index can be opened");
        // Every operation exceeds the size limit of a transaction.
        let mut committer = Committer::new(&base, 1);
        let mut appender = VectorAppender::new(&base).expect("the appender can be created");
        assert_eq!(appender.announce(4, 0).expect("the dimensions are accepted"), 0);
        let mut vectors = EncodedVectors::default();
        vectors.push(1.0, &[1, 2, 3, 4]);
        appender
            .push(&[0], &vectors, &mut |operations| committer.push_together(operations))
            .expect("the operations can be written");
        appender.finish(&mut |operations| committer.push_together(operations)).expect("the operations can be written");
        committer.finish().expect("the transaction can be committed");
        let after = environment.snapshot().expect("the index can be opened");
        assert_eq!(after.meta().transaction, base.meta().transaction + 1);
    }
}
