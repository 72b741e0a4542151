//! Setting a log aside that cannot be used.

use std::fs;
use std::io;
use std::path::Path;

use crate::error::StorageError;
use crate::lock::WriterLock;
use crate::writer::LOCK;

/// Moves the directory `name` below `home`, the `.aurora` directory, out of the way, unless `is_sound` says that another
/// process has done so and made another one; what was set aside before is removed. Returns whether it was moved.
///
/// # Errors
/// [`StorageError::Locked`] when another process is writing, or else when the directory cannot be written.
pub(super) fn set_aside(home: &Path, name: &str, is_sound: impl Fn() -> bool) -> Result<bool, StorageError> {
    let _lock = WriterLock::acquire_briefly(&home.join(LOCK))?;
    if is_sound() {
        return Ok(false);
    }
    let (from, to) = (home.join(name), home.join(format!("{name}.unusable")));
    let removed = match fs::symlink_metadata(&to) {
        Ok(found) if found.is_dir() => fs::remove_dir_all(&to),
        Ok(_) => fs::remove_file(&to),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
    };
    removed.map_err(|error| StorageError::io(&to, error))?;
    fs::rename(&from, &to).map_err(|error| StorageError::io(&from, error))?;
    Ok(true)
}
