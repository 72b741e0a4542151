//! Handles interrupted replacements of an index: waits for a process that is replacing an index, and restores or
//! removes the directories that a killed process has left.
//!
//! [`crate::maintain::replacement`] describes the steps of a replacement.

use std::path::Path;
use std::time::Duration;

use aurora_confined::{Directory, EntryKind};

use crate::error::StorageError;
use crate::lock::FileLock;
use crate::opening::has_no_commit;
use crate::project::{DATA, ProjectDirectory};

const INDEX: &str = ProjectDirectory::INDEX;
const NEW: &str = ProjectDirectory::NEW_INDEX;
const OLD: &str = ProjectDirectory::OLD_INDEX;
/// Maximum number of attempts to open an index that is being replaced.
const MAX_ATTEMPTS: usize = 200;
/// Pause between two attempts.
const PAUSE: Duration = Duration::from_millis(5);

/// Whether a project has an index, given its `.aurora` directory. The old index of an interrupted replacement counts. A
/// data file without a commit does not count.
pub(crate) fn is_present(home: &Directory) -> bool {
    let is_there = |name: &&str| {
        let is_file = home.metadata(Path::new(name).join(DATA)).is_ok_and(|found| found.kind == EntryKind::File);
        // An unreadable file counts, because opening it reports the reason.
        is_file && !home.open_directory(name).is_ok_and(|directory| has_no_commit(&directory).unwrap_or(false))
    };
    [INDEX, OLD].iter().any(is_there)
}

/// Removes the directories that killed replacements have left. The caller holds the writer's lock.
pub(crate) fn clear(home: &Directory) -> Result<(), StorageError> {
    remove_old(home)?;
    remove(home, NEW)
}

/// Removes the old index of a replacement.
pub(crate) fn remove_old(home: &Directory) -> Result<(), StorageError> {
    remove(home, OLD)
}

/// Takes the writer's lock of a project. Waits for a limited time if another process is replacing or creating the
/// index.
pub(crate) fn reserve(home: &Directory) -> Result<FileLock, StorageError> {
    let mut attempts = 0;
    loop {
        match FileLock::writer_briefly(home) {
            Err(StorageError::Locked { .. }) if attempts < MAX_ATTEMPTS => std::thread::sleep(PAUSE),
            result => return result,
        }
        attempts += 1;
    }
}

/// Waits while another process replaces the index. Moves the old index back if that process was killed.
pub(crate) fn wait_or_restore(home: &Directory) -> Result<(), StorageError> {
    if exists(home, INDEX) || !exists(home, OLD) {
        return Ok(());
    }
    match reserve(home) {
        Ok(_lock) => move_back(home),
        // Without write permission, the old index cannot be moved back.
        Err(StorageError::ReadOnly { .. }) => Ok(()),
        Err(error) => Err(error),
    }
}

/// Moves the old index back if no index is at its path. The caller holds the writer's lock.
pub(crate) fn move_back(home: &Directory) -> Result<(), StorageError> {
    if exists(home, OLD) && !exists(home, INDEX) { rename(home, OLD, INDEX) } else { Ok(()) }
}

/// Whether an entry of the directory exists.
pub(crate) fn exists(home: &Directory, name: &str) -> bool {
    home.metadata(name).is_ok()
}

fn remove(home: &Directory, name: &str) -> Result<(), StorageError> {
    home.remove(name).map_err(|error| StorageError::io(&home.path().join(name), error))
}

/// Renames an entry of the directory.
pub(crate) fn rename(home: &Directory, from: &str, to: &str) -> Result<(), StorageError> {
    home.rename(from, to).map_err(|error| StorageError::io(&home.path().join(from), error))
}
