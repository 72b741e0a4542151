//! The chunks of a generation: records in place, texts and relations from blocks of contents.

use super::Snapshot;
use crate::btree::Cursor;
use crate::chunk::{self, ArchivedSourceRecord, Chunk, ChunkId, ChunkRecord, ChunkText, Relations, SourceRecord};
use crate::content::{Block, Part, decode_relations, decode_text};
use crate::error::StorageError;
use crate::label::Label;
use crate::tables::{Table, chunk_key};

impl Snapshot {
    /// The record of a live chunk, in place.
    ///
    /// # Errors
    /// When the index is damaged.
    pub fn chunk(&self, id: ChunkId) -> Result<Option<ChunkRecord<'_>>, StorageError> {
        let file = self.pages().bytes;
        let record = match self.inner.records.get(id.0, file) {
            Some(known) => known,
            None if !self.inner.live.contains(id.0) => return Ok(None),
            None => {
                let read = self.get(Table::Chunks, &chunk_key(id.0))?.and_then(chunk::decode);
                let record = read.ok_or_else(|| self.damaged(format!("chunk {id} has no valid record")))?;
                self.inner.records.keep(id.0, file, record);
                record
            }
        };
        Ok(Some(ChunkRecord::new(record, self.source(record.source())?)))
    }

    /// The source record that stands under the id of a file's first chunk.
    pub(crate) fn source(&self, first: u32) -> Result<&ArchivedSourceRecord, StorageError> {
        let file = self.pages().bytes;
        if let Some(known) = self.inner.sources.get(first, file) {
            return Ok(known);
        }
        let read = self.get(Table::Sources, &chunk_key(first))?.and_then(SourceRecord::decode);
        let record =
            read.ok_or_else(|| self.damaged(format!("the file of chunk {first} has no valid source record")))?;
        self.inner.sources.keep(first, file, record);
        Ok(record)
    }

    /// The texts of a live chunk.
    ///
    /// # Errors
    /// When the index is damaged.
    pub fn text(&self, id: ChunkId) -> Result<Option<ChunkText>, StorageError> {
        self.content(id, Part::Texts, decode_text)
    }

    /// What a live chunk refers to.
    ///
    /// # Errors
    /// When the index is damaged.
    pub fn relations(&self, id: ChunkId) -> Result<Option<Relations>, StorageError> {
        let Some(record) = self.chunk(id)? else { return Ok(None) };
        let key_base = [record.key_head(), record.path()].concat();
        self.content(id, Part::Relations, |bytes| decode_relations(bytes, &key_base))
    }

    /// All that is stored of a live chunk.
    ///
    /// # Errors
    /// When the index is damaged.
    pub fn whole_chunk(&self, id: ChunkId) -> Result<Option<Chunk>, StorageError> {
        let (Some(record), Some(texts), Some(relations)) = (self.chunk(id)?, self.text(id)?, self.relations(id)?)
        else {
            return Ok(None);
        };
        let mut chunk = record.to_chunk();
        chunk.set_content(texts, relations, record.times());
        Ok(Some(chunk))
    }

    /// Reads a part of the content of a live chunk.
    fn content<T>(
        &self,
        id: ChunkId,
        part: Part,
        decode: impl FnOnce(&[u8]) -> Option<T>,
    ) -> Result<Option<T>, StorageError> {
        if !self.inner.live.contains(id.0) {
            return Ok(None);
        }
        let missing = || self.damaged(format!("chunk {id} has no valid content"));
        let (first, block) = self.content_block(id.0)?.ok_or_else(missing)?;
        let place = block.place(id.0, part).ok_or_else(missing)?;
        let decompress = || block.decompress(part).map_err(|damage| self.wrap(damage));
        let bytes = self.inner.blocks.get(first, part, decompress)?;
        bytes.get(place).and_then(decode).map(Some).ok_or_else(missing)
    }

    /// Key and block in which the content of a chunk would stand.
    pub(crate) fn content_block(&self, id: u32) -> Result<Option<(u32, Block<'_>)>, StorageError> {
        let found = Cursor::floor(self.pages(), self.tree(Table::Content), &chunk_key(id));
        let Some((key, value)) = found.map_err(|damage| self.wrap(damage))? else { return Ok(None) };
        let first = key.try_into().map(u64::from_be_bytes).ok().and_then(|first| u32::try_from(first).ok());
        let block = first.and_then(|first| Some((first, Block::decode(first, value)?)));
        block.map(Some).ok_or_else(|| self.damaged("a block of contents is invalid".to_owned()))
    }

    /// The chunk with a key.
    ///
    /// # Errors
    /// When the index is damaged.
    pub fn chunk_by_key(&self, key: &str) -> Result<Option<(ChunkId, ChunkRecord<'_>)>, StorageError> {
        let Some(id) = self.label(Label::Key(key))?.min().map(ChunkId) else { return Ok(None) };
        let record = self.chunk(id)?;
        Ok(record.filter(|record| record.key() == key).map(|record| (id, record)))
    }
}
