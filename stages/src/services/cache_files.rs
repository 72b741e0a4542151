//! The cache files that an index run keeps in the project's `.aurora` directory.

use aurora_cachefile::CacheFile;
use aurora_confined::Directory;
use aurora_storage::IndexId;

/// Opens cache files. Each file contains the random id of the index, so that a repository cannot ship a forged one.
pub(crate) struct CacheFiles {
    directory: Directory,
    secret: Vec<u8>,
    read_only: bool,
}

impl CacheFiles {
    /// Returns the cache files in `directory` that belong to the index with this id.
    pub(crate) fn new(directory: Directory, index: &IndexId) -> Self {
        Self { directory, secret: index.as_bytes().to_vec(), read_only: false }
    }

    /// Returns the cache files in a directory that is removed at the end of the run.
    pub(crate) fn temporary(directory: Directory) -> Self {
        Self { directory, secret: Vec::new(), read_only: false }
    }

    /// Makes the files read-only.
    #[must_use]
    pub(crate) fn read_only(self) -> Self {
        Self { read_only: true, ..self }
    }

    /// Returns the cache file with this name. It is at most `max_bytes` long.
    pub(crate) fn file(&self, name: &str, max_bytes: u64) -> CacheFile {
        let file = CacheFile::new(self.directory.clone(), name, &self.secret, max_bytes);
        if self.read_only { file.read_only() } else { file }
    }
}
