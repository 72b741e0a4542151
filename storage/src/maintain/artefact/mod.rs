//! Artefacts: an index in one file, for transfer to other machines.
//!
//! Layout: [`MAGIC`] · version of the layout (u32) · length of the manifest (u32) · BLAKE3 of the manifest · manifest
//! (JSON) · the parts, one after another, as the manifest lists them. A part has the rows of a table in key order, in
//! frames: length of the rows (u32) · length of the compressed rows (u32) · the rows, compressed by zstd separately for
//! each frame. A row is: length of the key · key · length of the value · value, with lengths as variable-length
//! integers. A frame ends with the row that makes it large enough. Threads can therefore compress frames in parallel,
//! and the bytes depend only on the rows. Numbers are little-endian.
//!
//! The rows are those of an index that was written in one run ([`crate::maintain::canonical`]). They lack the data that
//! differs between two indexes of the same tree: times of runs and files, ids in git's index, the root, and the
//! generation. Therefore, indexes with equal content have byte-identical artefacts. Each chunk is one row with all of
//! its stored data. The import rebuilds the records, the blocks of contents and the codes of vectors.

mod check;
mod divided;
mod manifest;
mod merge;
mod part;
mod reader;
mod shard;
mod writer;

pub use divided::DividedPart;
pub use manifest::{ArtefactManifest, ArtefactPart, MAX_SHARDS, Shard};
pub use merge::Merged;
pub use reader::ImportContext;

use crate::tables::Table;

/// First bytes of every artefact. The CR LF reveals a file that a transfer in text mode has changed.
const MAGIC: &[u8; 8] = b"AURMEM\r\n";
/// Prefix of the names of artefacts that are being written. A run that is killed leaves such a file.
const UNFINISHED_PREFIX: &str = ".aurora-export-";

/// Whether a file is an artefact, perhaps a damaged or unfinished one, given its path and its content.
pub fn is_artefact(path: &str, content: &[u8]) -> bool {
    let name = path.rsplit('/').next().unwrap_or_default();
    content.starts_with(MAGIC) || name.starts_with(UNFINISHED_PREFIX)
}

/// Version of the layout that this build reads and writes.
const VERSION: u32 = 2;
/// Number of bytes before the manifest.
const HEADER: usize = MAGIC.len() + 4 + 4 + blake3::OUT_LEN;
/// Maximum length of a manifest in bytes.
const MAX_MANIFEST_BYTES: u32 = 16 << 20;
/// Maximum length of a key in bytes, which is also LMDB's limit.
const MAX_KEY_BYTES: usize = 511;
/// Maximum length of a value in bytes: enough for the record of a chunk or file of about ten megabytes, or for the
/// postings of a term in about ten million chunks. Each value is read into memory as a whole.
const MAX_VALUE_BYTES: usize = 1 << 26;

/// The exported tables and the names of their parts, in the order of the parts.
const PARTS: [(Table, &str); 8] = [
    (Table::Chunks, "chunks"),
    (Table::Files, "files"),
    (Table::Representations, "representations"),
    (Table::Blames, "blames"),
    (Table::Lengths, "lengths"),
    (Table::Vectors, "vectors"),
    (Table::Dictionary, "dictionary"),
    (Table::Postings, "postings"),
];

/// The tables in the artefact of a shard and the names of their parts, in the order of the parts. The postings of a term
/// are a row of the dictionary.
const SHARD_PARTS: [(Table, &str); 11] = [
    (Table::Files, "files"),
    (Table::Sources, "sources"),
    (Table::Chunks, "chunks"),
    (Table::Content, "content"),
    (Table::Values, "values"),
    (Table::Representations, "representations"),
    (Table::Blames, "blames"),
    (Table::Lengths, "lengths"),
    (Table::Codes, "codes"),
    (Table::Vectors, "vectors"),
    (Table::Dictionary, "terms"),
];
