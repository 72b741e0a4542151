//! The state of the tree at the last check that found no change.
//!
//! A search compares the tree with the index before it answers. As long as a walk finds what it found then, the comparison of
//! every file with its row need not be repeated.

use std::sync::OnceLock;

use aurora_cachefile::{CacheFile, Format};

const MAGIC: &[u8; 8] = b"AURSEEN\n";
/// Raised when what a walk's digest covers changes, or how files are compared with the index.
const VERSION: u32 = 1;
/// Maximum size of the file, in bytes.
pub(crate) const MAX_CHECK: u64 = 4 << 10;

/// A BLAKE3 hash of everything that a walk has found: paths, sizes, stamps, languages, omissions.
pub(crate) type WalkDigest = [u8; 32];

/// The digest of the last walk after which no file differed from the index, and that of the current one.
pub(crate) struct LastCheck {
    file: CacheFile,
    format: Format,
    known: Option<WalkDigest>,
    /// Absent if files may change without a change of the digest.
    found: OnceLock<WalkDigest>,
}

impl LastCheck {
    /// The check in `file`. `key` identifies what the result depends on besides the tree: the generation and the pipeline.
    pub(crate) fn read(file: CacheFile, key: &[u8]) -> Self {
        let format = Format::new(MAGIC, VERSION, key);
        let known = file.read(&format).and_then(|bytes| {
            let content = file.segments(&bytes, &format).next()?;
            bytes[content].try_into().ok()
        });
        Self { file, format, known, found: OnceLock::new() }
    }

    /// Records what a walk has found.
    pub(crate) fn note(&self, digest: WalkDigest) {
        self.found.get_or_init(|| digest);
    }

    /// Whether the tree is as it was, so that no file has to be compared with the index.
    pub(crate) fn is_repeated(&self) -> bool {
        self.known.is_some() && self.known.as_ref() == self.found.get()
    }

    /// Stores the digest of the walk, after which no file differed from the index.
    pub(crate) fn store(&self) {
        if let Some(found) = self.found.get().filter(|_| !self.is_repeated()) {
            // If this fails, the next check compares every file again.
            let _ = self.file.append(&self.format, None, found);
        }
    }
}
