//! The tables of an environment, and the operations that a transaction applies to them.

use crate::btree::{Mark, seal};
use crate::error::StorageError;

/// A table of the environment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Table {
    /// Format mark, id, manifest, set of live chunks.
    Meta,
    /// Chunk id (u64 big-endian) → chunk record.
    Chunks,
    /// Id of a file's first chunk (u64 big-endian) → what the file's chunks have in common.
    Sources,
    /// Id of a file's first chunk (u64 big-endian) → what stands for the file as a whole in a search.
    Representations,
    /// Id of a block's first chunk (u64 big-endian) → texts and relations of the chunks up to the next block, compressed.
    Content,
    /// Path → file record.
    Files,
    /// Id of the first chunk of a block's first file (u64 big-endian) → which commit each line of the files up to the next block
    /// came from, compressed.
    Blames,
    /// Segment and first term → dictionary block.
    Dictionary,
    /// Segment and number → packed posting lists.
    Postings,
    /// Number of 1,024 chunk ids → their field lengths.
    Lengths,
    /// Number of 1,024 chunk ids → which of them have vectors, and codes, scales and checksums of these.
    Codes,
    /// Number of 1,024 chunk ids → their vectors.
    Vectors,
    /// Number of 1,024 chunk ids (u32 big-endian) and name of a custom column → the values of these chunks.
    Values,
}

impl Table {
    /// Every table, in the order of their discriminants.
    pub(crate) const ALL: [Self; 13] = [
        Self::Meta,
        Self::Chunks,
        Self::Sources,
        Self::Representations,
        Self::Content,
        Self::Files,
        Self::Blames,
        Self::Dictionary,
        Self::Postings,
        Self::Lengths,
        Self::Codes,
        Self::Vectors,
        Self::Values,
    ];

    /// What the checksums of the table's values begin with; none where a value is large, seldom read as a whole, and
    /// has checksums of its parts elsewhere.
    pub(crate) fn seal(self) -> Option<Mark> {
        (self != Self::Vectors).then_some(self as Mark)
    }

    /// Name within the environment.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Meta => "meta",
            Self::Chunks => "chunks",
            Self::Sources => "sources",
            Self::Representations => "represent",
            Self::Content => "content",
            Self::Files => "files",
            Self::Blames => "blames",
            Self::Dictionary => "dict",
            Self::Postings => "post",
            Self::Lengths => "lengths",
            Self::Codes => "codes",
            Self::Vectors => "vectors",
            Self::Values => "values",
        }
    }
}

/// Stands in front of the version in the format mark.
pub(crate) const FORMAT_MARK: &[u8] = b"aurora";

/// Keys of [`Table::Meta`].
pub(crate) mod meta_key {
    /// Mark and version of the format.
    pub(crate) const FORMAT: &[u8] = b"format";
    /// What tells the index from every other one.
    pub(crate) const ID: &[u8] = b"id";
    /// The manifest, as JSON.
    pub(crate) const MANIFEST: &[u8] = b"manifest";
    /// The live chunks, as a roaring bitmap.
    pub(crate) const LIVE: &[u8] = b"live";
    /// Number of the transaction that wrote the newest rows: a root of tables of another one is out of date.
    pub(crate) const TRANSACTION: &[u8] = b"transaction";
}

/// One change to a table.
#[derive(Debug)]
pub(crate) struct Operation {
    /// The table.
    pub(crate) table: Table,
    /// The key.
    pub(crate) key: Vec<u8>,
    /// The new value; `None` deletes the key.
    pub(crate) value: Option<Vec<u8>>,
}

impl Operation {
    /// Sets a key.
    pub(crate) fn put(table: Table, key: impl Into<Vec<u8>>, value: Vec<u8>) -> Self {
        Self { table, key: key.into(), value: Some(value) }
    }

    /// The same with the value's checksum, as it is stored.
    pub(crate) fn sealed(mut self) -> Self {
        if let (Some(mark), Some(value)) = (self.table.seal(), &mut self.value) {
            seal(mark, &self.key, value);
        }
        self
    }

    /// Removes a key.
    pub(crate) fn delete(table: Table, key: impl Into<Vec<u8>>) -> Self {
        Self { table, key: key.into(), value: None }
    }

    /// Bytes that the operation holds.
    pub(crate) fn size(&self) -> usize {
        self.key.len() + self.value.as_ref().map_or(0, Vec::len) + size_of::<Self>()
    }
}

/// Takes the rows of a table in the order of their keys.
pub(crate) type Emit<'e> = &'e mut dyn FnMut(Operation) -> Result<(), StorageError>;

/// The row that says which transaction wrote it.
pub(crate) fn signature(transaction: u64) -> Operation {
    Operation::put(Table::Meta, meta_key::TRANSACTION, transaction.to_le_bytes().to_vec()).sealed()
}

/// Key of what is stored by chunk id.
pub(crate) fn chunk_key(id: u32) -> [u8; 8] {
    u64::from(id).to_be_bytes()
}

/// Key of a block of 1,024 chunk ids.
pub(crate) fn block_key(block: u32) -> [u8; 4] {
    block.to_be_bytes()
}
