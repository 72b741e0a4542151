//! Moves an unusable index aside.

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
    /// Moves the unusable index of a project aside, given its `.aurora` directory. Removes an index that was moved
    /// aside before. Keeps a sound index that another process has created in the meantime.
    ///
    /// # Errors
    /// [`StorageError::Locked`] if another process is writing; an error if the directory cannot be written.
    pub fn set_aside(directory: &Path) -> Result<(), StorageError> {
        let is_sound = || {
            let found = Self::open(directory, OpenMode::Existing).and_then(|environment| environment.snapshot());
            found.is_ok_and(|snapshot| snapshot.verify().is_ok())
        };
        move_aside(directory, is_sound)
    }

    /// Moves the index of a project aside, whether sound or not, given its `.aurora` directory.
    ///
    /// # Errors
    /// The errors of [`Environment::set_aside`].
    pub fn set_aside_unchecked(directory: &Path) -> Result<(), StorageError> {
        move_aside(directory, || false)
    }
}

/// Moves an index aside unless `is_kept` returns `true`. `is_kept` is called under the writer's lock.
fn move_aside(directory: &Path, is_kept: impl FnOnce() -> bool) -> Result<(), StorageError> {
    let home = ProjectDirectory::at(directory).open().map_err(|error| StorageError::io(directory, error))?;
    let _lock = FileLock::writer(&home)?;
    if is_kept() {
        return Ok(());
    }
    let io = |name: &str| {
        let path = directory.join(name);
        move |error| StorageError::io(&path, error)
    };
    home.remove(ASIDE).map_err(io(ASIDE))?;
    fault::point();
    // Otherwise the next open would move the remains of an interrupted replacement to the index's path.
    remove_old(&home)?;
    fault::point();
    home.rename(INDEX, ASIDE).map_err(io(INDEX))?;
    fault::point();
    Ok(())
}
