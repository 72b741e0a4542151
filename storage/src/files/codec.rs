//! File rows as keys and values of the `files` table.

use rkyv::rancor;

use super::record::{ArchivedFileOutcome, FileOutcome, FileRecord};
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

/// A row in place.
#[derive(Clone, Copy)]
pub struct FileRow<'a>(&'a ArchivedStoredFile);

impl<'a> FileRow<'a> {
    /// Checks a row; `None` when the bytes are no valid record.
    pub(crate) fn new(bytes: &'a [u8]) -> Option<Self> {
        rkyv::access::<ArchivedStoredFile, rancor::Failure>(bytes).ok().map(Self)
    }

    /// Path relative to the indexed root, with `/`.
    pub fn path(&self) -> &'a str {
        &self.0.path
    }

    /// Size in bytes.
    pub fn size(&self) -> u64 {
        self.0.size.to_native()
    }

    /// Modification time in nanoseconds since the Unix epoch.
    pub fn mtime_ns(&self) -> i64 {
        self.0.mtime_ns.to_native()
    }

    /// See [`FileRecord::blob`].
    pub fn blob(&self) -> &'a [u8] {
        &self.0.blob
    }

    /// Digest of the content.
    pub fn hash(&self) -> [u8; 32] {
        self.0.hash
    }

    /// See [`FileRecord::history_key`].
    pub fn history_key(&self) -> &'a [u8] {
        &self.0.history_key
    }

    /// Why the file was left out, if it was.
    pub fn skipped(&self) -> Option<&'a str> {
        match &self.0.outcome {
            ArchivedFileOutcome::Indexed => None,
            ArchivedFileOutcome::Skipped(reason) => Some(reason),
        }
    }

    /// The whole of it.
    pub fn record(&self) -> FileRecord {
        let row = self.0;
        FileRecord {
            path: self.path().to_owned(),
            size: self.size(),
            mtime_ns: self.mtime_ns(),
            blob: self.blob().to_vec(),
            hash: self.hash(),
            language: row.language.as_str().to_owned(),
            outcome: self.skipped().map_or(FileOutcome::Indexed, |reason| FileOutcome::Skipped(reason.to_owned())),
            history_key: self.history_key().to_vec(),
            chunks: row.chunks.iter().map(|id| ChunkId(id.to_native())).collect(),
            lines: row.lines.to_native(),
            warnings: row.warnings.iter().map(|warning| warning.as_str().to_owned()).collect(),
        }
    }
}

/// Reads a record; `None` when the bytes are no valid record.
pub(crate) fn decode(bytes: &[u8]) -> Option<FileRecord> {
    FileRow::new(bytes).map(|row| row.record())
}
