//! Reads and writes access records.
//!
//! The log is a store of records. If the log is damaged, reads fail, and the next write renames the log and starts a
//! new one. A log that somebody else has created is neither read nor written.

use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use aurora_confined::Directory;
use heed::EnvFlags;

use super::codec::AccessRecord;
use super::verdict::Verdict;
use crate::error::StorageError;
use crate::lock::FileLock;
use crate::opening::OpenMode;
use crate::project::ProjectDirectory;
use crate::records::{RecordFormat, RecordStore, RecordTable, RecordWriter};
use crate::trust::KnownIndexes;

const ACCESS: &str = ProjectDirectory::ACCESS;
const RECORDS: usize = 0;
/// The format of the log. Its marks, which identify tables in checksums, differ from those of an index's tables.
const FORMAT: RecordFormat = RecordFormat {
    version: 1,
    mark: 0x41,
    tables: &[RecordTable { name: "records", mark: 0x40, is_optional: false }, RecordStore::IDENTITY],
};
const INVALID_RECORD: &str = "it has an invalid record";
/// Maximum length in bytes of a chunk key that is stored unchanged; LMDB allows 511 bytes.
const MAX_KEY_BYTES: usize = 440;

/// The access history of a project's chunks. Records are stored by chunk key, so they survive a rebuild of the index.
///
/// Losing an access is harmless: callers may ignore errors, and a power failure may undo the last writes.
pub struct AccessLog {
    home: Directory,
    known: KnownIndexes,
    state: Mutex<LogState>,
}

/// The store of a log, and its problems.
#[derive(Default)]
struct LogState {
    /// `None` if the store does not exist yet or cannot be used.
    store: Option<Arc<RecordStore>>,
    /// The reason why the existing store cannot be used.
    unusable: Option<String>,
    /// The reason why a new log was started.
    restart_reason: Option<String>,
}

impl AccessLog {
    /// Opens the log of a project, given its `.aurora` directory. The first write creates the log and records it in
    /// `known`. A damaged log can be opened too: reads fail, and the first write starts a new log.
    ///
    /// # Errors
    /// Returns [`StorageError::ForeignRecords`] if the user has neither created nor accepted the log; an error if the
    /// directory or the files of the log cannot be opened. Damage is not an error here.
    pub fn open(directory: &Path, known: &KnownIndexes) -> Result<Self, StorageError> {
        let home = ProjectDirectory::at(directory).create().map_err(|error| StorageError::io(directory, error))?;
        let log = Self { home, known: known.clone(), state: Mutex::default() };
        log.reopen(&mut log.state())?;
        Ok(log)
    }

    /// Checks the whole log of a project, and records that the user has accepted it.
    ///
    /// # Errors
    /// Fails if the log does not exist or is damaged, or the record cannot be written.
    pub fn accept(directory: &Path, known: &KnownIndexes) -> Result<(), StorageError> {
        let home = ProjectDirectory::at(directory).open().map_err(|error| StorageError::io(directory, error))?;
        open_store(&home, OpenMode::Existing, known)?.accept()
    }

    /// Checks every page and every record.
    ///
    /// # Errors
    /// Returns [`StorageError::LogUnusable`] if the log is damaged or has another format.
    pub fn check(&self) -> Result<(), StorageError> {
        let Some(store) = self.usable()? else { return Ok(()) };
        store.check().map_err(|error| self.wrap(error))
    }

    /// Returns the reason why a write through this handle has started a new log; `None` if no write has started one.
    pub fn restart_reason(&self) -> Option<String> {
        self.state().restart_reason.clone()
    }

    /// Records accesses, given as chunk keys with Unix seconds.
    ///
    /// # Errors
    /// Fails if neither the log nor a new log can be written: without permission, on a full disk, or if another process
    /// holds the lock.
    pub fn record(&self, accesses: &[(&str, i64)]) -> Result<(), StorageError> {
        self.update(accesses, |record, time| record.add(time))
    }

    /// Records a verdict on chunks, given as chunk keys with Unix seconds.
    ///
    /// # Errors
    /// Returns the errors of [`Self::record`].
    pub fn judge(&self, verdict: Verdict, chunks: &[(&str, i64)]) -> Result<(), StorageError> {
        self.update(chunks, |record, time| record.judge(verdict, time))
    }

    /// Merges other copies of records. Keeps the greater of the two counts, and the recent times of both copies. An
    /// access that is in both copies counts once, so merging the same copies again changes nothing. Returns the number
    /// of changed records.
    ///
    /// # Errors
    /// Returns [`StorageError::LogUnusable`] if the log is damaged or has another format; otherwise the errors of
    /// [`Self::record`].
    pub fn raise(&self, copies: &[(&str, AccessRecord)]) -> Result<usize, StorageError> {
        let keys: Vec<&str> = copies.iter().map(|(key, _)| *key).collect();
        let raised = |known: Option<AccessRecord>, copy: &AccessRecord| {
            let mut raised = known.clone().unwrap_or_default();
            raised.raise(copy);
            (known.as_ref() != Some(&raised) && raised.newest().is_some()).then_some(raised)
        };
        let known = self.get_many(&keys)?;
        let changed: Vec<&(&str, AccessRecord)> = copies
            .iter()
            .zip(known)
            .filter(|((_, copy), known)| raised(known.clone(), copy).is_some())
            .map(|(copy, _)| copy)
            .collect();
        if !changed.is_empty() {
            self.write(|writer| {
                for (key, copy) in &changed {
                    let key = table_key(key);
                    // A search may have changed the record in the meantime.
                    if let Some(record) = raised(stored(writer, &key)?, copy) {
                        writer.put(RECORDS, &key, &record.encode())?;
                    }
                }
                Ok(())
            })?;
        }
        Ok(changed.len())
    }

    /// Changes the records of `chunks` in one transaction, so that concurrent processes do not overwrite each other's
    /// changes.
    fn update(&self, chunks: &[(&str, i64)], change: impl Fn(&mut AccessRecord, i64)) -> Result<(), StorageError> {
        if chunks.is_empty() {
            return Ok(());
        }
        self.write(|writer| {
            for (key, time) in chunks {
                let key = table_key(key);
                let mut record = stored(writer, &key)?.unwrap_or_default();
                change(&mut record, *time);
                writer.put(RECORDS, &key, &record.encode())?;
            }
            Ok(())
        })
    }

    /// Returns the history of a chunk.
    ///
    /// # Errors
    /// Returns the errors of [`Self::get_many`].
    pub fn get(&self, key: &str) -> Result<Option<AccessRecord>, StorageError> {
        Ok(self.get_many(&[key])?.pop().flatten())
    }

    /// Returns the histories of several chunks, in the order of the keys, from one transaction.
    ///
    /// # Errors
    /// Returns [`StorageError::LogUnusable`] if the log is damaged or has another format. Callers continue without the
    /// history.
    pub fn get_many(&self, keys: &[&str]) -> Result<Vec<Option<AccessRecord>>, StorageError> {
        let Some(store) = self.usable()? else { return Ok(vec![None; keys.len()]) };
        let get = || -> Result<Vec<Option<AccessRecord>>, StorageError> {
            let reader = store.read()?;
            let decode = |bytes| self.decode(bytes);
            keys.iter().map(|key| reader.get(RECORDS, &table_key(key))?.map(decode).transpose()).collect()
        };
        get().map_err(|error| self.wrap(error))
    }

    /// Moves the history of a chunk whose key has changed.
    ///
    /// # Errors
    /// Returns [`StorageError::LogUnusable`] if the log is damaged or has another format; otherwise the errors of
    /// [`Self::record`].
    pub fn rename(&self, from: &str, to: &str) -> Result<(), StorageError> {
        if from == to || self.get(from)?.is_none() {
            return Ok(());
        }
        self.write(|writer| {
            let (from, to) = (table_key(from), table_key(to));
            if let Some(moved) = stored(writer, &from)? {
                let mut record = stored(writer, &to)?.unwrap_or_default();
                record.absorb(moved);
                writer.put(RECORDS, &to, &record.encode())?;
                writer.delete(RECORDS, &from)?;
            }
            Ok(())
        })
    }

    /// Removes records of chunks that no longer exist according to `is_live`. Keeps the newest of these records, at
    /// most `most`, if their last access or judgement is not older than the Unix second `since`. Returns the number of
    /// removed records.
    ///
    /// A record under a shortened key is never removed, because its chunk is unknown.
    ///
    /// # Errors
    /// Returns the first error of `is_live`; [`StorageError::LogUnusable`] if the log is damaged or has another format;
    /// otherwise the errors of [`Self::record`].
    pub fn sweep(
        &self,
        is_live: impl Fn(&str) -> Result<bool, StorageError>,
        since: i64,
        most: usize,
    ) -> Result<usize, StorageError> {
        let Some(store) = self.usable()? else { return Ok(0) };
        let mut gone = Vec::new();
        let reader = store.read().map_err(|error| self.wrap(error))?;
        for record in reader.from(RECORDS, &[]).map_err(|error| self.wrap(error))? {
            let (key, bytes) = record.map_err(|error| self.wrap(error))?;
            let newest = self.decode(bytes)?.newest();
            let chunk = std::str::from_utf8(key).ok().filter(|key| key.len() <= MAX_KEY_BYTES);
            if let Some(chunk) = chunk
                && !is_live(chunk)?
            {
                gone.push((newest, key.to_vec()));
            }
        }
        drop((reader, store));
        gone.sort_unstable_by(|a, b| b.cmp(a));
        let kept = gone.iter().take(most).take_while(|(newest, _)| newest.is_some_and(|time| time >= since)).count();
        let forgotten = gone.split_off(kept);
        if !forgotten.is_empty() {
            self.write(|writer| {
                for (newest, key) in &forgotten {
                    // A search may have changed the record in the meantime.
                    if stored(writer, key)?.and_then(|record| record.newest()) == *newest {
                        writer.delete(RECORDS, key)?;
                    }
                }
                Ok(())
            })?;
        }
        Ok(forgotten.len())
    }

    /// Writes to the log. If the log cannot be used, starts a new log and writes to it.
    fn write(&self, change: impl Fn(&mut RecordWriter<'_>) -> Result<(), StorageError>) -> Result<(), StorageError> {
        let written = match self.writable()?.map(|store| store.write(&change)) {
            // Another process has started a new log.
            Some(Err(StorageError::Replaced { .. })) => {
                self.state().store = None;
                self.writable()?.map(|store| store.write(&change))
            }
            written => written,
        };
        match written {
            Some(Err(error)) => {
                let reason = unusable(&error).ok_or(error)?;
                self.state().unusable = Some(reason);
            }
            Some(Ok(())) => return Ok(()),
            None => {}
        }
        self.start_new_log()?.write(change)
    }

    /// Returns the store. Creates it if it does not exist. Returns `None` if the existing store cannot be used.
    fn writable(&self) -> Result<Option<Arc<RecordStore>>, StorageError> {
        let mut state = self.state();
        if state.store.is_none() && state.unusable.is_none() {
            match open_store(&self.home, OpenMode::Create, &self.known) {
                Ok(store) => state.store = Some(Arc::new(store)),
                Err(error) => state.unusable = Some(unusable(&error).ok_or(error)?),
            }
        }
        Ok(state.store.clone().filter(|_| state.unusable.is_none()))
    }

    /// Renames an unusable log, and creates a new one.
    fn start_new_log(&self) -> Result<Arc<RecordStore>, StorageError> {
        let mut state = self.state();
        state.store = None;
        // Another process may already have started a new log.
        let existing = || open_store(&self.home, OpenMode::Existing, &self.known);
        if set_aside(&self.home, || existing().is_ok_and(|store| store.check().is_ok()))? {
            state.restart_reason = state.unusable.take();
        }
        state.unusable = None;
        let store = Arc::new(open_store(&self.home, OpenMode::Create, &self.known)?);
        state.store = Some(Arc::clone(&store));
        Ok(store)
    }

    /// Returns the store, or `None` if it does not exist yet. Fails if the store cannot be used.
    fn usable(&self) -> Result<Option<Arc<RecordStore>>, StorageError> {
        let mut state = self.state();
        if state.store.is_none() {
            // Another process may have created the store.
            self.reopen(&mut state)?;
        }
        match &state.unusable {
            Some(reason) => Err(self.unusable(reason.clone())),
            None => Ok(state.store.clone()),
        }
    }

    fn reopen(&self, state: &mut LogState) -> Result<(), StorageError> {
        state.unusable = None;
        match open_store(&self.home, OpenMode::Existing, &self.known).and_then(RecordStore::checked) {
            Ok(store) => state.store = Some(Arc::new(store)),
            Err(StorageError::NoIndex { .. }) => {}
            // The origin of a damaged log cannot be determined, and a damaged log is not used anyway.
            Err(error) => state.unusable = Some(unusable(&error).ok_or(error)?),
        }
        Ok(())
    }

    fn state(&self) -> MutexGuard<'_, LogState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn decode(&self, bytes: &[u8]) -> Result<AccessRecord, StorageError> {
        AccessRecord::decode(bytes).ok_or_else(|| self.unusable(INVALID_RECORD.to_owned()))
    }

    /// Converts an error of the store into an error of the log.
    fn wrap(&self, error: StorageError) -> StorageError {
        match unusable(&error) {
            Some(what) => self.unusable(what),
            None => error,
        }
    }

    fn unusable(&self, what: String) -> StorageError {
        StorageError::LogUnusable { path: self.home.path().join(ACCESS), what }
    }
}

fn open_store(home: &Directory, mode: OpenMode, known: &KnownIndexes) -> Result<RecordStore, StorageError> {
    RecordStore::open_with_format(home, ACCESS, FORMAT, (mode, EnvFlags::NO_META_SYNC), known.clone())
}

/// Moves the log to [`ProjectDirectory::UNUSABLE_ACCESS`], unless `is_valid` returns true because another process has
/// already created a new log. Removes an older log at the new path. `home` is the `.aurora` directory. Returns whether
/// the log was moved.
///
/// # Errors
/// Returns [`StorageError::Locked`] if another process is writing; an error if the directory cannot be written.
fn set_aside(home: &Directory, is_valid: impl Fn() -> bool) -> Result<bool, StorageError> {
    let _lock = FileLock::writer_briefly(home)?;
    if is_valid() {
        return Ok(false);
    }
    let (name, aside) = (ACCESS, ProjectDirectory::UNUSABLE_ACCESS);
    let moved = home.remove(aside).and_then(|()| home.rename(name, aside));
    moved.map_err(|error| StorageError::io(&home.path().join(name), error))?;
    Ok(true)
}

/// Returns the reason why a log cannot be used, if an error means that the log is damaged or that there is something
/// else at its path.
fn unusable(error: &StorageError) -> Option<String> {
    match error {
        StorageError::Unsafe { refusal, .. } => Some(refusal.to_string()),
        StorageError::DamagedRecords { what, .. } => Some(what.clone()),
        error => error.unusable_index(),
    }
}

fn stored(writer: &RecordWriter<'_>, key: &[u8]) -> Result<Option<AccessRecord>, StorageError> {
    let decode = |bytes: Vec<u8>| AccessRecord::decode(&bytes).ok_or_else(|| writer.invalid(INVALID_RECORD));
    writer.get(RECORDS, key)?.map(decode).transpose()
}

/// Returns the table key of a chunk key: the chunk key itself, or a prefix and a digest if the chunk key is very long.
fn table_key(key: &str) -> Vec<u8> {
    let bytes = key.as_bytes();
    match bytes.len() {
        // LMDB does not allow empty keys.
        0 => vec![0],
        1..=MAX_KEY_BYTES => bytes.to_vec(),
        _ => [&bytes[..MAX_KEY_BYTES], blake3::hash(bytes).as_bytes()].concat(),
    }
}
