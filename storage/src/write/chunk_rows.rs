//! Converts chunks into rows: records, source records, and blocks of contents.

use std::sync::Arc;

use roaring::RoaringBitmap;

use crate::column::ColumnDeclaration;
use crate::error::StorageError;
use crate::read::{
    CONTENT_PARTS, Chunk, ChunkId, NewChunk, Snapshot, SourceRecord, ValueRows, chunk, encode_relations, encode_text,
};
use crate::tables::{Emit, Operation, Table, chunk_key, collect};
use crate::write::compressed_blocks::{ClosedBlocks, CompressedBlockWriter, remove_dead_blocks};

/// The first chunk of a file that is stored in parts.
#[derive(Debug, Clone)]
pub struct FirstChunk {
    /// Id of the chunk.
    pub id: ChunkId,
    /// Key of the chunk.
    pub key: String,
}

/// Builds the rows of [`Table::Chunks`], [`Table::Sources`], [`Table::Content`] and [`Table::Blames`].
pub(crate) struct ChunkRows {
    columns: Arc<[ColumnDeclaration]>,
    content: CompressedBlockWriter<CONTENT_PARTS>,
    blames: CompressedBlockWriter<1>,
    /// Id and source record of the current file.
    source: Option<(u32, SourceRecord)>,
}

/// The blocks of contents and blames that a writer has closed.
#[derive(Debug, Default)]
pub(crate) struct ClosedRows {
    content: ClosedBlocks,
    blames: ClosedBlocks,
}

impl ChunkRows {
    /// Creates a builder without chunks. The rows do not contain the values of `columns`, which [`ValueRows`] writes.
    pub(crate) fn new(columns: Arc<[ColumnDeclaration]>) -> Self {
        let (content, blames) = (CompressedBlockWriter::new(Table::Content), CompressedBlockWriter::new(Table::Blames));
        Self { columns, content, blames, source: None }
    }

    /// Starts a new file. The next chunk belongs to it, even if the chunk has the path of the previous file.
    pub(crate) fn begin_file(&mut self) {
        self.source = None;
    }

    /// Starts a later part of a file. The next chunk, `chunk`, belongs to the file with this first chunk.
    pub(crate) fn continue_file(&mut self, first: &FirstChunk, chunk: &Chunk) {
        self.source = Some((first.id.0, SourceRecord::new(&first.key, &chunk.path, &chunk.language)));
    }

    /// Adds a chunk. Ids must ascend, and the chunks of a file must be consecutive.
    pub(crate) fn push(&mut self, id: u32, chunk: &NewChunk<'_>, emit: Emit<'_>) -> Result<(), StorageError> {
        let source = match self.source.take().filter(|(_, source)| source.is_source_of(chunk)) {
            Some(known) => known,
            None => {
                let source = SourceRecord::from_first_chunk(chunk);
                emit(Operation::put(Table::Sources, chunk_key(id), source.encode()?))?;
                (id, source)
            }
        };
        let (source_id, record) = &source;
        let is_own = |(name, _): &&(String, _)| !self.columns.iter().any(|column| column.name == *name);
        let own: Vec<_> = chunk.metadata.iter().filter(is_own).cloned().collect();
        let chunk = &NewChunk { metadata: &own, ..*chunk };
        emit(Operation::put(Table::Chunks, chunk_key(id), chunk::encode(chunk, *source_id, record)?))?;
        let key_base = record.key_base();
        let full = self.content.push(id, |[texts, relations]| {
            encode_text(texts, chunk);
            encode_relations(relations, chunk, &key_base);
        })?;
        self.source = Some(source);
        full.into_iter().try_for_each(emit)
    }

    /// Adds the blame of a file, encoded by [`crate::read::blame::encode`]. `first` is the first chunk of the file, and
    /// must ascend from call to call.
    pub(crate) fn push_blame(&mut self, first: u32, blame: &[u8], emit: Emit<'_>) -> Result<(), StorageError> {
        let full = self.blames.push(first, |[bytes]| bytes.extend_from_slice(blame))?;
        full.into_iter().try_for_each(emit)
    }

    /// Emits the last blocks.
    pub(crate) fn finish(&mut self, emit: Emit<'_>) -> Result<(), StorageError> {
        let last = [self.content.finish()?, self.blames.finish()?];
        last.into_iter().flatten().try_for_each(emit)
    }

    /// Returns the blocks that were closed since the last call.
    pub(crate) fn take_closed(&mut self) -> ClosedRows {
        ClosedRows { content: self.content.take_closed(), blames: self.blames.take_closed() }
    }
}

/// Consecutive chunks of a new index, and other rows that are written before the rows of these chunks.
pub(crate) struct ChunkBatch {
    first: u32,
    chunks: Vec<Chunk>,
    /// Id and source record of the last file before this batch. The first chunk may belong to the same file.
    source: Option<(u32, SourceRecord)>,
    others: Vec<Operation>,
}

impl ChunkBatch {
    /// Creates a batch that has only rows and no chunks.
    pub(crate) fn without_chunks(others: Vec<Operation>) -> Self {
        Self { first: 0, chunks: Vec::new(), source: None, others }
    }

    /// Builds all rows. Blocks of contents do not span batches, so the batches can be built independently.
    pub(crate) fn rows(self, columns: &Arc<[ColumnDeclaration]>) -> Result<Vec<Operation>, StorageError> {
        let mut rows = ChunkRows { source: self.source, ..ChunkRows::new(Arc::clone(columns)) };
        let mut operations = self.others;
        let mut emit = collect(&mut operations);
        for (id, chunk) in (self.first..).zip(&self.chunks) {
            rows.push(id, &NewChunk::from(chunk), &mut emit)?;
        }
        rows.finish(&mut emit)?;
        drop(emit);
        Ok(operations)
    }
}

/// Divides the chunks of a new index into batches whose rows can be built independently.
pub(crate) struct ChunkBatches {
    values: ValueRows,
    source: Option<(u32, SourceRecord)>,
    /// Id that the next chunk will get.
    next: u32,
}

impl ChunkBatches {
    /// Creates batches that start at the first chunk of the index.
    pub(crate) fn new(columns: &Arc<[ColumnDeclaration]>) -> Self {
        Self { values: ValueRows::new(Arc::clone(columns), None), source: None, next: 0 }
    }

    /// Returns a batch of the next chunks, which also contains the blocks of values that are now complete.
    pub(crate) fn push(&mut self, chunks: Vec<Chunk>) -> Result<ChunkBatch, StorageError> {
        let (first, source, mut others) = (self.next, self.source.clone(), Vec::new());
        for chunk in &chunks {
            self.values.push(self.next, &chunk.metadata, &mut collect(&mut others))?;
            if !self.source.as_ref().is_some_and(|(_, source)| source.is_source_of(chunk)) {
                self.source = Some((self.next, SourceRecord::from_first_chunk(chunk)));
            }
            self.next += 1;
        }
        Ok(ChunkBatch { first, chunks, source, others })
    }

    /// Emits the last blocks of values.
    pub(crate) fn finish(&mut self, emit: Emit<'_>) -> Result<(), StorageError> {
        self.values.finish(emit)
    }
}

impl ClosedRows {
    /// Adds the blocks of `others`.
    pub(crate) fn append(&mut self, others: &mut Self) {
        self.content.append(&mut others.content);
        self.blames.append(&mut others.blames);
    }

    /// Removes blocks without live chunks, and rewrites blocks of the base generation with at most half of their chunks
    /// live. `dead_firsts` contains the first chunk of each file whose chunks are in `dead`.
    pub(crate) fn remove_dead(
        &self,
        base: &Snapshot,
        live: &RoaringBitmap,
        dead: &RoaringBitmap,
        dead_firsts: &RoaringBitmap,
        emit: Emit<'_>,
    ) -> Result<(), StorageError> {
        remove_dead_blocks::<CONTENT_PARTS>(Table::Content, &self.content, base, live, dead, emit)?;
        remove_dead_blocks::<1>(Table::Blames, &self.blames, base, live, dead_firsts, emit)
    }
}
