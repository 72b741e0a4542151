//! Chunk ids, and the windows into which they are divided.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Id of a chunk within one index. Ids grow in order of insertion and are never reused.
///
/// Two indexes of the same content may give a chunk different ids, but the same key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ChunkId(pub u32);

impl fmt::Display for ChunkId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Number of chunk ids in a window. A window is what block-max pruning calls a block. Windows are aligned: window `n`
/// begins at id `n · WINDOW` in every list.
pub const WINDOW: u32 = 4096;
