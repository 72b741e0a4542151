//! Which tracked files may have changed, told from the git index and file metadata alone.

use std::path::{Path, PathBuf};

use gix::ObjectId;
use gix::bstr::{BString, ByteSlice as _};
use gix::index::entry::{Flags, Mode, Stage, Stat};

use super::error::HistoryError;
use super::repository::History;

/// How much older than the index a file must be to be trusted; some ticks of the clocks that file systems use.
const SETTLING_NANOSECONDS: i128 = 50_000_000;

/// The git index of a work tree, which says what is tracked and vouches for files.
#[derive(Debug)]
pub struct WorktreeIndex {
    /// Nothing in a bare repository or before anything was added.
    index: Option<gix::index::File>,
    /// The directory that paths are relative to.
    root: PathBuf,
    /// That directory relative to the work tree, ending in `/`, or empty.
    prefix: Vec<u8>,
}

/// A regular file that the git index lists.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TrackedFile {
    /// The content that the index lists.
    pub blob: ObjectId,
    /// How the file in the working tree compares.
    pub state: WorktreeState,
}

/// What metadata tells about a tracked file, without reading it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum WorktreeState {
    /// Modification time and size are those in the index: the content is the one that the index lists.
    Unmodified,
    /// It differs, or was written so close to the index that metadata proves nothing: read it.
    Unknown,
    /// There is no regular file.
    Missing,
}

impl History {
    /// Reads the git index, once, and no file.
    pub fn worktree_index(&self) -> Result<WorktreeIndex, HistoryError> {
        let repository = self.local();
        let has_index = repository.workdir().is_some() && repository.index_path().exists();
        let failure =
            |error: gix::Error| HistoryError::Index { path: repository.index_path(), reason: error.to_string() };
        let index = has_index.then(|| repository.open_index()).transpose().map_err(failure)?;
        Ok(WorktreeIndex { index, root: self.root.clone(), prefix: self.prefix.clone() })
    }
}

impl WorktreeIndex {
    /// What is known of a tracked regular file, from the index and the metadata of the file as it is now; nothing for any
    /// other path. The path is relative to the root of the [`History`].
    pub fn file(&self, path: &str) -> Option<TrackedFile> {
        let index = self.index.as_ref()?;
        let entry = index.entry_by_path(self.full(path).as_bstr())?;
        if !matches!(entry.mode, Mode::FILE | Mode::FILE_EXECUTABLE) {
            return None;
        }
        let written = index.timestamp();
        let written = (written.unix_seconds(), written.nanoseconds());
        let unsettled = entry.stage() != Stage::Unconflicted || entry.flags.contains(Flags::INTENT_TO_ADD);
        let state = match stat(&self.root.join(path)) {
            None => WorktreeState::Missing,
            Some(_) if unsettled || is_racy(&entry.stat, written) => WorktreeState::Unknown,
            Some(stat) if same_file(&entry.stat, &stat) => WorktreeState::Unmodified,
            Some(_) => WorktreeState::Unknown,
        };
        Some(TrackedFile { blob: entry.id, state })
    }

    /// Number of entries, those above the root among them.
    pub fn len(&self) -> usize {
        self.index.as_ref().map_or(0, |index| index.entries().len())
    }

    /// Whether nothing is tracked.
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

    /// The submodules that the index lists at or below the root; their files are none of this repository's.
    pub fn submodules(&self) -> Vec<BString> {
        let Some(index) = &self.index else { return Vec::new() };
        let submodules = index.entries().iter().filter(|entry| entry.mode == Mode::COMMIT);
        submodules
            .filter_map(|entry| entry.path(index).strip_prefix(self.prefix.as_slice()))
            .map(BString::from)
            .collect()
    }

    /// The path relative to the work tree.
    fn full(&self, path: &str) -> Vec<u8> {
        [self.prefix.as_slice(), path.as_bytes()].concat()
    }
}

/// The metadata of a regular file.
fn stat(path: &Path) -> Option<Stat> {
    let metadata = gix::index::fs::Metadata::from_path_no_follow(path).ok()?;
    if metadata.is_file() { Stat::from_fs(&metadata).ok() } else { None }
}

/// Whether a file was modified so shortly before the index was written, or after it, that a second change may have left its
/// time as it was. Where either side has no nanoseconds, time passes in seconds.
///
/// `written` is the time of the index in seconds and nanoseconds.
fn is_racy(indexed: &Stat, written: (i64, u32)) -> bool {
    let modified = (i64::from(indexed.mtime.secs), indexed.mtime.nsecs);
    if modified.1 == 0 || written.1 == 0 {
        return written.0 <= modified.0;
    }
    let in_nanoseconds = |(seconds, rest): (i64, u32)| i128::from(seconds) * 1_000_000_000 + i128::from(rest);
    in_nanoseconds(written) < in_nanoseconds(modified) + SETTLING_NANOSECONDS
}

/// Whether size and modification time agree. Where either side has no nanoseconds, seconds decide.
fn same_file(indexed: &Stat, found: &Stat) -> bool {
    let (left, right) = (indexed.mtime, found.mtime);
    let same_nanoseconds = left.nsecs == right.nsecs || left.nsecs == 0 || right.nsecs == 0;
    indexed.size == found.size && left.secs == right.secs && same_nanoseconds
}
