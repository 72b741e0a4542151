//! Decides when the structure of a data file is checked as a whole.
//!
//! LMDB follows the references in its pages, so a file that was changed or created by another program could make it
//! write anywhere. Therefore the whole structure is checked before the first write of a process, unless the caller
//! knows that the file is unchanged since a run of this program. In that case only the pages that a write uses are
//! checked.

use crate::btree::first_damage;
use crate::env::Environment;
use crate::error::StorageError;

impl Environment {
    /// Assumes that only this program has written the file. Writers then check only the pages that they use.
    pub fn assume_sound(&self) {
        self.store.set_sound();
    }

    /// Checks the whole structure of the file now: every page that LMDB could follow, but no values.
    ///
    /// # Errors
    /// [`StorageError::Damaged`] with the first problem, and the errors of [`Environment::snapshot`].
    pub fn validate_structure(&self) -> Result<(), StorageError> {
        let snapshot = self.snapshot()?;
        first_damage(&snapshot.pages(), snapshot.meta()).map_err(|damage| snapshot.wrap(damage))?;
        self.store.set_sound();
        Ok(())
    }
}
