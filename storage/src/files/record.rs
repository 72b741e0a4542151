//! The file record.

use serde::Serialize;

use crate::chunk::ChunkId;
use crate::error::StorageError;
use crate::unfinished::UnfinishedRow;

/// What is remembered of a file between runs.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FileRecord {
    /// Path relative to the indexed root, with `/`.
    pub path: String,
    /// Size in bytes.
    pub size: u64,
    /// The file's stat data when it was read. No part of the digest of an index.
    pub stamp: FileStamp,
    /// Id under which git's index held the content; empty where git could not tell. No part of the digest of an
    /// index: what git could tell depends on when it was asked.
    pub blob: Vec<u8>,
    /// Digest of the content.
    pub hash: [u8; 32],
    /// Language name; empty when none was recognised.
    pub language: String,
    /// Whether the file was indexed.
    pub outcome: FileOutcome,
    /// What the attribution of the file's lines is a function of.
    pub history_key: Vec<u8>,
    /// The file's chunks, ascending. Set by the writer.
    pub chunks: Vec<ChunkId>,
    /// Number of lines.
    pub lines: u32,
    /// Warnings that its last indexing gave.
    pub warnings: Vec<String>,
    /// Stages without a result for the file or its chunks, sorted. No part of the digest of an index: why a program failed
    /// may differ from run to run.
    pub unfinished: Vec<UnfinishedRow>,
}

/// Stat data that tells a later run, without a look at the content, that a file is unchanged.
///
/// The default proves nothing.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct FileStamp {
    /// Modification time (mtime), nanoseconds since the Unix epoch.
    pub modified: i64,
    /// Time of the last change to the content or the inode (ctime), which no program can set; nanoseconds since the Unix epoch.
    /// The time of creation on systems other than Unix.
    pub changed: i64,
    /// Inode number; 0 if the file system does not keep the number of a file.
    pub inode: u64,
}

impl FileStamp {
    /// Whether a file that has the stamp `found` now has not been written or replaced since it had this one.
    pub fn proves(&self, found: &Self) -> bool {
        let is_same_inode = self.inode == 0 || self.inode == found.inode;
        self.modified != 0 && self.modified == found.modified && self.changed == found.changed && is_same_inode
    }
}

/// Whether a file became chunks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum FileOutcome {
    /// The file's chunks are in the index.
    Indexed,
    /// The file was left out.
    Skipped(
        /// Why.
        String,
    ),
}

/// Refuses an empty path.
pub(crate) fn check_path(path: &str) -> Result<(), StorageError> {
    if path.is_empty() { Err(StorageError::Refused("a file needs a path".to_owned())) } else { Ok(()) }
}
