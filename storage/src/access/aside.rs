//! Setting a log aside that cannot be used.

use aurora_confined::Directory;

use crate::error::StorageError;
use crate::lock::WriterLock;
use crate::project::ProjectDirectory;

/// Moves the log in `home`, the `.aurora` directory, aside, unless `is_sound` says that another process has done so and
/// created a new one. A log that was set aside before is removed. Returns whether the log was moved.
///
/// # Errors
/// [`StorageError::Locked`] when another process is writing, or else when the directory cannot be written.
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
