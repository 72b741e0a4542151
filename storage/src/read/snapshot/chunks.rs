//! Reads the chunks of a generation: records in place, and texts and relations from compressed blocks.

use std::ops::Range;

use aurora_lmdb_pages::Cursor;

use super::Snapshot;
use crate::error::StorageError;
use crate::read::blame::{self, Blame};
use crate::read::chunk::{
    self, ArchivedSourceRecord, Chunk, ChunkId, ChunkRecord, ChunkText, Complexity, Relations, SourceRecord,
};
use crate::read::content::{
    CONTENT_PARTS, CompressedBlock, RELATIONS, TEXTS, decode_complexity, decode_relations, decode_text,
    decode_text_body,
};
use crate::read::label::Label;
use crate::tables::{Table, chunk_key, parse_chunk_key};

impl Snapshot {
    /// Returns the record of a live chunk, in place.
    ///
    /// # Errors
    /// Fails if the index is damaged.
    pub fn chunk(&self, id: ChunkId) -> Result<Option<ChunkRecord<'_>>, StorageError> {
        let file = self.pages().bytes;
        let record = match self.inner.records.get(id.0, file) {
            Some(known) => known,
            None if !self.inner.live.contains(id.0) => return Ok(None),
            None => {
                let read = self.get(Table::Chunks, &chunk_key(id.0))?.and_then(chunk::decode);
                let record = read.ok_or_else(|| self.damaged(format!("chunk {id} has no valid record")))?;
                self.inner.records.insert(id.0, file, record);
                record
            }
        };
        let record = ChunkRecord::new(record, self.source(record.source.to_native())?);
        record.map(Some).ok_or_else(|| self.damaged(format!("chunk {id} has no valid record")))
    }

    /// Returns the source record of a file, given the id of its first chunk.
    pub(crate) fn source(&self, first: u32) -> Result<&ArchivedSourceRecord, StorageError> {
        let file = self.pages().bytes;
        if let Some(known) = self.inner.sources.get(first, file) {
            return Ok(known);
        }
        let read = self.get(Table::Sources, &chunk_key(first))?.and_then(SourceRecord::decode);
        let record =
            read.ok_or_else(|| self.damaged(format!("the file of chunk {first} has no valid source record")))?;
        self.inner.sources.insert(first, file, record);
        Ok(record)
    }

    /// Returns the texts of a live chunk.
    ///
    /// # Errors
    /// Fails if the index is damaged.
    pub fn text(&self, id: ChunkId) -> Result<Option<ChunkText>, StorageError> {
        self.content(id, TEXTS, decode_text)
    }

    /// Calls `visit` with the id and the full text of each chunk in `ids`, which must be live chunks in ascending
    /// order.
    ///
    /// # Errors
    /// Fails if the index is damaged.
    pub fn for_each_text(&self, ids: &[u32], mut visit: impl FnMut(u32, &str)) -> Result<(), StorageError> {
        self.for_each_content(ids, TEXTS, |id, bytes| decode_text_body(bytes).map(|text| visit(id, text)))
    }

    /// Calls `visit` with the id and the complexity of each chunk in `ids`, which must be live chunks in ascending
    /// order.
    ///
    /// # Errors
    /// Fails if the index is damaged.
    pub fn for_each_complexity(&self, ids: &[u32], mut visit: impl FnMut(u32, Complexity)) -> Result<(), StorageError> {
        self.for_each_content(ids, TEXTS, |id, bytes| decode_complexity(bytes).map(|complexity| visit(id, complexity)))
    }

    /// Calls `visit` with the id and the [imports](Relations::imports) of each chunk in `ids`, which must be live chunks
    /// in ascending order.
    ///
    /// # Errors
    /// Fails if the index is damaged.
    pub fn for_each_imports(&self, ids: &[u32], mut visit: impl FnMut(u32, Vec<String>)) -> Result<(), StorageError> {
        // Only keys need the key base.
        self.for_each_content(ids, RELATIONS, |id, bytes| {
            decode_relations(bytes, "").map(|relations| visit(id, relations.imports))
        })
    }

    /// Calls `visit` with the id and the encoded content of each chunk in `ids`. `visit` returns `None` if the content
    /// is invalid.
    fn for_each_content(
        &self,
        ids: &[u32],
        part: usize,
        mut visit: impl FnMut(u32, &[u8]) -> Option<()>,
    ) -> Result<(), StorageError> {
        let mut left = ids;
        while let Some(&first) = left.first() {
            let missing = || self.damaged(format!("chunk {first} has no valid content"));
            let (_, block) = self.block(Table::Content, first)?.ok_or_else(missing)?;
            let frame = block.frame::<CONTENT_PARTS>(first).flatten().ok_or_else(missing)?;
            let contents = self.check(frame.decompress(part))?;
            let before = left.len();
            while let Some((&id, rest)) = left.split_first()
                && let Some(range) = frame.range(id, part)
            {
                contents.get(range).and_then(|bytes| visit(id, bytes)).ok_or_else(missing)?;
                left = rest;
            }
            if left.len() == before {
                return Err(missing());
            }
        }
        Ok(())
    }

    /// Returns the references of a live chunk to other definitions.
    ///
    /// # Errors
    /// Fails if the index is damaged.
    pub fn relations(&self, id: ChunkId) -> Result<Option<Relations>, StorageError> {
        let Some(record) = self.chunk(id)? else { return Ok(None) };
        let key_base = [record.key_head(), record.path()].concat();
        self.content(id, RELATIONS, |bytes| decode_relations(bytes, &key_base))
    }

    /// Returns the blame of a file, given the file's first chunk; `None` if the index has no blame of the file.
    ///
    /// # Errors
    /// Fails if the index is damaged.
    pub fn blame(&self, first: ChunkId) -> Result<Option<Blame>, StorageError> {
        let decoded = self.encoded_blame(first)?.map(|bytes| blame::decode(&bytes));
        let invalid = || self.damaged(format!("the blame of chunk {first} is invalid"));
        decoded.map(|blame| blame.ok_or_else(invalid)).transpose()
    }

    /// Returns the blame as encoded by [`blame::encode`].
    pub(crate) fn encoded_blame(&self, first: ChunkId) -> Result<Option<Vec<u8>>, StorageError> {
        self.part::<1, _>(Table::Blames, first.0, 0, |bytes| Some(bytes.to_vec()))
    }

    /// Returns a live chunk without its [`Relations`]. This is all the data that a search shows.
    ///
    /// # Errors
    /// Fails if the index is damaged.
    pub fn chunk_with_text(&self, id: ChunkId) -> Result<Option<Chunk>, StorageError> {
        self.chunk_with(id, Some(Relations::default()))
    }

    /// Returns all stored data of a live chunk.
    ///
    /// # Errors
    /// Fails if the index is damaged.
    pub fn whole_chunk(&self, id: ChunkId) -> Result<Option<Chunk>, StorageError> {
        self.chunk_with(id, self.relations(id)?)
    }

    fn chunk_with(&self, id: ChunkId, relations: Option<Relations>) -> Result<Option<Chunk>, StorageError> {
        let (Some(record), Some(texts), Some(relations)) = (self.chunk(id)?, self.text(id)?, relations) else {
            return Ok(None);
        };
        let mut chunk = record.to_chunk();
        chunk.metadata.extend(self.custom_values(id)?);
        chunk.set_content(texts, relations, record.times());
        Ok(Some(chunk))
    }

    /// Reads a part of the content of a live chunk.
    fn content<T>(
        &self,
        id: ChunkId,
        part: usize,
        decode: impl FnOnce(&[u8]) -> Option<T>,
    ) -> Result<Option<T>, StorageError> {
        if !self.inner.live.contains(id.0) {
            return Ok(None);
        }
        let read = self.part::<CONTENT_PARTS, _>(Table::Content, id.0, part, decode)?;
        read.map(Some).ok_or_else(|| self.damaged(format!("chunk {id} has no valid content")))
    }

    /// Reads a part of a chunk's content from a table of compressed blocks. Returns `None` if the table has no content
    /// of the chunk.
    fn part<const PARTS: usize, T>(
        &self,
        table: Table,
        id: u32,
        part: usize,
        decode: impl FnOnce(&[u8]) -> Option<T>,
    ) -> Result<Option<T>, StorageError> {
        let Some((_, block)) = self.block(table, id)? else { return Ok(None) };
        let invalid = || self.damaged(format!("a block of table `{}` is invalid", table.name()));
        let Some(frame) = block.frame::<PARTS>(id) else { return Ok(None) };
        let frame = frame.ok_or_else(invalid)?;
        let Some(range) = frame.range(id, part) else { return Ok(None) };
        let decompress = || self.check(frame.decompress(part));
        let bytes = self.frames.get((table, frame.first(), part), decompress)?;
        bytes.get(range).and_then(decode).map(Some).ok_or_else(invalid)
    }

    /// Returns the block that would contain a chunk, and the block's key, from a table of compressed blocks.
    pub(crate) fn block(&self, table: Table, id: u32) -> Result<Option<(u32, CompressedBlock<'_>)>, StorageError> {
        let found = Cursor::floor(self.pages(), self.tree(table), &chunk_key(id));
        let Some((key, value)) = self.check(found)? else { return Ok(None) };
        let block = parse_chunk_key(key).and_then(|first| Some((first, CompressedBlock::decode(first, value)?)));
        block.map(Some).ok_or_else(|| self.damaged(format!("a block of table `{}` is invalid", table.name())))
    }

    /// Returns the chunk with a key.
    ///
    /// # Errors
    /// Fails if the index is damaged.
    pub fn chunk_by_key(&self, key: &str) -> Result<Option<(ChunkId, ChunkRecord<'_>)>, StorageError> {
        let Some(id) = self.label(Label::Key(key))?.min().map(ChunkId) else { return Ok(None) };
        let record = self.chunk(id)?;
        Ok(record.filter(|record| record.key() == key).map(|record| (id, record)))
    }

    /// Returns the range of ids of a live chunk's file, from its first chunk to the first chunk of the next file. All
    /// live chunks in the range belong to the file.
    ///
    /// # Errors
    /// Fails if the table of source records is damaged.
    pub fn file_range(&self, chunk: ChunkId) -> Result<Range<u32>, StorageError> {
        let no_key = || self.damaged(format!("chunk {chunk} belongs to no file"));
        let (pages, tree) = (self.pages(), self.tree(Table::Sources));
        let first = self.check(Cursor::floor(pages, tree, &chunk_key(chunk.0)))?;
        let first = first.and_then(|(key, _)| parse_chunk_key(key)).ok_or_else(no_key)?;
        let next = Cursor::seek(pages, tree, &chunk_key(chunk.0.saturating_add(1)));
        let next = self.check(next.and_then(|cursor| cursor.key()))?;
        let end = next.map_or(Some(self.manifest().next_chunk_id), parse_chunk_key).ok_or_else(no_key)?;
        Ok(first..end.min(self.manifest().next_chunk_id))
    }
}
