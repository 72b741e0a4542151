//! Records the state of a directory, so that a test can detect changes.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Maximum size in bytes of files whose contents are compared. For larger files, only size and times are compared.
const MAX_COMPARED_BYTES: u64 = 4 << 20;

/// The state of all entries below a directory. Recording follows no links and opens only regular files.
#[derive(Debug)]
pub(crate) struct Record {
    entries: BTreeMap<PathBuf, Entry>,
}

#[derive(Debug, PartialEq)]
struct Entry {
    mode: u32,
    size: u64,
    modified: (i64, i64),
    /// Content of a file, or target of a link.
    content: Vec<u8>,
}

impl Record {
    /// Records all entries below `directory`, except the paths in `except` and everything below them.
    pub(crate) fn take(directory: &Path, except: &[PathBuf]) -> Self {
        let mut entries = BTreeMap::new();
        let mut open = vec![directory.to_owned()];
        while let Some(directory) = open.pop() {
            // If a hostile directory cannot be listed, its entries are ignored.
            for entry in fs::read_dir(&directory).into_iter().flatten().flatten() {
                let path = entry.path();
                let Ok(metadata) = path.symlink_metadata() else { continue };
                if except.contains(&path) {
                    continue;
                }
                entries.insert(path.clone(), Entry::read(&path, &metadata));
                if metadata.is_dir() {
                    open.push(path);
                }
            }
        }
        Self { entries }
    }

    /// Returns the differences between this record and a later record.
    pub(crate) fn changes(&self, later: &Self) -> Vec<String> {
        let change = |path: &PathBuf| match (self.entries.get(path), later.entries.get(path)) {
            (None, Some(_)) => Some(format!("{} was created", path.display())),
            (Some(_), None) => Some(format!("{} was removed", path.display())),
            (Some(old), Some(new)) if old != new => Some(format!("{} was changed", path.display())),
            _ => None,
        };
        let added = later.entries.keys().filter(|path| !self.entries.contains_key(*path));
        self.entries.keys().chain(added).filter_map(change).collect()
    }
}

impl Entry {
    fn read(path: &Path, metadata: &fs::Metadata) -> Self {
        let kind = metadata.file_type();
        let content = if kind.is_symlink() {
            fs::read_link(path).map(|target| target.into_os_string().into_encoded_bytes()).unwrap_or_default()
        } else if kind.is_file() && metadata.len() <= MAX_COMPARED_BYTES {
            fs::read(path).unwrap_or_default()
        } else {
            Vec::new()
        };
        let modified = (metadata.mtime(), metadata.mtime_nsec());
        Self { mode: metadata.mode(), size: metadata.len(), modified, content }
    }
}
