//! Whether a file is still what was indexed.

use std::io::ErrorKind;
use std::path::Path;
use std::time::UNIX_EPOCH;

use aurora_storage::FileRecord;
use serde::Serialize;

/// A file of the index beside the one on disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum FileState {
    /// The content is what was indexed.
    Unchanged,
    /// The content is another one.
    Changed,
    /// There is no such file any more.
    Gone,
    /// It cannot be told: the file cannot be read, or lies where the index does not know.
    Unknown,
}

impl FileState {
    /// Whether what the index says of the file is out of date; `None` where that is unknown.
    pub fn is_stale(self) -> Option<bool> {
        match self {
            Self::Unchanged => Some(false),
            Self::Changed | Self::Gone => Some(true),
            Self::Unknown => None,
        }
    }
}

/// Compares the file at `path` with what was recorded of it: its size, then its time, and its content only where the
/// size is the same and the time is not.
pub fn file_state(path: &Path, known: &FileRecord) -> FileState {
    let metadata = match path.metadata() {
        Ok(metadata) => metadata,
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => return FileState::Gone,
        Err(_) => return FileState::Unknown,
    };
    if !metadata.is_file() {
        return FileState::Gone;
    }
    if metadata.len() != known.size {
        return FileState::Changed;
    }
    let modified = metadata.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    let modified = modified.and_then(|time| i64::try_from(time.as_nanos()).ok());
    // A time of zero stands for one that proves nothing.
    if known.mtime_ns != 0 && modified == Some(known.mtime_ns) {
        return FileState::Unchanged;
    }
    match std::fs::read(path) {
        Ok(content) if *blake3::hash(&content).as_bytes() == known.hash => FileState::Unchanged,
        Ok(_) => FileState::Changed,
        Err(_) => FileState::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use aurora_storage::FileOutcome;

    use super::*;

    fn record(content: &[u8], mtime_ns: i64) -> FileRecord {
        FileRecord {
            path: "a.py".to_owned(),
            size: content.len() as u64,
            mtime_ns,
            blob: Vec::new(),
            hash: *blake3::hash(content).as_bytes(),
            language: "python".to_owned(),
            outcome: FileOutcome::Indexed,
            history_key: Vec::new(),
            chunks: Vec::new(),
            lines: 1,
            warnings: Vec::new(),
        }
    }

    #[test]
    fn content_decides_where_the_time_does_not() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let path = directory.path().join("a.py");
        let known = record(b"one", 1);
        assert_eq!(file_state(&path, &known), FileState::Gone);
        fs::write(&path, "one").expect("written");
        assert_eq!(file_state(&path, &known), FileState::Unchanged);
        fs::write(&path, "two").expect("written");
        assert_eq!(file_state(&path, &known), FileState::Changed);
        assert_eq!(file_state(&path.join("below"), &known), FileState::Gone);
        fs::write(&path, "longer").expect("written");
        assert_eq!(file_state(&path, &record(b"one", 0)).is_stale(), Some(true));
    }
}
