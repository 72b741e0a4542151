//! Verifies memories and compares their content.

use aurora_project::ProjectError;
use aurora_storage::{Environment, StorageError};

use crate::digest::MemoryHasher;
use crate::error::MemoryError;
use crate::memory::{Memory, entry_of};
use crate::store::{MemoryCheck, Version};

impl Memory {
    /// Returns the digest of the entries in hexadecimal digits. Two memories with the same entries have the same digest, regardless
    /// of earlier versions, sessions and access histories.
    ///
    /// The digest is the BLAKE3 hash over the entries in the order of their ids. Each entry contributes its id, the name of its
    /// scope, and the name of its session, or an empty text; the times at which it was added and edited, in Unix seconds as
    /// little-endian 64-bit integers; and its document as JSON without white space, with the keys of every object in byte order.
    /// Each text is preceded by its length in bytes as a little-endian 64-bit integer.
    ///
    /// # Errors
    /// Fails if the entries cannot be read.
    pub fn digest(&self) -> Result<String, MemoryError> {
        let view = self.view()?;
        let mut hasher = MemoryHasher::default();
        for entry in view.from("")? {
            let (id, version) = entry?;
            hasher.add(id, &version);
        }
        Ok(hasher.finish())
    }

    /// Reads and checks every record. The result lists the problems.
    ///
    /// # Errors
    /// Fails if the store cannot be read at all.
    pub fn verify(&self) -> Result<MemoryCheck, MemoryError> {
        let mut hasher = MemoryHasher::default();
        let (check, is_sound) = self.view()?.check(|id, version| {
            hasher.add(id, version);
            check_entry(id, version)
        });
        Ok(MemoryCheck { digest: is_sound.then(|| hasher.finish()), ..check })
    }

    /// Returns the first problem of the index, which is derived from the entries; `None` if the index is sound or does not exist
    /// yet.
    pub fn index_problem(&self) -> Option<String> {
        match self.project().snapshot() {
            Ok(snapshot) => snapshot.verify().problems.into_iter().next(),
            Err(ProjectError::Storage(
                error @ (StorageError::Damaged { .. } | StorageError::Truncated { .. } | StorageError::Foreign { .. }),
            )) => error.unusable_index(),
            // The next search builds a new index if necessary.
            Err(_) => None,
        }
    }

    /// Rebuilds a damaged index from the entries. Returns the problem of the damaged index; `None` if the index is sound. This process
    /// must have closed the index before.
    ///
    /// # Errors
    /// Fails if another process is writing the index, the index cannot be written, or the entries cannot be read.
    pub fn repair_index(&self) -> Result<Option<String>, MemoryError> {
        let Some(problem) = self.index_problem() else { return Ok(None) };
        // Keeps an index that another process has rebuilt in the meantime.
        Environment::set_aside(&self.project().directory())?;
        self.snapshot()?;
        Ok(Some(problem))
    }
}

/// Checks that an entry can be read and is stored under its own id.
fn check_entry(id: &str, version: &Version) -> Result<(), MemoryError> {
    let entry = entry_of(id, version)?;
    let other = || MemoryError::Damaged(format!("{} is stored under the id {id}", entry.id()));
    if entry.id() == id { Ok(()) } else { Err(other()) }
}
