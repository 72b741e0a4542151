//! File rows as keys and values of the `files` table.

use rkyv::rancor;

use super::record::{FileOutcome, FileRecord};
use crate::chunk::ChunkId;
use crate::error::StorageError;

/// Longest prefix of a path that stands in a key as it is; LMDB allows keys of 511 bytes.
pub(super) const PREFIX: usize = 440;

/// The form in which a record is archived; the path is kept because a long one does not fit its key.
#[derive(rkyv::Archive, rkyv::Serialize, rkyv::Deserialize)]
struct StoredFile {
    path: String,
    size: u64,
    mtime_ns: i64,
    blob: Vec<u8>,
    hash: [u8; 32],
    language: String,
    outcome: FileOutcome,
    history_key: Vec<u8>,
    chunks: Vec<u32>,
    lines: u32,
    warnings: Vec<String>,
}

/// The key of a path: the path, or for a long one its prefix and a digest of the whole.
pub(crate) fn key(path: &str) -> Vec<u8> {
    let bytes = path.as_bytes();
    if bytes.len() <= PREFIX {
        return bytes.to_vec();
    }
    let mut key = bytes[..PREFIX].to_vec();
    key.extend_from_slice(blake3::hash(bytes).as_bytes());
    key
}

/// Serialises a file record.
pub(crate) fn encode(record: &FileRecord) -> Result<Vec<u8>, StorageError> {
    let stored = StoredFile {
        path: record.path.clone(),
        size: record.size,
        mtime_ns: record.mtime_ns,
        blob: record.blob.clone(),
        hash: record.hash,
        language: record.language.clone(),
        outcome: record.outcome.clone(),
        history_key: record.history_key.clone(),
        chunks: record.chunks.iter().map(|id| id.0).collect(),
        lines: record.lines,
        warnings: record.warnings.clone(),
    };
    rkyv::to_bytes::<rancor::Error>(&stored)
        .map(|bytes| bytes.into_vec())
        .map_err(|error| StorageError::encode("file record", &error))
}

/// Reads a record; `None` when the bytes are no valid record.
pub(crate) fn decode(bytes: &[u8]) -> Option<FileRecord> {
    let stored = rkyv::from_bytes::<StoredFile, rancor::Failure>(bytes).ok()?;
    Some(FileRecord {
        path: stored.path,
        size: stored.size,
        mtime_ns: stored.mtime_ns,
        blob: stored.blob,
        hash: stored.hash,
        language: stored.language,
        outcome: stored.outcome,
        history_key: stored.history_key,
        chunks: stored.chunks.into_iter().map(ChunkId).collect(),
        lines: stored.lines,
        warnings: stored.warnings,
    })
}
