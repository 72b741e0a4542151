//! The objects of parts in the `.aurora` directory of a project.

use std::collections::HashSet;
use std::io::{self, Write};
use std::path::Path;

use aurora_confined::Directory;
use aurora_storage::{ProjectDirectory, StorageError};

use crate::error::RemoteError;
use crate::part::StoredPart;

/// Objects that were downloaded or uploaded. Every read checks the hash.
pub(crate) struct PartCache {
    directory: Directory,
}

impl PartCache {
    /// Opens the cache, and creates it if it does not exist.
    pub(crate) fn open(project: &Path) -> Result<Self, RemoteError> {
        let io = |source| RemoteError::Io { path: project.join(ProjectDirectory::PARTS), source };
        let home = ProjectDirectory::at(project).create().map_err(io)?;
        Ok(Self { directory: home.create_directory(ProjectDirectory::PARTS).map_err(io)? })
    }

    /// Returns the names of all objects.
    pub(crate) fn names(&self) -> HashSet<String> {
        let entries = self.directory.entries().unwrap_or_default();
        entries.into_iter().filter_map(|(name, _)| name.into_string().ok()).collect()
    }

    /// Reads a part, given the bytes of its base.
    pub(crate) fn read(&self, stored: &StoredPart, base: Option<&[u8]>) -> io::Result<Vec<u8>> {
        let object = self.directory.read(stored.object(), stored.max_bytes())?;
        stored.decode(&object, base).map_err(|what| io::Error::new(io::ErrorKind::InvalidData, what))
    }

    /// Writes the object of a part.
    pub(crate) fn write(&self, stored: &StoredPart, object: &[u8]) -> Result<(), RemoteError> {
        let written = self.directory.replace(stored.object(), |file| file.write_all(object));
        written.map_err(|error| StorageError::from_io(self.directory.path(), error).into())
    }

    /// Removes all objects that `wanted` does not contain. Objects that cannot be removed stay until the next call.
    pub(crate) fn retain(&self, wanted: &[StoredPart]) {
        let wanted: HashSet<String> = wanted.iter().map(StoredPart::object).collect();
        for (name, _) in self.directory.entries().unwrap_or_default() {
            if !name.to_str().is_some_and(|name| wanted.contains(name)) {
                drop(self.directory.remove(&name));
            }
        }
    }
}
