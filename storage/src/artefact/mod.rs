//! Artefacts: an index as one file, for other machines.
//!
//! Layout: [`MAGIC`] · version of the layout (u32) · length of the manifest (u32) · BLAKE3 of the manifest · manifest
//! (JSON) · the parts, one after another, as the manifest lists them. A part is the rows of a table in the order of their keys,
//! in frames: length of the rows (u32) · length of the compressed rows (u32) · the rows, compressed by zstd on their own. A
//! row is: length of the key · key · length of the value · value, lengths as variable-length integers. A frame ends with
//! the row that makes it large enough, so that threads compress frames and the bytes depend on the rows alone. Numbers
//! are little-endian.
//!
//! Rows are those of an index that was written in one go ([`crate::canonical`]), without what differs between two indexes
//! of the same tree: times of runs and files, ids in git's index, the root, the generation. So equal content makes equal
//! bytes. A chunk is one row with all that is stored of it: records and blocks of contents are made again, as are the codes of
//! vectors.

mod check;
mod manifest;
mod part;
mod reader;
mod vectors;
mod writer;

pub use manifest::{ArtefactManifest, ArtefactPart};
pub use reader::Arrival;

use crate::tables::Table;

/// Begins every artefact. The line feed tells one that was changed by a transfer as text.
const MAGIC: &[u8; 8] = b"AURMEM\r\n";
/// Version of the layout that this build reads and writes.
const VERSION: u32 = 2;
/// Bytes before the manifest.
const HEADER: usize = MAGIC.len() + 4 + 4 + blake3::OUT_LEN;
/// Longest manifest.
const MAX_MANIFEST: u32 = 16 << 20;
/// Longest key; LMDB allows no longer one.
const MAX_KEY: usize = 511;
/// Longest value: the record of a chunk or a file of some ten megabytes, the postings of a term in some ten million chunks.
/// A value is held in memory as a whole.
const MAX_VALUE: usize = 1 << 26;

/// The tables with a part each, in the order of the parts.
const PARTS: [Table; 8] = [
    Table::Chunks,
    Table::Files,
    Table::Representations,
    Table::Blames,
    Table::Lengths,
    Table::Vectors,
    Table::Dictionary,
    Table::Postings,
];

/// What the part of a table is called.
fn name_of(table: Table) -> &'static str {
    match table {
        Table::Meta => "meta",
        Table::Chunks => "chunks",
        Table::Sources => "sources",
        Table::Representations => "representations",
        Table::Content => "content",
        Table::Files => "files",
        Table::Blames => "blames",
        Table::Lengths => "lengths",
        Table::Codes => "codes",
        Table::Vectors => "vectors",
        Table::Dictionary => "dictionary",
        Table::Postings => "postings",
        Table::Values => "values",
    }
}
