//! Whether a memory is sound, and whether two hold the same.

use aurora_project::ProjectError;
use aurora_storage::{Environment, StorageError};

use crate::digest::MemoryHasher;
use crate::error::MemoryError;
use crate::memory::{Memory, entry_of};
use crate::store::{MemoryCheck, Version};

impl Memory {
    /// The digest of the entries, in hexadecimal digits. Two memories with the same entries have the same, whatever their
    /// history, their sessions and their access histories are.
    ///
    /// It is the BLAKE3 hash over the entries in the order of their ids. Of each come the id, the name of the scope and the name
    /// of the session, which is empty where there is none; the times at which it was added and edited, in Unix seconds as
    /// little-endian 64-bit integers; and the document, as JSON without white space and with the keys of every object in the
    /// order of their bytes. Before each of the texts stands its length in bytes, as a little-endian 64-bit integer.
    ///
    /// # Errors
    /// When the entries cannot be read.
    pub fn digest(&self) -> Result<String, MemoryError> {
        let view = self.view()?;
        let mut hasher = MemoryHasher::default();
        for entry in view.from("")? {
            let (id, version) = entry?;
            hasher.add(id, &version);
        }
        Ok(hasher.finish())
    }

    /// Reads every record and checks each. What is wrong is in the result.
    ///
    /// # Errors
    /// When nothing of the store can be read.
    pub fn verify(&self) -> Result<MemoryCheck, MemoryError> {
        let mut hasher = MemoryHasher::default();
        let (check, is_sound) = self.view()?.check(|id, version| {
            hasher.add(id, version);
            check_entry(id, version)
        });
        Ok(MemoryCheck { digest: is_sound.then(|| hasher.finish()), ..check })
    }

    /// The first problem of the index, which is derived from the entries; `None` for a sound index, and where there is none yet.
    pub fn index_problem(&self) -> Option<String> {
        match self.project().snapshot() {
            Ok(snapshot) => snapshot.verify().problems.into_iter().next(),
            Err(ProjectError::Storage(
                error @ (StorageError::Damaged { .. } | StorageError::Truncated { .. } | StorageError::Foreign { .. }),
            )) => error.unusable_index(),
            // The next search makes another index if it must.
            Err(_) => None,
        }
    }

    /// Builds a damaged index again from the entries, and returns what was wrong with it; `None` for a sound index. This process must
    /// have closed the index before.
    ///
    /// # Errors
    /// When another process writes the index, it cannot be written, or the entries cannot be read.
    pub fn mend_index(&self) -> Result<Option<String>, MemoryError> {
        let Some(problem) = self.index_problem() else { return Ok(None) };
        // An index that another process has built again meanwhile stays.
        Environment::set_aside(&self.project().directory())?;
        self.snapshot()?;
        Ok(Some(problem))
    }
}

/// An entry can be read, and stands below its own id.
fn check_entry(id: &str, version: &Version) -> Result<(), MemoryError> {
    let entry = entry_of(id, version)?;
    let other = || MemoryError::Damaged(format!("{} stands below the id {id}", entry.id()));
    if entry.id() == id { Ok(()) } else { Err(other()) }
}
