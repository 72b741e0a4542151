//! Reads and writes access records.
//!
//! As in the index, every value ends in a checksum of its key and bytes, and a row that every transaction writes says
//! which one it was. A log in which that is not so is not believed: readers do without it, and the next write puts it aside
//! and begins another one.

use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use aurora_confined::Directory;
use heed::{EnvFlags, RwTxn};
use rustc_hash::FxHashSet;

use super::aside::set_aside;
use super::codec::AccessRecord;
use super::verdict::Verdict;
use crate::btree::{Cursor, Damage, Mark, Tree, first_damage, seal, unseal};
use crate::error::StorageError;
use crate::opening::OpenMode;
use crate::project::ProjectDirectory;
use crate::records::{RecordDatabase, RecordFormat, RecordTable};
use crate::store::{IndexStore, Mapped};

const ACCESS: &str = ProjectDirectory::ACCESS;
/// Begins the checksums of the records. This number and that of the format are others than those of the index's tables.
const RECORD_MARK: Mark = 0x40;
const FORMAT: RecordFormat =
    RecordFormat { version: 1, mark: 0x41, tables: &[RecordTable { name: "records", mark: RECORD_MARK }] };
/// Longest chunk key that stands as it is; LMDB allows 511 bytes.
const MAX_KEY: usize = 440;

type AccessTable = RecordDatabase;

/// The access history of a project's chunks, by chunk key, so that it outlives the index.
///
/// Losing an access is harmless: callers are free to ignore errors, and a power cut may undo the last
/// writes.
pub struct AccessLog {
    home: Directory,
    state: Mutex<LogState>,
}

/// What there is to read and write.
struct LogState {
    /// Nothing where it could not be opened.
    store: Option<Arc<IndexStore>>,
    /// Why what is there cannot be used.
    unusable: Option<String>,
    /// Why another log was begun.
    begun_anew: Option<String>,
}

impl AccessLog {
    /// Opens the log of a project, given its `.aurora` directory, or makes it. One that cannot be used is opened too: reads
    /// say so, and the first write begins another one.
    ///
    /// # Errors
    /// When the directory or the files of the log cannot be created or opened, or the disk is full. Damage is no error here.
    pub fn open(directory: &Path) -> Result<Self, StorageError> {
        let home = ProjectDirectory::at(directory).create().map_err(|error| StorageError::io(directory, error))?;
        let mut state = LogState { store: None, unusable: None, begun_anew: None };
        match open_store(&home) {
            Ok(store) => state.store = Some(store),
            Err(error) => state.unusable = Some(reason(error)?),
        }
        Ok(Self { home, state: Mutex::new(state) })
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
            self.write(|table, transaction| {
                for (key, copy) in &changed {
                    let key = table_key(key);
                    // A search may have come in between.
                    if let Some(record) = raised(stored(table, transaction, &key)?, copy) {
                        put(table, transaction, &key, &record)?;
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
        self.write(|table, transaction| {
            for (key, time) in chunks {
                let key = table_key(key);
                let mut record = stored(table, transaction, &key)?.unwrap_or_default();
                change(&mut record, *time);
                put(table, transaction, &key, &record)?;
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
        let mapped = self.read()?;
        let wrap = |damage: Damage| self.unusable(damage.0);
        let tree = records(&mapped).map_err(wrap)?;
        let mut seen = FxHashSet::default();
        let mut get = |key: &&str| {
            let key = table_key(key);
            match Cursor::get(mapped.pages(), tree, &key)? {
                Some(bytes) => decode(bytes).map(Some),
                None => Cursor::check_way(mapped.pages(), tree, &key, &mut seen).map(|()| None),
            }
        };
        keys.iter().map(|key| get(key).map_err(wrap)).collect()
    }

    /// Moves the history of a chunk that has got another key.
    ///
    /// # Errors
    /// [`StorageError::LogUnusable`] when the log is damaged or of another format; else as for [`Self::record`].
    pub fn rename(&self, from: &str, to: &str) -> Result<(), StorageError> {
        if from == to || self.get(from)?.is_none() {
            return Ok(());
        }
        self.write(|table, transaction| {
            let (from, to) = (table_key(from), table_key(to));
            if let Some(moved) = stored(table, transaction, &from)? {
                let mut record = stored(table, transaction, &to)?.unwrap_or_default();
                record.absorb(moved);
                put(table, transaction, &to, &record)?;
                table.delete(transaction, &from)?;
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
        let mut gone = Vec::new();
        {
            let mapped = self.read()?;
            let wrap = |damage: Damage| self.unusable(damage.0);
            let mut cursor = Cursor::first(mapped.pages(), records(&mapped).map_err(wrap)?).map_err(wrap)?;
            while let Some((key, bytes)) = cursor.entry().map_err(wrap)? {
                let newest = decode(bytes).map_err(wrap)?.newest();
                let chunk = std::str::from_utf8(key).ok().filter(|key| key.len() <= MAX_KEY);
                if let Some(chunk) = chunk
                    && !is_live(chunk)?
                {
                    gone.push((newest, key.to_vec()));
                }
                cursor.next().map_err(wrap)?;
            }
        }
        gone.sort_unstable_by(|a, b| b.cmp(a));
        let kept = gone.iter().take(most).take_while(|(newest, _)| newest.is_some_and(|time| time >= since)).count();
        let forgotten = gone.split_off(kept);
        if !forgotten.is_empty() {
            self.write(|table, transaction| {
                for (newest, key) in &forgotten {
                    // A search may have come in between.
                    if stored(table, transaction, key)?.and_then(|record| record.newest()) == *newest {
                        table.delete(transaction, key)?;
                    }
                }
                Ok(())
            })?;
        }
        Ok(forgotten.len())
    }

    fn write(&self, change: impl Fn(&AccessTable, &mut RwTxn<'_>) -> heed::Result<()>) -> Result<(), StorageError> {
        let mut state = self.state();
        let store = self.writable(&mut state)?;
        drop(state);
        let wrap = |error| StorageError::lmdb(&store.data, error);
        let tables = FORMAT.open(&store).map_err(wrap)?;
        let mut transaction = store.lmdb.write_txn().map_err(wrap)?;
        change(&tables.tables[0], &mut transaction).map_err(wrap)?;
        FORMAT.sign_in(&tables, &mut transaction).map_err(wrap)?;
        transaction.commit().map_err(wrap)
    }

    /// A log that LMDB can write to, all of whose pages and values have been checked; another one where it was damaged.
    fn writable(&self, state: &mut LogState) -> Result<Arc<IndexStore>, StorageError> {
        let found = match (&state.store, &state.unusable) {
            (Some(store), None) => check(store),
            (_, reason) => Ok(Some(reason.clone().unwrap_or_default())),
        }?;
        if let Some(reason) = found {
            state.store = None;
            state.unusable = Some(reason.clone());
            // Another process may have done it already.
            let is_sound = || open_store(&self.home).is_ok_and(|store| matches!(check(&store), Ok(None)));
            if set_aside(&self.home, is_sound)? {
                state.begun_anew = Some(reason);
            }
            state.store = Some(open_store(&self.home)?);
            state.unusable = None;
        }
        let store = state.store.as_ref().map(Arc::clone);
        store.ok_or_else(|| self.unusable("it is not open".to_owned()))
    }

    fn read(&self) -> Result<Mapped, StorageError> {
        let store = {
            let state = self.state();
            match (&state.store, &state.unusable) {
                (Some(store), None) => Arc::clone(store),
                (_, reason) => return Err(self.unusable(reason.clone().unwrap_or_default())),
            }
        };
        store.read().map_err(|error| reason(error).map_or_else(|error| error, |reason| self.unusable(reason)))
    }

    fn state(&self) -> MutexGuard<'_, LogState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn unusable(&self, what: String) -> StorageError {
        StorageError::LogUnusable { path: self.home.path().join(ACCESS), what }
    }
}

fn open_store(home: &Directory) -> Result<Arc<IndexStore>, StorageError> {
    IndexStore::open(ACCESS, home, OpenMode::Create, EnvFlags::NO_META_SYNC)
}

/// What makes a log unusable, if that is what an error says: damage, or something else in its place.
fn reason(error: StorageError) -> Result<String, StorageError> {
    match error {
        StorageError::Unsafe { refusal, .. } => Ok(refusal.to_string()),
        error => error.unusable_index().ok_or(error),
    }
}

/// Checks all pages and all values, few as they are; returns what is wrong. LMDB would follow what it finds.
fn check(store: &IndexStore) -> Result<Option<String>, StorageError> {
    let mapped = match store.read() {
        Ok(mapped) => mapped,
        Err(error) => return reason(error).map(Some),
    };
    let checked = || -> Result<(), Damage> {
        first_damage(&mapped.pages(), &mapped.meta)?;
        let mut cursor = Cursor::first(mapped.pages(), records(&mapped)?)?;
        while let Some((_, bytes)) = cursor.entry()? {
            decode(bytes)?;
            cursor.next()?;
        }
        Ok(())
    };
    Ok(checked().err().map(|damage| damage.0))
}

/// The tree of the records, once the format has been found to be this one.
fn records(mapped: &Mapped) -> Result<Tree, Damage> {
    Ok(FORMAT.trees(mapped)?[0])
}

fn decode(bytes: &[u8]) -> Result<AccessRecord, Damage> {
    AccessRecord::decode(bytes).ok_or_else(|| Damage("it has a record that is none".to_owned()))
}

fn stored(table: &AccessTable, transaction: &RwTxn<'_>, key: &[u8]) -> heed::Result<Option<AccessRecord>> {
    let bytes = table.get(transaction, key)?.and_then(|bytes| unseal(RECORD_MARK, key, bytes));
    Ok(bytes.and_then(AccessRecord::decode))
}

fn put(table: &AccessTable, transaction: &mut RwTxn<'_>, key: &[u8], record: &AccessRecord) -> heed::Result<()> {
    let mut value = record.encode();
    seal(RECORD_MARK, key, &mut value);
    table.put(transaction, key, &value)
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
