//! The manifest of an artefact: its content, and the checksums of its parts.

use serde::{Deserialize, Serialize};

use super::{PARTS, SHARD_PARTS};
use crate::column::{ColumnDeclaration, check_columns};
use crate::manifest::{FORMAT_VERSION, ModelInfo};
use crate::read::BLOCK_IDS;
use crate::unfinished::Unfinished;

/// Maximum number of shards of a tree.
pub const MAX_SHARDS: u32 = 64;
/// Maximum number of dimensions of an artefact's model.
const MAX_DIMENSIONS: usize = 1 << 16;

/// Returns the number of ids, at most, in a shard with this number of chunks. Other ids belong to chunks that were
/// deleted during the run.
fn max_ids(chunks: u32) -> u32 {
    chunks.saturating_mul(2).saturating_add(BLOCK_IDS)
}

/// Describes an artefact. Depends only on the indexed tree, the configuration and the program.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ArtefactManifest {
    /// Version of the on-disk format of the rows, see [`FORMAT_VERSION`].
    pub index_format: u32,
    /// Name and version of the exporting program.
    pub program: String,
    /// Commit that was checked out when the tree was indexed.
    pub head_commit: Option<String>,
    /// The part of the tree that the index covers; `None` for a whole index.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shard: Option<Shard>,
    /// Whether the last run processed everything that it was to index, and every stage had a result for every row.
    pub complete: bool,
    /// The embedding model.
    pub model: Option<ModelInfo>,
    /// Stage names and digests of their configuration, in pipeline order.
    pub fingerprints: Vec<(String, String)>,
    /// The custom columns.
    pub columns: Vec<ColumnDeclaration>,
    /// Work that stages have not finished.
    pub unfinished: Unfinished,
    /// Number of file rows.
    pub files: u64,
    /// Number of chunks.
    pub chunks: u32,
    /// Number of vectors.
    pub vectors: u64,
    /// Number of dictionary entries, labels included.
    pub terms: u64,
    /// Number of postings.
    pub postings: u64,
    /// Sums of the field lengths of all chunks.
    pub field_totals: [u64; aurora_inverted::FIELDS],
    /// The parts in order.
    pub parts: Vec<ArtefactPart>,
}

/// A part of a tree: the files of one range of the sorted paths.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Shard {
    /// Number of the part, from 1.
    pub number: u32,
    /// Number of parts into which the tree is divided.
    pub count: u32,
    /// Digest of the whole tree, in hexadecimal.
    pub tree: String,
    /// Number of chunk ids. The ids of all chunks are less than this number.
    pub ids: u32,
}

/// One part of an artefact, which contains a table in compressed frames.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ArtefactPart {
    /// Name of the table.
    pub name: String,
    /// Size of the rows in bytes.
    pub length: u64,
    /// Size of the frames in bytes.
    pub compressed: u64,
    /// BLAKE3 hash of the frames, in hexadecimal.
    pub blake3: String,
}

impl ArtefactManifest {
    /// Total size of all parts in the artefact, in bytes.
    pub fn compressed(&self) -> u64 {
        self.parts.iter().fold(0, |sum, part| sum.saturating_add(part.compressed))
    }

    /// Checks for values that no artefact of this layout can have.
    pub(super) fn check(&self) -> Result<(), String> {
        self.check_content()?;
        let expected = if self.shard.is_some() { &SHARD_PARTS[..] } else { &PARTS };
        if !self.parts.iter().map(|part| part.name.as_str()).eq(expected.iter().map(|(_, name)| *name)) {
            return Err("it lists unexpected parts".to_owned());
        }
        Ok(())
    }

    /// Checks all values except for the list of parts.
    pub(super) fn check_content(&self) -> Result<(), String> {
        if self.index_format != FORMAT_VERSION {
            return Err(format!("it has format {}", self.index_format));
        }
        if let Some(Shard { number, count, ids, .. }) = &self.shard {
            if !((1..=MAX_SHARDS).contains(count) && (1..=*count).contains(number)) {
                return Err(format!("it is shard {number} of {count}"));
            }
            if *ids > max_ids(self.chunks) {
                return Err(format!("it has {ids} ids for {} chunks", self.chunks));
            }
        }
        if self.chunks == u32::MAX {
            return Err("it has too many chunks".to_owned());
        }
        check_columns(&self.columns)?;
        let dimensions = self.model.as_ref().map_or(1, |model| model.dimensions);
        if dimensions == 0 || dimensions > MAX_DIMENSIONS {
            return Err(format!("its model has {dimensions} dimensions"));
        }
        Ok(())
    }
}
