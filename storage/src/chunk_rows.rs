//! From chunks to rows: records, source records, values of custom columns, and blocks of contents.

use std::sync::Arc;

use roaring::RoaringBitmap;

use crate::block_writer::CompressedBlockWriter;
use crate::chunk::{self, NewChunk, SourceRecord};
use crate::column::ColumnDeclaration;
use crate::content::{CONTENT_PARTS, encode_relations, encode_text};
use crate::error::StorageError;
use crate::snapshot::Snapshot;
use crate::tables::{Emit, Operation, Table, chunk_key};
use crate::values::ValueRows;

/// Makes the rows of [`Table::Chunks`], [`Table::Sources`], [`Table::Values`], [`Table::Content`] and [`Table::Blames`].
pub(crate) struct ChunkRows {
    content: CompressedBlockWriter<CONTENT_PARTS>,
    blames: CompressedBlockWriter<1>,
    pub(crate) values: ValueRows,
    /// Id and source record of the file at hand.
    source: Option<(u32, SourceRecord)>,
}

impl ChunkRows {
    /// Rows of chunks with `columns`, which change the generation `base`.
    pub(crate) fn new(columns: Arc<[ColumnDeclaration]>, base: Option<Snapshot>) -> Result<Self, StorageError> {
        let (content, blames) =
            (CompressedBlockWriter::new(Table::Content)?, CompressedBlockWriter::new(Table::Blames)?);
        Ok(Self { content, blames, values: ValueRows::new(columns, base), source: None })
    }

    /// Has the next chunk begin another file, even if that has the path of the one before.
    pub(crate) fn begin_file(&mut self) {
        self.source = None;
    }

    /// Adds a chunk. Ids ascend, and the chunks of a file come one after another.
    pub(crate) fn push(&mut self, id: u32, chunk: &NewChunk<'_>, emit: Emit<'_>) -> Result<(), StorageError> {
        let source = match self.source.take().filter(|(_, source)| source.holds(chunk)) {
            Some(known) => known,
            None => {
                let source = SourceRecord::of(chunk);
                emit(Operation::put(Table::Sources, chunk_key(id), source.encode()?))?;
                (id, source)
            }
        };
        let (source_id, record) = &source;
        self.values.push(id, chunk.metadata, emit)?;
        let is_own = |(name, _): &&(String, _)| !self.values.has_column(name);
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

    /// Adds the blame of a file, as [`crate::blame::encode`] gave it. The ids of the files' first chunks ascend.
    pub(crate) fn push_blame(&mut self, first: u32, blame: &[u8], emit: Emit<'_>) -> Result<(), StorageError> {
        let full = self.blames.push(first, |[bytes]| bytes.extend_from_slice(blame))?;
        full.into_iter().try_for_each(emit)
    }

    /// Closes the last blocks.
    pub(crate) fn finish(&mut self, emit: Emit<'_>) -> Result<(), StorageError> {
        self.values.finish(emit)?;
        let last = [self.content.finish()?, self.blames.finish()?];
        last.into_iter().flatten().try_for_each(emit)
    }

    /// Removes blocks of which nothing is alive, and writes those again of which at most half is; `dead_firsts` are the first
    /// chunks of the files that `dead` are of.
    pub(crate) fn remove(
        &mut self,
        base: &Snapshot,
        live: &RoaringBitmap,
        dead: &RoaringBitmap,
        dead_firsts: &RoaringBitmap,
        emit: Emit<'_>,
    ) -> Result<(), StorageError> {
        self.content.remove(base, live, dead, emit)?;
        self.blames.remove(base, live, dead_firsts, emit)
    }
}
