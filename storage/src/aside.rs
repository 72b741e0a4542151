//! Setting an index aside that cannot be opened.

use std::fs;
use std::io;
use std::path::Path;

use crate::env::Environment;
use crate::error::StorageError;
use crate::replace::forget_old;

/// Where an index is put that could not be opened, below `.aurora`.
const ASIDE: &str = "index.unusable";

impl StorageError {
    /// Whether the error says that what lies at the index's place cannot be used as an index.
    pub fn is_unusable_index(&self) -> bool {
        matches!(
            self,
            Self::Foreign { .. } | Self::Truncated { .. } | Self::Damaged { .. } | Self::FormatVersion { .. }
        )
    }
}

impl Environment {
    /// Moves the index of a project out of the way, given its `.aurora` directory; one that was set
    /// aside before is removed.
    ///
    /// # Errors
    /// When the directory cannot be written.
    pub fn set_aside(directory: &Path) -> Result<(), StorageError> {
        let (index, aside) = (directory.join("index"), directory.join(ASIDE));
        match fs::remove_dir_all(&aside) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(StorageError::io(&aside, error)),
            _ => {}
        }
        // Otherwise what a replacement has left there would be taken for the index.
        forget_old(directory)?;
        fs::rename(&index, &aside).map_err(|error| StorageError::io(&index, error))
    }
}
