//! When the structure of a data file is checked as a whole.
//!
//! LMDB follows what is in its pages, and a file that another program has changed, or made, could make it write anywhere.
//! So all of the structure is checked before a process first writes, unless the caller knows that the file is as a run of
//! this program has left it; then only what the write touches is.

use crate::btree::first_damage;
use crate::env::Environment;
use crate::error::StorageError;

impl Environment {
    /// Takes the file for one that only this program has written: writers then check no more of it than they touch.
    pub fn assume_sound(&self) {
        self.store.set_sound();
    }

    /// Checks the whole structure of the file now: every page that LMDB could follow, but no value.
    ///
    /// # Errors
    /// [`StorageError::Damaged`] with the first thing that is wrong, and whatever a snapshot can fail with.
    pub fn validate_structure(&self) -> Result<(), StorageError> {
        let snapshot = self.snapshot()?;
        first_damage(&snapshot.pages(), snapshot.meta()).map_err(|damage| snapshot.wrap(damage))?;
        self.store.set_sound();
        Ok(())
    }
}
