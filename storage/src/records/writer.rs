//! Changes records within one transaction.

use aurora_lmdb_pages::{Damage, seal, unseal};
use heed::RwTxn;

use super::format::{MAX_KEY_BYTES, OpenTables, RecordFormat};
use crate::error::StorageError;
use crate::store::IndexStore;

/// One write transaction on a store. Reads see the changes of the transaction. A table is identified by its index in
/// the list of tables with which the store was opened.
pub struct RecordWriter<'t> {
    pub(super) store: &'t IndexStore,
    pub(super) format: &'t RecordFormat,
    pub(super) tables: &'t OpenTables,
    pub(super) transaction: RwTxn<'t>,
    pub(super) is_changed: bool,
}

impl RecordWriter<'_> {
    /// Returns a record.
    ///
    /// # Errors
    /// Returns [`StorageError::DamagedRecords`] if the record is damaged, or an error if the file cannot be read.
    pub fn get(&self, table: usize, key: &[u8]) -> Result<Option<Vec<u8>>, StorageError> {
        let bytes = self.tables.tables[table].get(&self.transaction, key);
        let Some(bytes) = bytes.map_err(|error| self.lmdb(error))? else { return Ok(None) };
        let value = unseal(self.format.tables[table].mark, key, bytes);
        let damaged = || Damage(format!("a record of `{}` has a wrong checksum", self.format.tables[table].name));
        value.map(|value| Some(value.to_vec())).ok_or_else(|| self.damaged(damaged()))
    }

    /// Returns the greatest key of a table.
    ///
    /// # Errors
    /// Fails if the file cannot be read.
    pub fn last_key(&self, table: usize) -> Result<Option<Vec<u8>>, StorageError> {
        let last = self.tables.tables[table].last(&self.transaction).map_err(|error| self.lmdb(error))?;
        Ok(last.map(|(key, _)| key.to_vec()))
    }

    /// Returns the smallest key of a table that is at least `key`.
    ///
    /// # Errors
    /// Fails if the file cannot be read.
    pub fn next_key(&self, table: usize, key: &[u8]) -> Result<Option<Vec<u8>>, StorageError> {
        let next = self.tables.tables[table].get_greater_than_or_equal_to(&self.transaction, key);
        Ok(next.map_err(|error| self.lmdb(error))?.map(|(key, _)| key.to_vec()))
    }

    /// Sets a record.
    ///
    /// # Errors
    /// Fails if the key is empty or too long, or the file cannot be written.
    pub fn put(&mut self, table: usize, key: &[u8], value: &[u8]) -> Result<(), StorageError> {
        if key.is_empty() || key.len() > MAX_KEY_BYTES {
            return Err(StorageError::Key { length: key.len(), most: MAX_KEY_BYTES });
        }
        let mut bytes = Vec::with_capacity(value.len() + 4);
        bytes.extend_from_slice(value);
        seal(self.format.tables[table].mark, key, &mut bytes);
        let put = self.tables.tables[table].put(&mut self.transaction, key, &bytes);
        self.is_changed = true;
        put.map_err(|error| self.lmdb(error))
    }

    /// Deletes a record. Returns `false` if it does not exist.
    ///
    /// # Errors
    /// Fails if the file cannot be written.
    pub fn delete(&mut self, table: usize, key: &[u8]) -> Result<bool, StorageError> {
        let deleted = self.tables.tables[table].delete(&mut self.transaction, key);
        self.is_changed = true;
        deleted.map_err(|error| self.lmdb(error))
    }

    /// Creates an error for a value that cannot be decoded.
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
