//! The tables of an environment, and the operations that a transaction applies to them.

use aurora_lmdb_pages::{Mark, seal};
use strum::VariantArray as _;

use crate::error::StorageError;

/// A table of the environment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, strum::IntoStaticStr, strum::VariantArray)]
#[strum(serialize_all = "lowercase")]
pub(crate) enum Table {
    /// Format mark, id, manifest, set of live chunks.
    Meta,
    /// Chunk id (u64 big-endian) → chunk record.
    Chunks,
    /// Id of a file's first chunk (u64 big-endian) → fields that all chunks of the file share.
    Sources,
    /// Id of a file's first chunk (u64 big-endian) → representation of the whole file in a search.
    #[strum(serialize = "represent")]
    Representations,
    /// Id of a block's first chunk (u64 big-endian) → compressed texts and relations of the chunks up to the next
    /// block.
    Content,
    /// Path → file record.
    Files,
    /// Id of the first chunk of a block's first file (u64 big-endian) → compressed blames of the files up to the next
    /// block.
    Blames,
    /// Segment and first term → dictionary block.
    #[strum(serialize = "dict")]
    Dictionary,
    /// Segment and number → packed posting lists.
    #[strum(serialize = "post")]
    Postings,
    /// Number of a window of 4,096 chunk ids → field lengths.
    Lengths,
    /// Number of a block of 1,024 chunk ids → the ids that have vectors, with codes, scales and checksums of the
    /// vectors.
    Codes,
    /// Number of a block of 1,024 chunk ids → the remaining bits of the vectors.
    Vectors,
    /// Number of a block of 1,024 chunk ids (u32 big-endian) and name of a custom column → values.
    Values,
}

impl Table {
    /// Number of tables.
    pub(crate) const COUNT: usize = Self::VARIANTS.len();

    /// All tables, in the order of their discriminants.
    pub(crate) fn all() -> impl Iterator<Item = Self> {
        Self::VARIANTS.iter().copied()
    }

    /// Returns the name within the environment.
    pub(crate) fn name(self) -> &'static str {
        self.into()
    }

    /// Returns the number that identifies the table in the checksums of its values. Returns `None` for
    /// [`Self::Vectors`], whose large values are seldom read as a whole: [`Self::Codes`] has a checksum for each
    /// vector.
    pub(crate) fn seal(self) -> Option<Mark> {
        (self != Self::Vectors).then_some(self as Mark)
    }
}

/// Prefix of the version in the format mark.
pub(crate) const FORMAT_MARK: &[u8] = b"aurora";

/// Keys of [`Table::Meta`].
pub(crate) mod meta_key {
    /// Mark and version of the format.
    pub(crate) const FORMAT: &[u8] = b"format";
    /// Random id of the index.
    pub(crate) const ID: &[u8] = b"id";
    /// The manifest, as JSON.
    pub(crate) const MANIFEST: &[u8] = b"manifest";
    /// The live chunks, as a roaring bitmap.
    pub(crate) const LIVE: &[u8] = b"live";
    /// Number of the transaction that wrote the newest rows. A different number means that the tables belong to an
    /// earlier generation.
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
    /// Creates an operation that sets the value of a key.
    pub(crate) fn put(table: Table, key: impl Into<Vec<u8>>, value: Vec<u8>) -> Self {
        Self { table, key: key.into(), value: Some(value) }
    }

    /// Returns the operation with a checksum appended to its value. Tables without checksums leave the value unchanged.
    pub(crate) fn sealed(mut self) -> Self {
        if let (Some(mark), Some(value)) = (self.table.seal(), &mut self.value) {
            seal(mark, &self.key, value);
        }
        self
    }

    /// Creates an operation that deletes a key.
    pub(crate) fn delete(table: Table, key: impl Into<Vec<u8>>) -> Self {
        Self { table, key: key.into(), value: None }
    }

    /// Returns the size of the operation in memory, in bytes.
    pub(crate) fn size(&self) -> usize {
        self.key.len() + self.value.as_ref().map_or(0, Vec::len) + size_of::<Self>()
    }
}

/// A function that receives rows. The rows of each table are in key order.
pub(crate) type Emit<'e> = &'e mut dyn FnMut(Operation) -> Result<(), StorageError>;

/// Returns a receiver that appends rows to a list.
pub(crate) fn collect(rows: &mut Vec<Operation>) -> impl FnMut(Operation) -> Result<(), StorageError> + '_ {
    |row| {
        rows.push(row);
        Ok(())
    }
}

/// Returns a receiver that appends rows to a list, with their checksums.
pub(crate) fn collect_sealed(rows: &mut Vec<Operation>) -> impl FnMut(Operation) -> Result<(), StorageError> + '_ {
    |row| {
        rows.push(row.sealed());
        Ok(())
    }
}

/// Returns the row with the number of the transaction that writes it.
pub(crate) fn signature(transaction: u64) -> Operation {
    Operation::put(Table::Meta, meta_key::TRANSACTION, transaction.to_le_bytes().to_vec()).sealed()
}

/// Returns the key of a row for a chunk id.
pub(crate) fn chunk_key(id: u32) -> [u8; 8] {
    u64::from(id).to_be_bytes()
}

/// Parses the chunk id in a key.
pub(crate) fn parse_chunk_key(key: &[u8]) -> Option<u32> {
    key.try_into().map(u64::from_be_bytes).ok()?.try_into().ok()
}

/// Returns the key of a block of 1,024 chunk ids.
pub(crate) fn block_key(block: u32) -> [u8; 4] {
    block.to_be_bytes()
}
