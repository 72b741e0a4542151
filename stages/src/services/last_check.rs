//! The stat data from the last check of the tree that found no change.

use std::sync::OnceLock;

use aurora_cachefile::{CacheFile, Format};

const MAGIC: &[u8; 8] = b"AURSEEN\n";
/// Increased when the layout of the content or the comparison of files with the index changes.
const VERSION: u32 = 1;
/// Maximum size of the file in bytes, enough for some two million files.
pub(crate) const MAX_CHECK_BYTES: u64 = 256 << 20;

/// The stat data of a tree that did not differ from the index. A search compares the tree with the index before it
/// answers. As long as the stat data is the same, the files need not be compared.
pub(crate) struct LastCheck {
    file: CacheFile,
    format: Format,
    seen: OnceLock<Vec<u8>>,
}

impl LastCheck {
    /// Opens the check in `file`. `key` identifies the inputs of the check besides the tree: the generation, the
    /// pipeline and the repository.
    pub(crate) fn new(file: CacheFile, key: &[u8]) -> Self {
        Self { file, format: Format::new(MAGIC, VERSION, key), seen: OnceLock::new() }
    }

    /// Returns the stat data of the last check, as passed to [`Self::note`].
    pub(crate) fn read(&self) -> Option<Vec<u8>> {
        let mut bytes = self.file.read(&self.format)?;
        let content = self.file.segments(&bytes, &self.format).next()?;
        bytes.truncate(content.end);
        bytes.drain(..content.start);
        Some(bytes)
    }

    /// Records the stat data of this check.
    pub(crate) fn note(&self, seen: Vec<u8>) {
        self.seen.get_or_init(|| seen);
    }

    /// Stores the stat data of this check. Call it only if no file differed from the index.
    pub(crate) fn store(&self) {
        if let Some(seen) = self.seen.get() {
            // If this fails, the next check compares every file again.
            let _ = self.file.append(&self.format, None, seen);
        }
    }
}
