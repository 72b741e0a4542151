//! Reads the records of one transaction.

use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use aurora_lmdb_pages::{Cursor, Damage, Entry, Tree, first_damage};
use rustc_hash::FxHashSet;

use super::format::RecordFormat;
use crate::error::StorageError;
use crate::store::Mapped;

/// A snapshot of the records of a store. Later writes do not change it. A table is identified by its index in the list
/// of tables with which the store was opened.
pub struct RecordReader {
    path: PathBuf,
    mapped: Mapped,
    trees: Vec<Tree>,
    /// Pages that were checked when a key was missing.
    seen: Mutex<FxHashSet<u64>>,
}

impl RecordReader {
    pub(super) fn new(path: PathBuf, mapped: Mapped, format: &RecordFormat) -> Result<Self, StorageError> {
        let trees = format.trees(&mapped).map_err(|damage| damaged(&path, damage))?;
        Ok(Self { path, mapped, trees, seen: Mutex::default() })
    }

    /// Returns the number of the transaction that wrote the newest records.
    pub fn transaction(&self) -> u64 {
        self.mapped.meta.transaction
    }

    /// Whether all tables are empty.
    pub(super) fn is_empty(&self) -> bool {
        self.trees.iter().all(|tree| tree.is_empty())
    }

    /// Returns the number of records according to the root of a table. The number is only reliable after
    /// [`Self::check`].
    pub fn count(&self, table: usize) -> u64 {
        self.trees[table].entries
    }

    /// Returns a record.
    ///
    /// # Errors
    /// Returns [`StorageError::DamagedRecords`] if the file is damaged.
    pub fn get(&self, table: usize, key: &[u8]) -> Result<Option<&[u8]>, StorageError> {
        let (pages, tree) = (self.mapped.pages(), self.trees[table]);
        let get = || match Cursor::get(pages, tree, key)? {
            Some(bytes) => Ok(Some(bytes)),
            None => {
                let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
                let checked = Cursor::check_path(pages, tree, key, &mut seen);
                if checked.is_err() {
                    // The damaged page must be checked again, so that the next lookup fails too.
                    seen.clear();
                }
                checked.map(|()| None)
            }
        };
        get().map_err(|damage| damaged(&self.path, damage))
    }

    /// Returns the records of a table in key order, starting at a key.
    ///
    /// # Errors
    /// Returns [`StorageError::DamagedRecords`] if the file is damaged.
    pub fn from<'r>(
        &'r self,
        table: usize,
        key: &[u8],
    ) -> Result<impl Iterator<Item = Result<Record<'r>, StorageError>> + use<'r>, StorageError> {
        let wrap = |damage| damaged(&self.path, damage);
        let cursor = Cursor::seek(self.mapped.pages(), self.trees[table], key).map_err(wrap)?;
        Ok(cursor.entries().map(move |entry| entry.map_err(wrap)))
    }

    /// Returns the record with the greatest key of a table.
    ///
    /// # Errors
    /// Returns [`StorageError::DamagedRecords`] if the file is damaged.
    pub fn last(&self, table: usize) -> Result<Option<Record<'_>>, StorageError> {
        let last = || Cursor::last(self.mapped.pages(), self.trees[table])?.entry();
        last().map_err(|damage| damaged(&self.path, damage))
    }

    /// Checks every page, and verifies the checksum of every record.
    ///
    /// # Errors
    /// Returns [`StorageError::DamagedRecords`] with the first problem.
    pub fn check(&self) -> Result<(), StorageError> {
        first_damage(&self.mapped.pages(), &self.mapped.meta).map_err(|damage| damaged(&self.path, damage))?;
        for table in 0..self.trees.len() {
            let count = self.from(table, &[])?.try_fold(0, |count, record| record.map(|_| count + 1))?;
            if count != self.count(table) {
                return Err(damaged(&self.path, Damage("records are missing".to_owned())));
            }
        }
        Ok(())
    }
}

/// A record: its key and its value.
pub type Record<'r> = Entry<'r>;

pub(super) fn damaged(path: &std::path::Path, damage: Damage) -> StorageError {
    StorageError::DamagedRecords { path: path.to_owned(), what: damage.0 }
}
