//! The manifest: a description of one generation of the index.

use serde::{Deserialize, Serialize};

use crate::column::ColumnDeclaration;
use crate::unfinished::Unfinished;

/// Version of the on-disk format that this build reads and writes.
pub const FORMAT_VERSION: u32 = 15;

/// Prefix of the digest of a stage in [`Manifest::fingerprints`] if the stage affects how files are split into chunks.
pub const CHUNK_STAGE_PREFIX: &str = "makes chunks";

/// Describes one published generation.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    /// Version of the on-disk format.
    pub format_version: u32,
    /// Number of the generation; 0 before the first publication.
    pub generation: u64,
    /// The embedding model whose vectors are stored.
    pub model: Option<ModelInfo>,
    /// Commit that was checked out when the tree was indexed.
    pub head_commit: Option<String>,
    /// Absolute path of the indexed root.
    pub root: String,
    /// Stage names and digests of their configuration, in pipeline order.
    pub fingerprints: Vec<(String, String)>,
    /// The custom columns, sorted by name. The labels and terms of all chunks depend on them.
    pub columns: Vec<ColumnDeclaration>,
    /// Work that stages have not finished.
    pub unfinished: Unfinished,
    /// Unix seconds of the first publication.
    pub created: i64,
    /// Unix seconds of this publication.
    pub updated: i64,
    /// Whether the run processed everything that it was to index.
    pub complete: bool,
    /// Whether the index was imported from an artefact, and no run has changed it since.
    #[serde(default)]
    pub imported: bool,
    /// Number of live chunks.
    pub chunk_count: u64,
    /// Number of file rows.
    pub file_count: u64,
    /// Sum of the field lengths of all live chunks, in terms.
    pub field_totals: [u64; aurora_inverted::FIELDS],
    /// The segments of the dictionary, with ascending and disjoint ranges of ids.
    pub segments: Vec<SegmentInfo>,
    /// The id that the next new chunk will get.
    pub next_chunk_id: u32,
    /// The number that the next segment will get.
    pub next_segment: u32,
    /// Summary of the run that published this generation. The caller provides it.
    pub summary: serde_json::Value,
}

impl Manifest {
    /// Creates the manifest of an index without content.
    pub(crate) fn empty() -> Self {
        Self { format_version: FORMAT_VERSION, ..Self::default() }
    }
}

/// An embedding model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelInfo {
    /// Name and digest of the model.
    pub id: String,
    /// Number of dimensions of the vectors.
    pub dimensions: usize,
    /// Name and digest of the model of the stored tokens.
    pub tokens: String,
}

/// Description of a segment: an immutable dictionary with its postings.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SegmentInfo {
    /// Number of the segment, and the prefix of its keys.
    pub id: u32,
    /// First chunk id of the segment's range.
    pub first_chunk: u32,
    /// Chunk id after the end of the segment's range.
    pub end_chunk: u32,
    /// Number of live chunks in the range when the segment was written.
    pub chunks: u64,
    /// Number of terms and labels.
    pub terms: u64,
    /// Number of postings.
    pub postings: u64,
    /// Size of the dictionary and postings in bytes.
    pub bytes: u64,
}

/// The fields of the manifest that a publication sets, in addition to the content itself.
#[derive(Debug, Clone, PartialEq)]
pub struct ManifestUpdate {
    /// See [`Manifest::model`].
    pub model: Option<ModelInfo>,
    /// See [`Manifest::head_commit`].
    pub head_commit: Option<String>,
    /// See [`Manifest::root`].
    pub root: String,
    /// See [`Manifest::fingerprints`].
    pub fingerprints: Vec<(String, String)>,
    /// See [`Manifest::unfinished`]; the writer counts the rows.
    pub unfinished: Unfinished,
    /// See [`Manifest::complete`].
    pub complete: bool,
    /// The current time in Unix seconds.
    pub now: i64,
    /// See [`Manifest::summary`]. A changed summary alone does not cause a publication.
    pub summary: serde_json::Value,
}
