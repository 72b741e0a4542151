//! Appends the contents of new chunks, block by block.

use zstd::bulk::Compressor;

use super::block::{Block, BlockBuilder, Part, compressor};
use super::codec::{encode_relations, encode_text};
use crate::btree::Damage;
use crate::chunk::Chunk;
use crate::error::StorageError;
use crate::tables::{Operation, Table, chunk_key};

/// A block is closed once it holds so many bytes before compression. A larger one is smaller by a seventh for twice the
/// bytes that have to be decompressed for a shown result.
const BLOCK: usize = 64 << 10;

/// Gathers contents, and gives a block whenever one is full.
pub(crate) struct ContentWriter {
    compressor: Compressor<'static>,
    open: Option<BlockBuilder>,
    /// First and last id of every block that was closed.
    closed: Vec<(u32, u32)>,
}

impl ContentWriter {
    /// Starts without a block.
    pub(crate) fn new() -> Result<Self, StorageError> {
        Ok(Self { compressor: compressor().map_err(refused)?, open: None, closed: Vec::new() })
    }

    /// Adds a chunk whose file's keys begin with `key_base`; ids must ascend. Returns a block that is full now.
    pub(crate) fn push(&mut self, id: u32, chunk: &Chunk, key_base: &str) -> Result<Option<Operation>, StorageError> {
        let open = self.open.get_or_insert_with(|| BlockBuilder::new(id));
        open.push(id, |texts, relations| {
            encode_text(texts, chunk);
            encode_relations(relations, chunk, key_base);
        });
        if open.len() >= BLOCK { self.finish() } else { Ok(None) }
    }

    /// Closes the block that is open.
    pub(crate) fn finish(&mut self) -> Result<Option<Operation>, StorageError> {
        let Some(open) = self.open.take() else { return Ok(None) };
        self.closed.push((open.first(), open.last()));
        self.close(&open).map(Some)
    }

    /// First and last id of every block that was given.
    pub(crate) fn closed(&self) -> &[(u32, u32)] {
        &self.closed
    }

    /// A stored block without the chunks that `keeps` does not hold.
    pub(crate) fn shrink(
        &mut self,
        first: u32,
        block: &Block<'_>,
        keeps: impl Fn(u32) -> bool,
        wrap: impl Fn(Damage) -> StorageError,
    ) -> Result<Operation, StorageError> {
        let texts = block.decompress(Part::Texts).map_err(&wrap)?;
        let relations = block.decompress(Part::Relations).map_err(&wrap)?;
        let mut builder = BlockBuilder::new(first);
        for id in block.ids().filter(|id| keeps(*id)) {
            let content = |bytes: &[u8], part| Vec::from(block.place(id, part).map_or(&[][..], |place| &bytes[place]));
            builder.push(id, |to_texts, to_relations| {
                to_texts.append(&mut content(&texts, Part::Texts));
                to_relations.append(&mut content(&relations, Part::Relations));
            });
        }
        self.close(&builder)
    }

    fn close(&mut self, block: &BlockBuilder) -> Result<Operation, StorageError> {
        let value = block.finish(&mut self.compressor).map_err(refused)?;
        Ok(Operation::put(Table::Content, chunk_key(block.first()), value))
    }
}

fn refused(error: std::io::Error) -> StorageError {
    StorageError::encode("block of contents", &error)
}
