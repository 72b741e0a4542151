//! When the structure of a data file is checked as a whole.
//!
//! LMDB follows what is in its pages, and a file that another program has changed, or made, could make it write anywhere.
//! So all of the structure is checked before a process first writes, unless the caller knows that the file is as a run of
//! this program has left it; then only what the write touches is.

use std::sync::atomic::Ordering;

use crate::btree::{Cursor, Mark, first_damage};
use crate::env::Environment;
use crate::error::StorageError;
use crate::store::{Mapped, Store};

impl Environment {
    /// Takes the file for one that only this program has written: writers then check no more of it than they touch.
    pub fn assume_sound(&self) {
        self.store.note_sound();
    }

    /// Checks the whole structure of the file now: every page that LMDB could follow, but no value.
    ///
    /// # Errors
    /// [`StorageError::Damaged`] with the first thing that is wrong, and whatever a snapshot can fail with.
    pub fn validate_structure(&self) -> Result<(), StorageError> {
        let snapshot = self.snapshot()?;
        first_damage(&snapshot.pages(), snapshot.meta()).map_err(|damage| snapshot.wrap(damage))?;
        self.store.note_sound();
        Ok(())
    }
}

/// The row that says which transaction wrote a generation: its table, the table's mark, and its key.
pub(crate) type Signature<'a> = (&'a str, Mark, &'a [u8]);

/// Whether the generation before a newest one says that a later transaction wrote it: then a number in the meta pages has
/// been changed, and what seems to be the newest generation is an earlier one.
pub(crate) fn is_rolled_back(
    mapped: &Mapped,
    (table, mark, key): Signature<'_>,
    transaction: impl Fn(&[u8]) -> Option<u64>,
) -> bool {
    // Where it cannot be read it is of no concern: nothing else is read from it.
    let signed = || {
        let (pages, before) = mapped.meta.before(mapped.pages()).filter(|_| mapped.is_protected())?;
        let tree = Cursor::named(pages, before.main, table).ok()??;
        transaction(Cursor::get(pages, tree.with_seal(Some(mark)), key).ok()??)
    };
    signed().is_some_and(|signed| signed > mapped.meta.transaction)
}

impl Store {
    /// Whether the structure is known to be as LMDB has left it.
    pub(crate) fn is_sound(&self) -> bool {
        self.sound.load(Ordering::Acquire)
    }

    /// From now on it is: all of it has been checked, and only LMDB writes.
    pub(crate) fn note_sound(&self) {
        self.sound.store(true, Ordering::Release);
    }
}
