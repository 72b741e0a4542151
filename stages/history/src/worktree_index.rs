//! Detection of tracked files that may have changed, from the git index and file metadata alone.

use std::io::{self, BufRead as _, Read as _};
use std::path::{Path, PathBuf};

use aurora_confined::open_regular;
use gix::ObjectId;
use gix::bstr::{BString, ByteSlice as _};
use gix::index::entry::stat::Time;
use gix::index::entry::{Flags, Mode, Stage, Stat};

use crate::error::HistoryError;
use crate::history::History;

/// Minimum time between the last change of a file and the writing of the index, in nanoseconds. If the time is shorter,
/// the metadata of the file is not trusted. The value is a few ticks of a file system's clock.
const RACY_NANOSECONDS: i128 = 50_000_000;

/// Maximum length of a path, in bytes.
const MAX_PATH_BYTES: u64 = 4_096;
/// Maximum number of bytes of memory that gix may use for each byte of the index file.
const MAX_BYTES_PER_FILE_BYTE: usize = 16;
/// Size of the stat data at the start of an entry, in bytes. The object id and the flags follow.
const STAT_BYTES: usize = 40;
/// Size of the flags of an entry, in bytes.
const FLAGS_BYTES: usize = 2;
/// Bit in the first byte of the flags. If the bit is set, extended flags follow.
const EXTENDED: u8 = 0x40;

/// The git index of a work tree.
#[derive(Debug)]
pub struct WorktreeIndex {
    /// `None` in a bare repository, or before anything was added.
    index: Option<gix::index::File>,
    /// The directory to which paths are relative.
    root: PathBuf,
    /// The directory `root` relative to the work tree, ending in `/`, or empty.
    prefix: Vec<u8>,
}

/// A regular file that the git index lists.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TrackedFile {
    /// The blob in the index.
    pub blob: ObjectId,
    /// The state of the file in the working tree.
    pub state: WorktreeState,
}

/// The state of a tracked file according to its metadata.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum WorktreeState {
    /// Size, times and inode match the index, so the content is the blob in the index.
    Unmodified,
    /// The metadata differs, or the entry is racy. The file must be read to determine whether it is modified.
    Unknown,
    /// The working tree has no regular file at this path.
    Missing,
}

impl History {
    /// Reads the git index. Does not read files of the work tree.
    ///
    /// # Errors
    /// Fails if the index is malformed or cannot be read.
    pub fn worktree_index(&self) -> Result<WorktreeIndex, HistoryError> {
        let repository = self.local();
        let has_index = repository.workdir().is_some() && repository.index_path().exists();
        let failure = |reason| HistoryError::Index { path: repository.index_path(), reason };
        let index = has_index.then(|| open_index(&repository)).transpose().map_err(failure)?;
        Ok(WorktreeIndex { index, root: self.root.clone(), prefix: self.prefix.clone() })
    }
}

impl WorktreeIndex {
    /// Returns the state of a tracked regular file, or `None` for any other path. The path is relative to the root of
    /// the [`History`].
    pub fn file(&self, path: &str) -> Option<TrackedFile> {
        let index = self.index.as_ref()?;
        let entry = index.entry_by_path(self.full(path).as_bstr())?;
        if !matches!(entry.mode, Mode::FILE | Mode::FILE_EXECUTABLE) {
            return None;
        }
        let written = index.timestamp();
        let written = (written.unix_seconds(), written.nanoseconds());
        let is_unmerged = entry.stage() != Stage::Unconflicted || entry.flags.contains(Flags::INTENT_TO_ADD);
        let state = match stat(&self.root.join(path)) {
            None => WorktreeState::Missing,
            Some(_) if is_unmerged || is_racy(&entry.stat, written) => WorktreeState::Unknown,
            Some(stat) if same_file(&entry.stat, &stat) => WorktreeState::Unmodified,
            Some(_) => WorktreeState::Unknown,
        };
        Some(TrackedFile { blob: entry.id, state })
    }

    /// Returns the number of entries, including those outside of the root.
    pub fn len(&self) -> usize {
        self.index.as_ref().map_or(0, |index| index.entries().len())
    }

    /// Whether the index has no entries.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether the index lists a regular file below a directory.
    pub fn has_files_below(&self, directory: &str) -> bool {
        let Some(index) = &self.index else { return false };
        let below = self.full(&format!("{directory}/"));
        let entries = index.prefixed_entries(below.as_bstr()).unwrap_or_default();
        entries.iter().any(|entry| matches!(entry.mode, Mode::FILE | Mode::FILE_EXECUTABLE))
    }

    /// Returns the submodules at or below the root.
    pub fn submodules(&self) -> Vec<BString> {
        let Some(index) = &self.index else { return Vec::new() };
        let submodules = index.entries().iter().filter(|entry| entry.mode == Mode::COMMIT);
        submodules
            .filter_map(|entry| entry.path(index).strip_prefix(self.prefix.as_slice()))
            .map(BString::from)
            .collect()
    }

    /// Returns the path relative to the work tree.
    fn full(&self, path: &str) -> Vec<u8> {
        [self.prefix.as_slice(), path.as_bytes()].concat()
    }
}

/// Opens the index of a repository, with a limit on memory that depends on the size of the index file.
fn open_index(repository: &gix::Repository) -> Result<gix::index::File, String> {
    let path = repository.index_path();
    let bytes = open_regular(&path).and_then(|file| file.metadata()).map_err(|error| error.to_string())?.len();
    if !has_only_short_paths(&path, repository.object_hash()).map_err(|error| error.to_string())? {
        return Err(format!("it has a path that is longer than {MAX_PATH_BYTES} bytes"));
    }
    let options = gix::index::decode::Options {
        thread_limit: None,
        min_extension_block_in_bytes_for_threading: 0,
        expected_checksum: None,
        alloc_limit_bytes: usize::try_from(bytes).ok().and_then(|bytes| bytes.checked_mul(MAX_BYTES_PER_FILE_BYTE)),
    };
    let skips_hash = repository.config_snapshot().boolean("index.skipHash").unwrap_or(false);
    gix::index::File::at(path, repository.object_hash(), skips_hash, options).map_err(|error| error.to_string())
}

/// Whether no path is longer than [`MAX_PATH_BYTES`]. Version 4 of the format compresses prefixes, so a small file may
/// describe a large number of long paths.
fn has_only_short_paths(index: &Path, hash: gix::hash::Kind) -> io::Result<bool> {
    let mut file = io::BufReader::new(open_regular(index)?);
    let mut header = [0; 12];
    if file.read_exact(&mut header).is_err() || header[4..8] != 4_u32.to_be_bytes() {
        return Ok(true);
    }
    let entries = u32::from_be_bytes([header[8], header[9], header[10], header[11]]);
    let mut fixed = vec![0; STAT_BYTES + hash.len_in_bytes() + FLAGS_BYTES];
    let (mut len, mut suffix) = (0_u64, Vec::new());
    for _ in 0..entries {
        if file.read_exact(&mut fixed).is_err() {
            break;
        }
        if fixed[fixed.len() - FLAGS_BYTES] & EXTENDED != 0 {
            file.read_exact(&mut [0; FLAGS_BYTES])?;
        }
        // The number of bytes to remove from the previous path: seven bits per byte, the highest first.
        let mut byte = [0];
        file.read_exact(&mut byte)?;
        let mut stripped = u64::from(byte[0] & 0x7F);
        while byte[0] & 0x80 != 0 {
            file.read_exact(&mut byte)?;
            stripped = ((stripped.saturating_add(1)) << 7) | u64::from(byte[0] & 0x7F);
        }
        suffix.clear();
        file.by_ref().take(MAX_PATH_BYTES + 2).read_until(0, &mut suffix)?;
        // The last byte terminates the path.
        len = len.saturating_sub(stripped) + (suffix.len() as u64).saturating_sub(1);
        if len > MAX_PATH_BYTES {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Returns the metadata of a regular file.
fn stat(path: &Path) -> Option<Stat> {
    let metadata = gix::index::fs::Metadata::from_path_no_follow(path).ok()?;
    if metadata.is_file() { Stat::from_fs(&metadata).ok() } else { None }
}

/// Whether an entry is racy. An entry is racy if the file was changed after the index was written, or so shortly before
/// that a second change may have the same times. If a time has no nanoseconds, compares only seconds.
///
/// `written` is the modification time of the index in seconds and nanoseconds.
fn is_racy(indexed: &Stat, written: (i64, u32)) -> bool {
    let in_nanoseconds = |(seconds, rest): (i64, u32)| i128::from(seconds) * 1_000_000_000 + i128::from(rest);
    [indexed.mtime, indexed.ctime].into_iter().any(|time| {
        let changed = (i64::from(time.secs), time.nsecs);
        if changed.1 == 0 || written.1 == 0 {
            return written.0 <= changed.0;
        }
        in_nanoseconds(written) < in_nanoseconds(changed) + RACY_NANOSECONDS
    })
}

/// Whether size, times and inode are equal. The modification time alone is not sufficient, because a program can
/// restore it after changing the file. If a time has no nanoseconds, compares only seconds. In an index without inodes
/// (`core.checkStat`), the inode is zero and is not compared.
fn same_file(indexed: &Stat, found: &Stat) -> bool {
    let is_same_time = |left: Time, right: Time| {
        left.secs == right.secs && (left.nsecs == right.nsecs || left.nsecs == 0 || right.nsecs == 0)
    };
    indexed.size == found.size
        && is_same_time(indexed.mtime, found.mtime)
        && is_same_time(indexed.ctime, found.ctime)
        && (indexed.ino == 0 || indexed.ino == found.ino)
}
