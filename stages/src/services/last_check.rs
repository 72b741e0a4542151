//! The cache file with the stat data of the last check of the tree that found no change.

use std::sync::OnceLock;

use aurora_cachefile::{CacheFile, Format};

const MAGIC: &[u8; 8] = b"AURSEEN\n";
/// Increased when the layout of this file changes, or the way in which files are compared with the index.
const VERSION: u32 = 1;
/// Maximum size of the file in bytes, enough for some two million files.
pub(crate) const MAX_CHECK_BYTES: u64 = 256 << 20;

/// The record of the last check that found no difference between the tree and the index. A search checks the tree
/// before it answers. While the stat data of the tree equals the recorded stat data, the files need not be compared.
pub(crate) struct LastCheck {
    file: CacheFile,
    format: Format,
    seen: OnceLock<Vec<u8>>,
}

impl LastCheck {
    /// Creates a record that is stored in `file`. `key` identifies the inputs of the check other than the tree: the
    /// generation, the pipeline and the state of the repository.
    pub(crate) fn new(file: CacheFile, key: &[u8]) -> Self {
        Self { file, format: Format::new(MAGIC, VERSION, key), seen: OnceLock::new() }
    }

    /// Returns the stat data of the last check, which was passed to [`Self::note`]. Returns `None` if there is no valid
    /// record.
    pub(crate) fn read(&self) -> Option<Vec<u8>> {
        let mut bytes = self.file.read(&self.format)?;
        let content = self.file.segments(&bytes, &self.format).next()?;
        bytes.truncate(content.end);
        bytes.drain(..content.start);
        Some(bytes)
    }

    /// Remembers the stat data of this check for [`Self::store`].
    pub(crate) fn note(&self, seen: Vec<u8>) {
        self.seen.get_or_init(|| seen);
    }

    /// Stores the stat data of this check. Call this method only if no file differs from the index.
    pub(crate) fn store(&self) {
        if let Some(seen) = self.seen.get() {
            // If this fails, the next check compares every file again.
            let _ = self.file.append(&self.format, None, seen);
        }
    }
}
