//! The part of a tree that a run indexes, for indexes that several machines build together.

use std::num::NonZeroU32;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

/// The position of a shard among all shards of a tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ShardNumber {
    /// Number of the shard, from 1.
    pub number: u32,
    /// Number of shards.
    pub count: NonZeroU32,
}

/// The state of a run on a shard.
#[derive(Debug, Clone)]
pub struct ShardRun {
    pub(crate) shard: ShardNumber,
    /// Directory of the index of the shard, in place of the project's `.aurora`.
    pub(crate) directory: PathBuf,
    /// Digest of the whole tree, in hexadecimal. The source of the pipeline sets it.
    pub(crate) tree: Arc<OnceLock<String>>,
}
