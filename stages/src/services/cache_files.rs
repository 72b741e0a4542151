//! Cache files of index runs in the project's `.aurora` directory.

use aurora_cachefile::CacheFile;
use aurora_confined::Directory;
use aurora_storage::IndexId;

/// Opens the cache files of an index. Each file is bound to the random id of the index, so that a repository cannot
/// contain a forged cache file.
pub(crate) struct CacheFiles {
    directory: Directory,
    secret: Vec<u8>,
    read_only: bool,
}

impl CacheFiles {
    /// Creates access to the cache files in `directory` that belong to the index with this id.
    pub(crate) fn new(directory: Directory, index: &IndexId) -> Self {
        Self { directory, secret: index.as_bytes().to_vec(), read_only: false }
    }

    /// Creates access to cache files in a directory that is removed at the end of the run.
    pub(crate) fn temporary(directory: Directory) -> Self {
        Self { directory, secret: Vec::new(), read_only: false }
    }

    /// Makes access to the files read-only.
    #[must_use]
    pub(crate) fn read_only(self) -> Self {
        Self { read_only: true, ..self }
    }

    /// Returns the cache file with this name. The file has at most `max_bytes` bytes.
    pub(crate) fn file(&self, name: &str, max_bytes: u64) -> CacheFile {
        let file = CacheFile::new(self.directory.clone(), name, &self.secret, max_bytes);
        if self.read_only { file.read_only() } else { file }
    }
}
