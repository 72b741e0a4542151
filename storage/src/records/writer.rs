//! Changes records within one transaction.

use heed::RwTxn;

use super::format::{LONGEST_KEY, OpenTables, RecordFormat};
use crate::btree::{Damage, seal, unseal};
use crate::error::StorageError;
use crate::store::IndexStore;

/// One transaction over the records of a store. It sees what it has written itself. Tables are named by their places.
pub struct RecordWriter<'t> {
    pub(super) store: &'t IndexStore,
    pub(super) format: &'t RecordFormat,
    pub(super) tables: &'t OpenTables,
    pub(super) transaction: RwTxn<'t>,
    pub(super) is_changed: bool,
}

impl RecordWriter<'_> {
    /// A record.
    ///
    /// # Errors
    /// [`StorageError::DamagedRecords`], or that the file cannot be read.
    pub fn get(&self, table: usize, key: &[u8]) -> Result<Option<Vec<u8>>, StorageError> {
        let bytes = self.tables.tables[table].get(&self.transaction, key);
        let Some(bytes) = bytes.map_err(|error| self.lmdb(error))? else { return Ok(None) };
        let value = unseal(self.format.tables[table].mark, key, bytes);
        let damaged = || Damage(format!("a record of `{}` has another checksum", self.format.tables[table].name));
        value.map(|value| Some(value.to_vec())).ok_or_else(|| self.damaged(damaged()))
    }

    /// The greatest key of a table.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn last_key(&self, table: usize) -> Result<Option<Vec<u8>>, StorageError> {
        let last = self.tables.tables[table].last(&self.transaction).map_err(|error| self.lmdb(error))?;
        Ok(last.map(|(key, _)| key.to_vec()))
    }

    /// Sets a record.
    ///
    /// # Errors
    /// When the key is empty or too long, or the file cannot be written.
    pub fn put(&mut self, table: usize, key: &[u8], value: &[u8]) -> Result<(), StorageError> {
        if key.is_empty() || key.len() > LONGEST_KEY {
            return Err(StorageError::Key { length: key.len(), most: LONGEST_KEY });
        }
        let mut bytes = Vec::with_capacity(value.len() + 4);
        bytes.extend_from_slice(value);
        seal(self.format.tables[table].mark, key, &mut bytes);
        let put = self.tables.tables[table].put(&mut self.transaction, key, &bytes);
        self.is_changed = true;
        put.map_err(|error| self.lmdb(error))
    }

    /// Deletes a record; false if there is none.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn delete(&mut self, table: usize, key: &[u8]) -> Result<bool, StorageError> {
        let deleted = self.tables.tables[table].delete(&mut self.transaction, key);
        self.is_changed = true;
        deleted.map_err(|error| self.lmdb(error))
    }

    /// The error of a value that cannot be decoded.
    pub(crate) fn invalid(&self, what: &str) -> StorageError {
        self.damaged(Damage(what.to_owned()))
    }

    fn lmdb(&self, error: heed::Error) -> StorageError {
        StorageError::lmdb(&self.store.data, error)
    }

    fn damaged(&self, damage: Damage) -> StorageError {
        super::reader::damaged(&self.store.data, damage)
    }
}
