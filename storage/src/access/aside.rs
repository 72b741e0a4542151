//! Setting a log aside that cannot be used.

use aurora_confined::Directory;

use crate::error::StorageError;
use crate::lock::WriterLock;

/// Moves what is called `name` below `home`, the `.aurora` directory, out of the way, unless `is_sound` says that another
/// process has done so and made another one; what was set aside before is removed. Returns whether it was moved.
///
/// # Errors
/// [`StorageError::Locked`] when another process is writing, or else when the directory cannot be written.
pub(super) fn set_aside(home: &Directory, name: &str, is_sound: impl Fn() -> bool) -> Result<bool, StorageError> {
    let _lock = WriterLock::acquire_briefly(home)?;
    if is_sound() {
        return Ok(false);
    }
    let aside = format!("{name}.unusable");
    let moved = home.remove(&aside).and_then(|()| home.rename(name, &aside));
    moved.map_err(|error| StorageError::io(&home.path().join(name), error))?;
    Ok(true)
}
