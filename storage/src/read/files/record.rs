//! The file record.

use serde::Serialize;

use crate::error::StorageError;
use crate::read::chunk::ChunkId;
use crate::unfinished::{RowExtent, UnfinishedRow};

/// Data about a file that is stored between runs.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FileRecord {
    /// Path relative to the indexed root, with `/` as the separator.
    pub path: String,
    /// Size in bytes.
    pub size: u64,
    /// The file's stat data when it was read. Not part of the digest of an index.
    pub stamp: FileStamp,
    /// Id of the content in git's index; empty if unknown. Not part of the digest of an index, because it depends on
    /// the state of git's index during the run.
    pub blob: Vec<u8>,
    /// Digest of the content.
    pub hash: [u8; 32],
    /// Language name; empty if no language was recognised.
    pub language: String,
    /// Whether the file was indexed.
    pub outcome: FileOutcome,
    /// Key computed from all inputs of the history of the file's lines.
    pub history_key: Vec<u8>,
    /// The file's chunks, ascending. Set by the writer.
    pub chunks: Vec<ChunkId>,
    /// Number of lines.
    pub lines: u32,
    /// Warnings of the last indexing of the file.
    pub warnings: Vec<String>,
    /// Stages without a result for the file or its chunks, sorted. Not part of the digest of an index, because the
    /// reason for a failure may differ between runs.
    pub unfinished: Vec<UnfinishedRow>,
}

impl FileRecord {
    /// Removes the data by which this machine recognises an unchanged file.
    pub(crate) fn omit_evidence(&mut self) {
        self.stamp = FileStamp::default();
        self.blob.clear();
    }

    /// Returns the record of a file that is stored in parts, from the record of the parts so far and the record of the
    /// next part. The result has the fields of the next part, and the chunks and unfinished rows of both.
    pub(crate) fn followed_by(self, next: Self) -> Self {
        let before = self.chunks.len() as u32;
        let moved = |row: UnfinishedRow| match row.extent {
            RowExtent::Chunk(position) => UnfinishedRow { extent: RowExtent::Chunk(before + position), ..row },
            RowExtent::File | RowExtent::Chunks => row,
        };
        let mut unfinished = self.unfinished;
        unfinished.extend(next.unfinished.into_iter().map(moved));
        unfinished.sort_unstable();
        unfinished.dedup();
        let mut chunks = self.chunks;
        chunks.extend(next.chunks);
        let outcome = if chunks.is_empty() { next.outcome } else { FileOutcome::Indexed };
        Self { chunks, unfinished, outcome, ..next }
    }
}

/// Stat data by which a later run recognises that a file is unchanged without reading it.
///
/// The default value means that nothing is known. No file counts as unchanged compared with it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct FileStamp {
    /// Modification time (mtime), nanoseconds since the Unix epoch.
    pub modified: i64,
    /// Time of the last change to the content or the inode (ctime), in nanoseconds since the Unix epoch. Programs
    /// cannot set this time. On systems other than Unix, the time of creation.
    pub changed: i64,
    /// Inode number; 0 if the file system has no stable inode numbers.
    pub inode: u64,
}

impl FileStamp {
    /// Whether a file that had this stat data, and now has the stat data `found`, was not written or replaced in
    /// between.
    pub fn is_unchanged(&self, found: &Self) -> bool {
        let is_same_inode = self.inode == 0 || self.inode == found.inode;
        self.modified != 0 && self.modified == found.modified && self.changed == found.changed && is_same_inode
    }
}

/// Whether a file was indexed or skipped.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum FileOutcome {
    /// The file's chunks are in the index.
    Indexed,
    /// The file was skipped.
    Skipped(
        /// The reason.
        String,
    ),
}

/// Returns an error if a path is empty.
pub(crate) fn check_path(path: &str) -> Result<(), StorageError> {
    if path.is_empty() { Err(StorageError::Refused("a file needs a path".to_owned())) } else { Ok(()) }
}
