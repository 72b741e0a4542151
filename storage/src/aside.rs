//! Setting an index aside that cannot be opened.

use std::path::Path;

use crate::env::{Environment, OpenMode};
use crate::error::StorageError;
use crate::fault;
use crate::lock::WriterLock;
use crate::project::ProjectDirectory;
use crate::replace::forget_old;

const INDEX: &str = ProjectDirectory::INDEX;
const ASIDE: &str = ProjectDirectory::UNUSABLE_INDEX;

impl StorageError {
    /// Why what lies at the index's place cannot be used as an index, if that is what the error says.
    pub fn unusable_index(&self) -> Option<String> {
        match self {
            Self::Foreign { reason, .. } => Some(reason.clone()),
            Self::Truncated { expected, actual, .. } => Some(format!("it had {actual} bytes of at least {expected}")),
            Self::Damaged { what, .. } => Some(what.clone()),
            Self::FormatVersion { found, expected, .. } => {
                Some(format!("it had format {found}, this program reads format {expected}"))
            }
            _ => None,
        }
    }
}

impl Environment {
    /// Moves an unusable index of a project out of the way, given its `.aurora` directory; one that was set
    /// aside before is removed. An index that another process has made meanwhile, and that is sound, stays.
    ///
    /// # Errors
    /// [`StorageError::Locked`] when another process is writing, or else when the directory cannot be written.
    pub fn set_aside(directory: &Path) -> Result<(), StorageError> {
        let is_sound = || {
            let found = Self::open(directory, OpenMode::Existing).and_then(|environment| environment.snapshot());
            found.is_ok_and(|snapshot| snapshot.verify().is_ok())
        };
        move_aside(directory, is_sound)
    }

    /// Moves the index of a project out of the way, sound or not, given its `.aurora` directory.
    ///
    /// # Errors
    /// As [`Environment::set_aside`].
    pub fn set_aside_sound(directory: &Path) -> Result<(), StorageError> {
        move_aside(directory, || false)
    }
}

/// Moves an index out of the way unless it is to be kept, which is asked for as the only writer.
fn move_aside(directory: &Path, is_kept: impl FnOnce() -> bool) -> Result<(), StorageError> {
    let home = ProjectDirectory::at(directory).open().map_err(|error| StorageError::io(directory, error))?;
    let _lock = WriterLock::acquire(&home)?;
    if is_kept() {
        return Ok(());
    }
    let io = |name: &str| {
        let path = directory.join(name);
        move |error| StorageError::io(&path, error)
    };
    home.remove(ASIDE).map_err(io(ASIDE))?;
    fault::point();
    // Otherwise what a replacement has left there would be taken for the index.
    forget_old(&home)?;
    fault::point();
    home.rename(INDEX, ASIDE).map_err(io(INDEX))?;
    fault::point();
    Ok(())
}
