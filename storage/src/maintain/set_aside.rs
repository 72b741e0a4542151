//! Renames an unusable index, so that a new one can be built.

use std::path::Path;

use crate::environment::Environment;
use crate::error::StorageError;
use crate::fault;
use crate::interrupted::remove_old;
use crate::lock::FileLock;
use crate::opening::OpenMode;
use crate::project::ProjectDirectory;

const INDEX: &str = ProjectDirectory::INDEX;
const ASIDE: &str = ProjectDirectory::UNUSABLE_INDEX;

impl Environment {
    /// Moves an unusable index to [`ProjectDirectory::UNUSABLE_INDEX`], given the `.aurora` directory of a project. An
    /// older index at that path is removed. If another process has created a valid index in the meantime, nothing is
    /// moved.
    ///
    /// # Errors
    /// Returns [`StorageError::Locked`] if another process is writing; an error if the directory cannot be written.
    pub fn set_aside(directory: &Path) -> Result<(), StorageError> {
        let is_valid = || {
            let found = Self::open(directory, OpenMode::Existing).and_then(|environment| environment.snapshot());
            found.is_ok_and(|snapshot| snapshot.verify().is_ok())
        };
        move_aside(directory, is_valid)
    }

    /// Like [`Environment::set_aside`], but moves a valid index too.
    ///
    /// # Errors
    /// Returns the errors of [`Environment::set_aside`].
    pub fn set_aside_unchecked(directory: &Path) -> Result<(), StorageError> {
        move_aside(directory, || false)
    }
}

/// Moves an index to [`ASIDE`] unless `must_stay` returns `true`. `must_stay` is called under the writer's lock.
fn move_aside(directory: &Path, must_stay: impl FnOnce() -> bool) -> Result<(), StorageError> {
    let home = ProjectDirectory::at(directory).open().map_err(|error| StorageError::io(directory, error))?;
    let _lock = FileLock::writer(&home)?;
    if must_stay() {
        return Ok(());
    }
    let io = |name: &str| {
        let path = directory.join(name);
        move |error| StorageError::io(&path, error)
    };
    home.remove(ASIDE).map_err(io(ASIDE))?;
    fault::point();
    // If an interrupted replacement has left an old index, the next open would move it to the index's path. Remove it
    // first.
    remove_old(&home)?;
    fault::point();
    home.rename(INDEX, ASIDE).map_err(io(INDEX))?;
    fault::point();
    Ok(())
}
