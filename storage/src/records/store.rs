//! Opens a store of records, and commits transactions.

use std::sync::{Arc, OnceLock};

use aurora_confined::Directory;
use heed::EnvFlags;

use super::format::{IDENTITY, OpenTables, RecordFormat, RecordTable};
use super::reader::RecordReader;
use super::writer::RecordWriter;
use crate::error::StorageError;
use crate::index_id::IndexId;
use crate::lock::FileLock;
use crate::opening::OpenMode;
use crate::project::DATA;
use crate::store::IndexStore;
use crate::trust::{KnownIndexes, Origin};

/// Number that identifies the signature in its checksum. It differs from the numbers of the tables.
const SIGNATURE_MARK: u8 = 0x51;
const ID: &[u8] = b"id";
/// Lock of the process that writes.
const LOCK: &str = "records.lock";

/// A store of records. A transaction is on disk when the call returns. Only one process writes at a time, and the
/// others wait. Readers never wait.
pub struct RecordStore {
    home: Directory,
    name: &'static str,
    store: Arc<IndexStore>,
    format: RecordFormat,
    known: KnownIndexes,
    tables: OnceLock<OpenTables>,
}

impl RecordStore {
    /// Opens the store `name` in the directory `home`. In [`OpenMode::Create`], creates it if it does not exist.
    /// `layout` contains the version of the values and the tables, the last of which must be [`RecordStore::IDENTITY`].
    /// `known` contains the stores that this user has created or accepted.
    ///
    /// # Errors
    /// Returns [`StorageError::ForeignRecords`] if the user has neither created nor accepted the store;
    /// [`StorageError::NoIndex`] if it does not exist and `mode` is [`OpenMode::Existing`]; another error if it is
    /// damaged, or cannot be opened or created.
    pub fn open(
        home: &Directory,
        name: &'static str,
        layout: (u32, &'static [RecordTable]),
        mode: OpenMode,
        known: KnownIndexes,
    ) -> Result<Self, StorageError> {
        Self::open_unchecked(home, name, layout, mode, known)?.checked()
    }

    /// Opens a store without checking its origin, for [`Self::accept`] and [`Self::origin`]. Writes still check the
    /// origin.
    ///
    /// # Errors
    /// Returns the errors of [`Self::open`] except for [`StorageError::ForeignRecords`].
    pub fn open_unchecked(
        home: &Directory,
        name: &'static str,
        (version, tables): (u32, &'static [RecordTable]),
        mode: OpenMode,
        known: KnownIndexes,
    ) -> Result<Self, StorageError> {
        let format = RecordFormat { version, mark: SIGNATURE_MARK, tables };
        Self::open_with_format(home, name, format, (mode, EnvFlags::empty()), known)
    }

    /// Like [`Self::open_unchecked`], for any format and with flags for LMDB.
    pub(crate) fn open_with_format(
        home: &Directory,
        name: &'static str,
        format: RecordFormat,
        (mode, flags): (OpenMode, EnvFlags),
        known: KnownIndexes,
    ) -> Result<Self, StorageError> {
        let store = IndexStore::open(name, home, mode, flags);
        let store = store.map_err(|error| error.into_records_error(&home.path().join(name).join(DATA)))?;
        Ok(Self { home: home.clone(), name, store, format, known, tables: OnceLock::new() })
    }

    /// Returns the store if its origin allows using it.
    pub(crate) fn checked(self) -> Result<Self, StorageError> {
        let origin = self.origin()?;
        self.check_origin(origin).map(|()| self)
    }

    /// The table with the id of the store. Every store has this table in addition to its other tables.
    pub const IDENTITY: RecordTable = IDENTITY;

    /// Returns a reader of the current records.
    ///
    /// # Errors
    /// Fails if the file is damaged or cannot be read.
    pub fn read(&self) -> Result<RecordReader, StorageError> {
        let mapped = self.store.read().map_err(|error| error.into_records_error(&self.store.data))?;
        RecordReader::new(self.store.data.clone(), mapped, &self.format)
    }

    /// Returns the random id of the store; `None` before the first transaction.
    ///
    /// # Errors
    /// Returns the errors of [`Self::read`].
    pub fn id(&self) -> Result<Option<IndexId>, StorageError> {
        self.id_in(&self.read()?)
    }

    /// Returns the id of the store in the snapshot of `reader`.
    ///
    /// # Errors
    /// Returns the errors of [`Self::read`].
    pub fn id_in(&self, reader: &RecordReader) -> Result<Option<IndexId>, StorageError> {
        Ok(reader.get(self.identity(), ID)?.and_then(IndexId::from_bytes))
    }

    /// Returns the origin of the store. A store without records counts as the user's own. A store with records but no
    /// id has an unknown origin.
    ///
    /// # Errors
    /// Returns the errors of [`Self::read`].
    pub fn origin(&self) -> Result<Origin, StorageError> {
        let reader = self.read()?;
        Ok(match self.id_in(&reader)? {
            Some(id) => self.known.origin_of(&id, self.home.path(), self.name),
            None if reader.is_empty() => Origin::Own,
            None => Origin::Unknown,
        })
    }

    /// Creates an error for an invalid value.
    pub(crate) fn damaged(&self, what: String) -> StorageError {
        StorageError::DamagedRecords { path: self.store.data.clone(), what }
    }

    /// Checks all records of the store, and records that the user has accepted the store. A store without an id gets a
    /// new id.
    ///
    /// # Errors
    /// Fails if the store is damaged, or the record cannot be written.
    pub fn accept(&self) -> Result<(), StorageError> {
        self.check()?;
        if self.id()?.is_none() {
            return self.commit(true, |writer| {
                writer.is_changed = true;
                Ok(())
            });
        }
        let _lock = self.lock()?;
        self.id()?.map_or(Ok(()), |id| self.known.remember(&id, self.home.path(), self.name))
    }

    fn check_origin(&self, origin: Origin) -> Result<(), StorageError> {
        let checked = self.known.check(origin, self.home.path(), self.name);
        checked.map_err(|reason| StorageError::ForeignRecords { path: self.home.path().join(self.name), reason })
    }

    /// Calls `change` to change records in one transaction. When this function returns, all changes are on disk. If it
    /// fails, nothing has changed.
    ///
    /// # Errors
    /// Returns the error of `change`; an error if the file is damaged or cannot be written; or
    /// [`StorageError::ForeignRecords`] if the user has neither created nor accepted the store.
    pub fn write<T, E: From<StorageError>>(
        &self,
        change: impl FnOnce(&mut RecordWriter<'_>) -> Result<T, E>,
    ) -> Result<T, E> {
        self.commit(false, change)
    }

    /// Like [`Self::write`], but does not check the origin if `is_accepted`.
    fn commit<T, E: From<StorageError>>(
        &self,
        is_accepted: bool,
        change: impl FnOnce(&mut RecordWriter<'_>) -> Result<T, E>,
    ) -> Result<T, E> {
        let _lock = self.lock()?;
        self.store.check_current()?;
        let origin = if is_accepted { Origin::OwnButChanged } else { self.origin()? };
        if !is_accepted {
            self.check_origin(origin)?;
        }
        self.check_unless_valid(origin)?;
        let wrap = |error| StorageError::lmdb(&self.store.data, error);
        let tables = match self.tables.get() {
            Some(tables) => tables,
            None => {
                let opened = self.format.open(&self.store).map_err(wrap)?;
                self.tables.get_or_init(|| opened)
            }
        };
        let transaction = self.store.lmdb.write_txn().map_err(wrap)?;
        let mut writer =
            RecordWriter { store: &self.store, format: &self.format, tables, transaction, is_changed: false };
        let id = self.identify(&mut writer)?;
        let done = change(&mut writer)?;
        if writer.is_changed {
            let mut transaction = writer.transaction;
            self.format.sign(&tables.format, &mut transaction).map_err(wrap)?;
            crate::fault::point();
            transaction.commit().map_err(wrap)?;
            crate::fault::point();
            // If this fails, the next process that writes checks the whole store. A store of unknown origin is used
            // only if `known` accepts all stores. Such a store must not become the user's own.
            if origin != Origin::Unknown {
                let _ = self.known.remember(&id, self.home.path(), self.name);
            }
        }
        Ok(done)
    }

    /// Returns the id of the store. If the store has no id, writes a new one.
    fn identify(&self, writer: &mut RecordWriter<'_>) -> Result<IndexId, StorageError> {
        if let Some(id) = writer.get(self.identity(), ID)?.and_then(|bytes| IndexId::from_bytes(&bytes)) {
            return Ok(id);
        }
        let id = IndexId::random().map_err(|error| StorageError::io(&self.store.data, error))?;
        // The id is recorded before it is written to the store. If the process is killed in between, the store still
        // counts as this user's.
        self.known.announce(self.home.path(), &id);
        writer.put(self.identity(), ID, id.as_bytes())?;
        Ok(id)
    }

    /// Ensures that LMDB can follow the pages of the file. If the file has changed since the last write by this user,
    /// the whole file is checked.
    fn check_unless_valid(&self, origin: Origin) -> Result<(), StorageError> {
        match origin {
            _ if self.store.is_valid() => Ok(()),
            // The creator of a file without an id is unknown, so the file is checked. For a new file, the check is
            // fast.
            Origin::Own if self.id()?.is_some() => {
                self.store.set_valid();
                Ok(())
            }
            _ => self.check(),
        }
    }

    /// Checks every page and every record.
    ///
    /// # Errors
    /// Returns [`StorageError::DamagedRecords`] with the first problem.
    pub fn check(&self) -> Result<(), StorageError> {
        self.read()?.check()?;
        self.store.set_valid();
        Ok(())
    }

    fn identity(&self) -> usize {
        self.format.tables.len() - 1
    }

    /// Locks the store for writing. Waits while another process writes. The system releases the lock when a process
    /// ends for any reason.
    fn lock(&self) -> Result<FileLock, StorageError> {
        FileLock::wait(&self.home, LOCK).map_err(|error| StorageError::io(&self.home.path().join(LOCK), error))
    }
}
