//! The manifest of an artefact: what is in it, and how to tell that it is whole.

use serde::{Deserialize, Serialize};

use super::{PARTS, name_of};
use crate::column::{ColumnDeclaration, check_columns};
use crate::manifest::{FORMAT_VERSION, ModelInfo};
use crate::unfinished::Unfinished;

/// Most dimensions of a model that is believed.
const MAX_DIMENSIONS: usize = 1 << 16;

/// Describes an artefact. Everything in it follows from the indexed tree, the configuration and the program.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ArtefactManifest {
    /// Version of the on-disk format of the rows, see [`FORMAT_VERSION`].
    pub index_format: u32,
    /// Name and version of the program that exported it.
    pub program: String,
    /// Commit that was checked out when the tree was indexed.
    pub head_commit: Option<String>,
    /// Whether the index covered all that it was asked to, with a result of every stage for every row.
    pub complete: bool,
    /// The embedding model.
    pub model: Option<ModelInfo>,
    /// Stage names and digests of their configuration, in pipeline order.
    pub fingerprints: Vec<(String, String)>,
    /// The custom columns.
    pub columns: Vec<ColumnDeclaration>,
    /// Work that stages have left undone.
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
    /// The parts in their order.
    pub parts: Vec<ArtefactPart>,
}

/// One part of an artefact: a table in compressed frames.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ArtefactPart {
    /// The table.
    pub name: String,
    /// Bytes of its rows.
    pub length: u64,
    /// Bytes of the frames.
    pub compressed: u64,
    /// BLAKE3 of the frames, in hexadecimal.
    pub blake3: String,
}

impl ArtefactManifest {
    /// Bytes of all parts as they stand in the artefact.
    pub fn compressed(&self) -> u64 {
        self.parts.iter().fold(0, |sum, part| sum.saturating_add(part.compressed))
    }

    /// Finds what no artefact of this layout can say.
    pub(super) fn check(&self) -> Result<(), String> {
        if self.index_format != FORMAT_VERSION {
            return Err(format!("it is of format {}", self.index_format));
        }
        if self.chunks == u32::MAX {
            return Err("it has too many chunks".to_owned());
        }
        check_columns(&self.columns)?;
        let dimensions = self.model.as_ref().map_or(1, |model| model.dimensions);
        if dimensions == 0 || dimensions > MAX_DIMENSIONS {
            return Err(format!("its model has {dimensions} dimensions"));
        }
        if !self.parts.iter().map(|part| part.name.as_str()).eq(PARTS.map(name_of)) {
            return Err("it lists other parts".to_owned());
        }
        Ok(())
    }
}
