//! The configuration of the chunker.

use serde::{Deserialize, Serialize};

/// The table `[stage.chunk]` of a pipeline: options for dividing files into chunks. Sizes are in characters other than
/// white space.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ChunkOptions {
    /// Maximum size of a chunk. Larger chunks are split at syntax boundaries.
    pub max_size: usize,
    /// Minimum size of a run of module-level code. A smaller run is merged with neighbouring runs of module-level code
    /// in the same file.
    pub min_size: usize,
    /// The chunk of a type with at most this many lines contains the bodies of the type's members. The chunk of a
    /// longer type contains only the signatures of members that have their own chunks.
    pub whole_type_lines: u32,
    /// Functions inside functions become chunks if they have at least this many lines.
    pub nested_function_lines: u32,
    /// Maximum number of chunks of one file. The rest of the file is not indexed, and the run report contains a
    /// warning.
    pub max_chunks: usize,
}

impl Default for ChunkOptions {
    fn default() -> Self {
        Self { max_size: 2_000, min_size: 200, whole_type_lines: 40, nested_function_lines: 30, max_chunks: 20_000 }
    }
}
