//! The numbers of chunks, and the windows that divide them.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The number of a chunk within one index: it grows in order of insertion and is never reused.
///
/// Numbers differ between two indexes of the same content; keys do not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ChunkId(pub u32);

impl fmt::Display for ChunkId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Chunk ids of a window: the block of block-max pruning, aligned so that window `n` begins at id `n · WINDOW` in every
/// list.
pub const WINDOW: u32 = 4096;
