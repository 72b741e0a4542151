//! Divided artefacts: an index in many small parts, most of which stay the same when a few files change.
//!
//! In an artefact, the number of a chunk depends on all files with smaller paths, so one added chunk changes nearly
//! every part. A divided artefact contains no numbers of chunks. Its rows belong to files: the key of a row is the key
//! of the file, and the value depends only on this file. There are three groups of rows, in this order:
//!
//! | group | value |
//! |---|---|
//! | `files` | file record with chunk numbers that start at 0 · representation · blame, each after its length |
//! | `chunks` | each chunk of the file with all of its stored data, after its length |
//! | `vectors` | for each vector: index of the chunk in the file · scale (f32) · signed bytes |
//!
//! The rows of a group are in key order, and are divided into parts. Whether a part ends with a row depends on the hash
//! of its key, and on the size of the part. After a change, the next boundary that depends on a hash is therefore the
//! same as before. The caller compresses and stores the rows of a part.
//!
//! The keyword index is not part of a divided artefact, because nearly all of its rows depend on chunk numbers and
//! document frequencies. The import computes it from the chunks, and then compares the digest of the index.

mod reader;
mod writer;

pub use writer::DividedPart;

/// Name of the group of file records.
const FILES: &str = "files";
/// Name of the group of chunks.
const CHUNKS: &str = "chunks";
/// Name of the group of vectors.
const VECTORS: &str = "vectors";
/// The groups in order.
const GROUPS: [&str; 3] = [FILES, CHUNKS, VECTORS];
/// A part ends with the row with which its rows reach this size in bytes, regardless of the key.
const MAX_PART_BYTES: usize = 1 << 20;
