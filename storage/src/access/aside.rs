//! Moves an unusable log aside.

use aurora_confined::Directory;

use crate::error::StorageError;
use crate::lock::WriterLock;
use crate::project::ProjectDirectory;

/// Moves the log in `home`, the `.aurora` directory, aside, unless `is_sound` finds that another process has done so
/// and created a new log. Removes a log that was moved aside before. Returns whether the log was moved.
///
/// # Errors
/// [`StorageError::Locked`] if another process is writing; an error if the directory cannot be written.
pub(super) fn set_aside(home: &Directory, is_sound: impl Fn() -> bool) -> Result<bool, StorageError> {
    let _lock = WriterLock::acquire_briefly(home)?;
    if is_sound() {
        return Ok(false);
    }
    let (name, aside) = (ProjectDirectory::ACCESS, ProjectDirectory::UNUSABLE_ACCESS);
    let moved = home.remove(aside).and_then(|()| home.rename(name, aside));
    moved.map_err(|error| StorageError::io(&home.path().join(name), error))?;
    Ok(true)
}
