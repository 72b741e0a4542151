//! Reads and writes access records.
//!
//! The log is a store of records. One that is damaged is not believed: readers do without it, and the next write puts it aside
//! and begins another one. One that somebody else has made is neither read nor written.

use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use aurora_confined::Directory;
use heed::EnvFlags;

use super::aside::set_aside;
use super::codec::AccessRecord;
use super::verdict::Verdict;
use crate::error::StorageError;
use crate::opening::OpenMode;
use crate::project::ProjectDirectory;
use crate::records::{RecordFormat, RecordStore, RecordTable, RecordWriter};
use crate::trust::KnownIndexes;

const ACCESS: &str = ProjectDirectory::ACCESS;
const RECORDS: usize = 0;
/// The marks and the version differ from the ones that the tables of an index have.
const FORMAT: RecordFormat = RecordFormat {
    version: 1,
    mark: 0x41,
    tables: &[RecordTable { name: "records", mark: 0x40 }, RecordStore::IDENTITY],
};
const INVALID_RECORD: &str = "it has an invalid record";
/// Maximum length in bytes of a chunk key that is stored as it is; LMDB allows 511 bytes.
const MAX_KEY: usize = 440;

/// The access history of a project's chunks, by chunk key, so that it outlives the index.
///
/// Losing an access is harmless: callers are free to ignore errors, and a power cut may undo the last
/// writes.
pub struct AccessLog {
    home: Directory,
    known: KnownIndexes,
    state: Mutex<LogState>,
}

/// The store of a log.
#[derive(Default)]
struct LogState {
    /// `None` if the store does not exist yet or cannot be used.
    store: Option<Arc<RecordStore>>,
    /// The reason why the existing store cannot be used.
    unusable: Option<String>,
    /// Why another log was begun.
    begun_anew: Option<String>,
}

impl AccessLog {
    /// Opens the log of a project, given its `.aurora` directory. It is created by the first write, and `known` remembers it. A
    /// damaged one is opened too: reads fail, and the first write begins another one.
    ///
    /// # Errors
    /// [`StorageError::ForeignRecords`] if the user has neither made nor accepted the log; when the directory or the files of the
    /// log cannot be opened. Damage is no error here.
    pub fn open(directory: &Path, known: &KnownIndexes) -> Result<Self, StorageError> {
        let home = ProjectDirectory::at(directory).create().map_err(|error| StorageError::io(directory, error))?;
        let log = Self { home, known: known.clone(), state: Mutex::default() };
        log.reopen(&mut log.state())?;
        Ok(log)
    }

    /// Checks the whole log of a project, and records it as one of this user's.
    ///
    /// # Errors
    /// When the log does not exist or is damaged, or the record cannot be written.
    pub fn accept(directory: &Path, known: &KnownIndexes) -> Result<(), StorageError> {
        let home = ProjectDirectory::at(directory).open().map_err(|error| StorageError::io(directory, error))?;
        open_store(&home, OpenMode::Existing, known)?.accept()
    }

    /// Checks every page and every record.
    ///
    /// # Errors
    /// [`StorageError::LogUnusable`] when the log is damaged or of another format.
    pub fn check(&self) -> Result<(), StorageError> {
        let Some(store) = self.usable()? else { return Ok(()) };
        store.check().map_err(|error| self.wrap(error))
    }

    /// Why a write through this handle has begun another log, if one has.
    pub fn begun_anew(&self) -> Option<String> {
        self.state().begun_anew.clone()
    }

    /// Counts accesses: chunk keys with Unix seconds.
    ///
    /// # Errors
    /// When the log, or a new one in its place, cannot be written: no permission, a full disk, another process that holds it.
    pub fn record(&self, accesses: &[(&str, i64)]) -> Result<(), StorageError> {
        self.update(accesses, |record, time| record.add(time))
    }

    /// Counts a verdict on chunks: their keys with Unix seconds.
    ///
    /// # Errors
    /// As for [`Self::record`].
    pub fn judge(&self, verdict: Verdict, chunks: &[(&str, i64)]) -> Result<(), StorageError> {
        self.update(chunks, |record, time| record.judge(verdict, time))
    }

    /// Takes over what copies of records know: of each count the greater one, of the times those of both. What both know counts
    /// once, so that the same copies change nothing a second time. Returns how many records have changed.
    ///
    /// # Errors
    /// [`StorageError::LogUnusable`] when the log is damaged or of another format; else as for [`Self::record`].
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
                    // A search may have come in between.
                    if let Some(record) = raised(stored(writer, &key)?, copy) {
                        writer.put(RECORDS, &key, &record.encode())?;
                    }
                }
                Ok(())
            })?;
        }
        Ok(changed.len())
    }

    /// Changes the records of `chunks` in one transaction, so that of several processes none undoes what another did.
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

    /// The history of a chunk.
    ///
    /// # Errors
    /// As for [`Self::get_many`].
    pub fn get(&self, key: &str) -> Result<Option<AccessRecord>, StorageError> {
        Ok(self.get_many(&[key])?.pop().flatten())
    }

    /// The histories of several chunks, in the order of the keys, read at one moment.
    ///
    /// # Errors
    /// [`StorageError::LogUnusable`] when the log is damaged or of another format: callers do without it.
    pub fn get_many(&self, keys: &[&str]) -> Result<Vec<Option<AccessRecord>>, StorageError> {
        let Some(store) = self.usable()? else { return Ok(vec![None; keys.len()]) };
        let get = || -> Result<Vec<Option<AccessRecord>>, StorageError> {
            let reader = store.read()?;
            let decode = |bytes| self.decode(bytes);
            keys.iter().map(|key| reader.get(RECORDS, &table_key(key))?.map(decode).transpose()).collect()
        };
        get().map_err(|error| self.wrap(error))
    }

    /// Moves the history of a chunk that has got another key.
    ///
    /// # Errors
    /// [`StorageError::LogUnusable`] when the log is damaged or of another format; else as for [`Self::record`].
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

    /// Forgets chunks that are gone: those that `is_live` does not know, when nothing was noted of them since the Unix
    /// second `since`, and of the others all but the newest `most`. Returns how many.
    ///
    /// A record under a shortened key stays, as its chunk cannot be told.
    ///
    /// # Errors
    /// The first error of `is_live`; [`StorageError::LogUnusable`] when the log is damaged or of another format; else as for
    /// [`Self::record`].
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
            let chunk = std::str::from_utf8(key).ok().filter(|key| key.len() <= MAX_KEY);
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
                    // A search may have come in between.
                    if stored(writer, key)?.and_then(|record| record.newest()) == *newest {
                        writer.delete(RECORDS, key)?;
                    }
                }
                Ok(())
            })?;
        }
        Ok(forgotten.len())
    }

    /// Writes to the log, or to another one in its place if it cannot be used.
    fn write(&self, change: impl Fn(&mut RecordWriter<'_>) -> Result<(), StorageError>) -> Result<(), StorageError> {
        let written = match self.writable()?.map(|store| store.write(&change)) {
            // Another process has begun a new log.
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
        self.begin_anew()?.write(change)
    }

    /// Returns the store, and creates it if it does not exist. `None` if it cannot be used.
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

    /// Puts a log that cannot be used aside, and creates another one.
    fn begin_anew(&self) -> Result<Arc<RecordStore>, StorageError> {
        let mut state = self.state();
        state.store = None;
        // Another process may have done it already.
        let existing = || open_store(&self.home, OpenMode::Existing, &self.known);
        if set_aside(&self.home, || existing().is_ok_and(|store| store.check().is_ok()))? {
            state.begun_anew = state.unusable.take();
        }
        state.unusable = None;
        let store = Arc::new(open_store(&self.home, OpenMode::Create, &self.known)?);
        state.store = Some(Arc::clone(&store));
        Ok(store)
    }

    /// Returns the store; `None` if it does not exist yet.
    fn usable(&self) -> Result<Option<Arc<RecordStore>>, StorageError> {
        let mut state = self.state();
        if state.store.is_none() {
            // Another process may have created it.
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
            // The origin of a damaged log cannot be determined. The log is not used in any case.
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

    /// An error of the store as one of the log.
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

/// Returns the reason why a log cannot be used, if it is damaged or something else is in its place.
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

/// The key of a chunk key: itself, or for a very long one its beginning and a digest.
fn table_key(key: &str) -> Vec<u8> {
    let bytes = key.as_bytes();
    match bytes.len() {
        // LMDB has no empty keys.
        0 => vec![0],
        1..=MAX_KEY => bytes.to_vec(),
        _ => [&bytes[..MAX_KEY], blake3::hash(bytes).as_bytes()].concat(),
    }
}
