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

/// First byte of the checksum of the signature. It differs from those of the tables.
const SIGNATURE_MARK: u8 = 0x51;
const ID: &[u8] = b"id";
/// Lock of the process that writes.
const LOCK: &str = "records.lock";

/// A store of records. Transactions are durable when the call returns, and are serialised across all processes. Readers
/// never wait.
pub struct RecordStore {
    home: Directory,
    name: &'static str,
    store: Arc<IndexStore>,
    format: RecordFormat,
    known: KnownIndexes,
    tables: OnceLock<OpenTables>,
}

impl RecordStore {
    /// Opens the store `name` in a directory, or creates it there. `tables` are its tables, and the last one is
    /// [`RecordStore::IDENTITY`]; `version` is the version of their values. `known` records which stores this user has
    /// created.
    ///
    /// # Errors
    /// [`StorageError::ForeignRecords`] if the user has neither created nor accepted the store;
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
    /// The errors of [`Self::open`] except for the first one.
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

    /// Returns the store if it may be used.
    pub(crate) fn checked(self) -> Result<Self, StorageError> {
        let origin = self.origin()?;
        self.check_origin(origin).map(|()| self)
    }

    /// The table that each store has in addition to its own tables.
    pub const IDENTITY: RecordTable = IDENTITY;

    /// Returns a reader of the current records.
    ///
    /// # Errors
    /// The file is damaged or cannot be read.
    pub fn read(&self) -> Result<RecordReader, StorageError> {
        let mapped = self.store.read().map_err(|error| error.into_records_error(&self.store.data))?;
        RecordReader::new(self.store.data.clone(), mapped, &self.format)
    }

    /// The random id of the store; `None` before the first transaction.
    ///
    /// # Errors
    /// The errors of [`Self::read`].
    pub fn id(&self) -> Result<Option<IndexId>, StorageError> {
        self.id_in(&self.read()?)
    }

    /// The id that is visible to a reader of the store.
    ///
    /// # Errors
    /// The errors of [`Self::read`].
    pub fn id_in(&self, reader: &RecordReader) -> Result<Option<IndexId>, StorageError> {
        Ok(reader.get(self.identity(), ID)?.and_then(IndexId::from_bytes))
    }

    /// The origin of the store. A store without records belongs to its first writer. The origin is unknown if the store
    /// has records but no id.
    ///
    /// # Errors
    /// The errors of [`Self::read`].
    pub fn origin(&self) -> Result<Origin, StorageError> {
        let reader = self.read()?;
        Ok(match self.id_in(&reader)? {
            Some(id) => self.known.origin_of(&id, self.home.path(), self.name),
            None if reader.is_empty() => Origin::Own,
            None => Origin::Unknown,
        })
    }

    /// The error for an invalid value.
    pub(crate) fn damaged(&self, what: String) -> StorageError {
        StorageError::DamagedRecords { path: self.store.data.clone(), what }
    }

    /// Records the store as this user's after a check of all its records. A store without an id gets one.
    ///
    /// # Errors
    /// The store is damaged, or the record cannot be written.
    pub fn accept(&self) -> Result<(), StorageError> {
        self.check()?;
        if self.id()?.is_none() {
            return self.commit(true, |writer| {
                writer.is_changed = true;
                Ok(())
            });
        }
        let _lock = self.lock()?;
        self.remember()
    }

    fn check_origin(&self, origin: Origin) -> Result<(), StorageError> {
        let checked = self.known.check(origin, self.home.path(), self.name);
        checked.map_err(|reason| StorageError::ForeignRecords { path: self.home.path().join(self.name), reason })
    }

    /// Changes records in one transaction. All changes of `change` are durable when this function returns. If it fails,
    /// nothing is changed.
    ///
    /// # Errors
    /// The error of `change`; an error if the file is damaged or cannot be written; [`StorageError::ForeignRecords`] if
    /// the user has neither created nor accepted the store.
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
        self.make_sound(origin)?;
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
            self.format.sign_in(tables, &mut transaction).map_err(wrap)?;
            crate::fault::point();
            transaction.commit().map_err(wrap)?;
            crate::fault::point();
            // If this fails, the next process that writes checks the whole store. A store of unknown origin that is
            // used only because all stores are accepted does not become the user's own.
            if origin != Origin::Unknown {
                let _ = self.known.remember(&id, self.home.path(), self.name);
            }
        }
        Ok(done)
    }

    /// Returns the id of the store. A new store gets its id here.
    fn identify(&self, writer: &mut RecordWriter<'_>) -> Result<IndexId, StorageError> {
        if let Some(id) = writer.get(self.identity(), ID)?.and_then(|bytes| IndexId::from_bytes(&bytes)) {
            return Ok(id);
        }
        let id = IndexId::random().map_err(|error| StorageError::io(&self.store.data, error))?;
        // Recorded before it is written to the store, so that a store whose writer is killed in between also counts as
        // this user's.
        self.known.announce(self.home.path(), &id);
        writer.put(self.identity(), ID, id.as_bytes())?;
        Ok(id)
    }

    /// Makes sure that LMDB can follow the pages of the file: either a write of this user left the file as it is, or
    /// the whole file is checked.
    fn make_sound(&self, origin: Origin) -> Result<(), StorageError> {
        match origin {
            _ if self.store.is_sound() => Ok(()),
            // A file without an id has no known owner, and a check of a new one is quick.
            Origin::Own if self.id()?.is_some() => {
                self.store.set_sound();
                Ok(())
            }
            _ => self.check(),
        }
    }

    /// Checks every page and every record.
    ///
    /// # Errors
    /// [`StorageError::DamagedRecords`] with the first problem.
    pub fn check(&self) -> Result<(), StorageError> {
        self.read()?.check()?;
        self.store.set_sound();
        Ok(())
    }

    fn remember(&self) -> Result<(), StorageError> {
        self.id()?.map_or(Ok(()), |id| self.known.remember(&id, self.home.path(), self.name))
    }

    fn identity(&self) -> usize {
        self.format.tables.len() - 1
    }

    /// Waits for another process that writes. The system releases the lock when a process ends for any reason.
    fn lock(&self) -> Result<FileLock, StorageError> {
        FileLock::wait(&self.home, LOCK).map_err(|error| StorageError::io(&self.home.path().join(LOCK), error))
    }
}
