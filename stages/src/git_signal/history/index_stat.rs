//! Which tracked files may have changed, told from the git index and file metadata alone.

use gix::ObjectId;
use gix::bstr::BString;
use gix::index::entry::{Flags, Mode, Stage, Stat};
use rayon::prelude::*;

use super::error::HistoryError;
use super::repository::History;

/// How much older than the index a file must be to be trusted; some ticks of the clocks that file systems use.
const SETTLING_NANOSECONDS: i128 = 50_000_000;

/// A regular file that the git index lists.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TrackedFile {
    /// The path relative to the root of the [`History`].
    pub path: BString,
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
    /// Lists the tracked regular files at or below the root, in the order of the index, and compares their metadata.
    ///
    /// Reads the git index once and no file. Empty in a bare repository or before anything was added.
    pub fn worktree_scan(&self) -> Result<Vec<TrackedFile>, HistoryError> {
        let Some(index) = self.read_index()? else { return Ok(Vec::new()) };
        let written = index.timestamp();
        let written = (written.unix_seconds(), written.nanoseconds());
        let entries = index.entries().par_iter().filter(|entry| {
            let stage = entry.stage();
            let is_file = matches!(entry.mode, Mode::FILE | Mode::FILE_EXECUTABLE);
            is_file && matches!(stage, Stage::Unconflicted | Stage::Ours)
        });
        let files = entries.filter_map(|entry| {
            let path = entry.path(&index).strip_prefix(self.prefix.as_slice())?;
            let unsettled = entry.stage() != Stage::Unconflicted || entry.flags.contains(Flags::INTENT_TO_ADD);
            let state = match self.stat(path) {
                None => WorktreeState::Missing,
                Some(_) if unsettled || is_racy(&entry.stat, written) => WorktreeState::Unknown,
                Some(stat) if same_file(&entry.stat, &stat) => WorktreeState::Unmodified,
                Some(_) => WorktreeState::Unknown,
            };
            Some(TrackedFile { path: path.into(), blob: entry.id, state })
        });
        Ok(files.collect())
    }

    /// The submodules that the index lists at or below the root; their files are none of this repository's.
    pub fn submodules(&self) -> Result<Vec<BString>, HistoryError> {
        let Some(index) = self.read_index()? else { return Ok(Vec::new()) };
        let submodules = index.entries().iter().filter(|entry| entry.mode == Mode::COMMIT);
        let below = submodules.filter_map(|entry| entry.path(&index).strip_prefix(self.prefix.as_slice()));
        Ok(below.map(BString::from).collect())
    }

    fn read_index(&self) -> Result<Option<gix::index::File>, HistoryError> {
        let repository = self.local();
        if repository.workdir().is_none() || !repository.index_path().exists() {
            return Ok(None);
        }
        let failure =
            |error: gix::Error| HistoryError::Index { path: repository.index_path(), reason: error.to_string() };
        repository.open_index().map(Some).map_err(failure)
    }

    /// The metadata of the regular file `path`.
    fn stat(&self, path: &[u8]) -> Option<Stat> {
        let path = self.root.join(gix::path::from_byte_slice(path).ok()?);
        let metadata = gix::index::fs::Metadata::from_path_no_follow(&path).ok()?;
        if metadata.is_file() { Stat::from_fs(&metadata).ok() } else { None }
    }
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
