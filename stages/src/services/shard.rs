//! The part of a tree that a run indexes, for indexes that several machines build together.

use std::fs::File;
use std::io;
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use aurora_cachefile::CacheFile;
use aurora_confined::Directory;

/// Maximum size of the cache of the walk over the git history in bytes, enough for some five million commits.
pub(crate) const MAX_HISTORY_WALK_BYTES: u64 = 1 << 30;

/// The position of a shard among all shards of a tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ShardNumber {
    /// Number of the shard, from 1.
    pub number: u32,
    /// Number of shards.
    pub count: NonZeroU32,
}

/// A cache of the walk over the git history that several runs use at the same time.
#[derive(Debug, Clone)]
pub(crate) struct SharedHistory {
    pub(crate) cache: CacheFile,
    /// Lock that a run holds during the walk, so that only the first run compares the commits.
    pub(crate) lock: Arc<File>,
}

impl SharedHistory {
    /// Opens the cache in the file `path`, which need not exist.
    ///
    /// # Errors
    /// Fails if the path is a directory, or if the directory of the file, or the lock file in it, cannot be opened.
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        if path.is_dir() {
            return Err(io::ErrorKind::IsADirectory.into());
        }
        let name = path.file_name().and_then(|name| name.to_str()).ok_or(io::ErrorKind::InvalidFilename)?;
        let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let directory = Directory::open_root(parent)?;
        let lock = Arc::new(directory.open_or_create(format!("{name}.lock"))?);
        Ok(Self { cache: CacheFile::new(directory, name, b"", MAX_HISTORY_WALK_BYTES), lock })
    }
}

/// The state of a run on a shard.
#[derive(Debug, Clone)]
pub struct ShardRun {
    pub(crate) shard: ShardNumber,
    /// Directory of the index of the shard, in place of the project's `.aurora`.
    pub(crate) directory: PathBuf,
    /// Cache of the walk over the git history that all shards share.
    pub(crate) history: Option<SharedHistory>,
    /// Digest of the whole tree, in hexadecimal. The source of the pipeline sets it.
    pub(crate) tree: Arc<OnceLock<String>>,
}
