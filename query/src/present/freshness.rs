//! Detects whether a file has changed since it was indexed.

use aurora_confined::{Directory, EntryKind};
use aurora_storage::{FileRecord, FileStamp};
use serde::Serialize;
use std::io::{ErrorKind, Read as _};

/// The state of a file on disk compared with its record in the index.
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum FileState {
    /// The content equals the indexed content.
    Unchanged,
    /// The content differs from the indexed content.
    Changed,
    /// The file no longer exists.
    Gone,
    /// Unknown, because the file cannot be read or is outside of the indexed directory.
    Unknown,
}

impl FileState {
    /// Returns whether the index is out of date for the file; `None` if unknown.
    pub fn is_stale(self) -> Option<bool> {
        match self {
            Self::Unchanged => Some(false),
            Self::Changed | Self::Gone => Some(true),
            Self::Unknown => None,
        }
    }
}

/// Compares the file below `root` with its record: first the size, then the stamp (times and inode). The content is
/// compared only if the sizes are equal and the stamps differ.
pub fn file_state(root: &Directory, known: &FileRecord) -> FileState {
    let metadata = match root.metadata(&known.path) {
        Ok(metadata) => metadata,
        // A document from a custom stage is not a file in the tree.
        Err(_) if known.path.starts_with('@') => return FileState::Unknown,
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => return FileState::Gone,
        Err(_) => return FileState::Unknown,
    };
    if metadata.kind != EntryKind::File {
        return FileState::Gone;
    }
    if metadata.len != known.size {
        return FileState::Changed;
    }
    let found = FileStamp { modified: metadata.modified, changed: metadata.changed, inode: metadata.inode };
    if known.stamp.is_unchanged(&found) {
        return FileState::Unchanged;
    }
    // The content is hashed in parts, because a conversation log may be larger than memory.
    let hash = root.open_file(&known.path).and_then(|file| {
        let mut hasher = blake3::Hasher::new();
        hasher.update_reader(file.take(known.size)).map(|hasher| hasher.finalize())
    });
    match hash {
        Ok(hash) if *hash.as_bytes() == known.hash => FileState::Unchanged,
        Ok(_) => FileState::Changed,
        Err(_) => FileState::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use aurora_storage::FileOutcome;

    use super::*;

    fn record(content: &[u8], modified: i64) -> FileRecord {
        FileRecord {
            path: "a.py".to_owned(),
            size: content.len() as u64,
            stamp: FileStamp { modified, ..FileStamp::default() },
            blob: Vec::new(),
            hash: *blake3::hash(content).as_bytes(),
            language: "python".to_owned(),
            outcome: FileOutcome::Indexed,
            history_key: Vec::new(),
            chunks: Vec::new(),
            lines: 1,
            warnings: Vec::new(),
            unfinished: Vec::new(),
        }
    }

    #[test]
    fn contents_are_compared_if_the_stamps_differ() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let path = directory.path().join("a.py");
        let root = Directory::open_root(directory.path()).expect("the directory exists");
        let known = record(b"one", 1);
        assert_eq!(file_state(&root, &known), FileState::Gone);
        fs::write(&path, "one").expect("written");
        assert_eq!(file_state(&root, &known), FileState::Unchanged);
        fs::write(&path, "two").expect("written");
        assert_eq!(file_state(&root, &known), FileState::Changed);
        let below = FileRecord { path: "a.py/below".to_owned(), ..known.clone() };
        assert_eq!(file_state(&root, &below), FileState::Gone);
        fs::write(&path, "longer").expect("written");
        assert_eq!(file_state(&root, &record(b"one", 0)).is_stale(), Some(true));
    }

    #[test]
    fn the_state_of_a_file_outside_of_the_root_is_unknown() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        fs::write(directory.path().join("a.py"), "one").expect("written");
        fs::create_dir(directory.path().join("root")).expect("created");
        let root = Directory::open_root(&directory.path().join("root")).expect("the directory exists");
        let known = FileRecord { path: "../a.py".to_owned(), ..record(b"one", 1) };
        assert_eq!(file_state(&root, &known), FileState::Unknown);
    }
}
