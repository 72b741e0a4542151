//! Verification of memories, and digests to compare memories.

use aurora_memory_schema::LogReference;
use aurora_project::ProjectError;
use aurora_storage::{Environment, StorageError};

use crate::digest::MemoryHasher;
use crate::error::MemoryError;
use crate::memory::{Memory, entry_of};
use crate::store::{MemoryCheck, Version};

impl Memory {
    /// Returns the digest of the entries in hexadecimal digits. Two memories with the same entries have the same
    /// digest, regardless of earlier versions, turn counts and access histories.
    ///
    /// The digest is the BLAKE3 hash of the entries in the order of their ids. Each entry contributes, in this order:
    ///
    /// - its id, the name of its scope, and the name of its session, or an empty text without a session;
    /// - the times at which it was added and edited, in Unix seconds as little-endian 64-bit integers;
    /// - its document as JSON without white space, with the keys of every object in byte order.
    ///
    /// The length in bytes precedes each text, as a little-endian 64-bit integer.
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

    /// Reads and checks every record. Returns the problems and the number of records.
    ///
    /// # Errors
    /// Fails if the store cannot be read at all.
    pub fn verify(&self) -> Result<MemoryCheck, MemoryError> {
        let mut hasher = MemoryHasher::default();
        let (check, is_valid) = self.view()?.check(|id, version| {
            hasher.add(id, version);
            check_entry(id, version)
        });
        Ok(MemoryCheck { digest: is_valid.then(|| hasher.finish()), ..check })
    }

    /// Calls `visit` with the id and the reference of every entry that refers to a conversation log.
    ///
    /// # Errors
    /// Fails if the entries cannot be read.
    pub fn log_references(&self, mut visit: impl FnMut(&str, &LogReference<'_>)) -> Result<(), MemoryError> {
        for entry in self.view()?.from("")? {
            let (id, version) = entry?;
            if version.document.is_some()
                && let Some(reference) = entry_of(id, &version)?.log_reference()
            {
                visit(id, &reference);
            }
        }
        Ok(())
    }

    /// Returns the first problem of the index; `None` if the index is valid, does not exist, or will be rebuilt by the
    /// next search.
    pub fn index_problem(&self) -> Option<String> {
        match self.project().snapshot() {
            Ok(snapshot) => snapshot.verify().problems.into_iter().next(),
            Err(ProjectError::Storage(
                error @ (StorageError::Damaged { .. } | StorageError::Truncated { .. } | StorageError::Foreign { .. }),
            )) => error.unusable_index(),
            // For all other errors, the next search builds a new index if necessary.
            Err(_) => None,
        }
    }

    /// Rebuilds a damaged index from the entries. Returns the problem of the damaged index; `None` if the index is
    /// valid. This process must have closed the index before the call.
    ///
    /// # Errors
    /// Fails if another process is writing the index, the index cannot be written, or the entries cannot be read.
    pub fn repair_index(&self) -> Result<Option<String>, MemoryError> {
        let Some(problem) = self.index_problem() else { return Ok(None) };
        // An index that another process has rebuilt in the meantime is kept.
        Environment::set_aside(&self.project().directory())?;
        self.snapshot()?;
        Ok(Some(problem))
    }
}

/// Checks that the document of an entry is valid and contains the id under which the entry is stored.
fn check_entry(id: &str, version: &Version) -> Result<(), MemoryError> {
    let entry = entry_of(id, version)?;
    let other = || MemoryError::Damaged(format!("{} is stored under the id {id}", entry.id()));
    if entry.id() == id { Ok(()) } else { Err(other()) }
}
