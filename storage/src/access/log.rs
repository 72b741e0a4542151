//! Reads and writes access records.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use heed::types::Bytes;
use heed::{CommitOrAbort, Database, EnvFlags, RwTxn};
use roaring::RoaringTreemap;

use super::codec::AccessRecord;
use super::verdict::Verdict;
use crate::btree::{Cursor, Damage, Tree, check_tree, free_pages};
use crate::env::{Mapped, OpenMode, Store};
use crate::error::StorageError;
use crate::home;

/// Directory of the log within `.aurora`.
const ACCESS: &str = "access";
/// The only table.
const TABLE: &str = "access";
/// Longest chunk key that stands as it is; LMDB allows 511 bytes.
const MAX_KEY: usize = 440;

type RawTable = Database<'static, Bytes, Bytes>;

/// The access history of a project's chunks, by chunk key, so that it outlives the index.
///
/// Losing an access is harmless: callers are free to ignore errors, and a power cut may undo the last
/// writes.
pub struct AccessLog {
    store: Arc<Store>,
    /// Opened by the first write, which is also when the file is checked.
    table: Mutex<Option<RawTable>>,
}

impl AccessLog {
    /// Opens the log of a project, given its `.aurora` directory, or makes it.
    pub fn open(directory: &Path) -> Result<Self, StorageError> {
        let home = home::create(directory).map_err(|error| StorageError::io(directory, error))?;
        let store = Store::open(ACCESS, &home, OpenMode::Create, EnvFlags::NO_META_SYNC)?;
        Ok(Self { store, table: Mutex::new(None) })
    }

    /// Counts accesses: chunk keys with Unix seconds.
    pub fn record(&self, accesses: &[(&str, i64)]) -> Result<(), StorageError> {
        self.update(accesses, |record, time| record.add(time))
    }

    /// Counts a verdict on chunks: their keys with Unix seconds.
    pub fn judge(&self, verdict: Verdict, chunks: &[(&str, i64)]) -> Result<(), StorageError> {
        self.update(chunks, |record, time| record.judge(verdict, time))
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
                table.put(transaction, &key, &record.encode())?;
            }
            Ok(())
        })
    }

    /// The history of a chunk.
    pub fn get(&self, key: &str) -> Result<Option<AccessRecord>, StorageError> {
        Ok(self.get_many(&[key])?.pop().flatten())
    }

    /// The histories of several chunks, in the order of the keys, read at one moment.
    pub fn get_many(&self, keys: &[&str]) -> Result<Vec<Option<AccessRecord>>, StorageError> {
        let mapped = self.store.read()?;
        let wrap = |damage: Damage| self.damaged(damage);
        let tree = tree(&mapped).map_err(wrap)?;
        let get = |key: &&str| {
            let bytes = Cursor::get(mapped.pages(), tree, &table_key(key)).map_err(wrap)?;
            Ok(bytes.and_then(AccessRecord::decode))
        };
        keys.iter().map(get).collect()
    }

    /// Moves the history of a chunk that has got another key.
    pub fn rename(&self, from: &str, to: &str) -> Result<(), StorageError> {
        if from == to || self.get(from)?.is_none() {
            return Ok(());
        }
        self.write(|table, transaction| {
            let (from, to) = (table_key(from), table_key(to));
            if let Some(moved) = stored(table, transaction, &from)? {
                let mut record = stored(table, transaction, &to)?.unwrap_or_default();
                record.absorb(moved);
                table.put(transaction, &to, &record.encode())?;
                table.delete(transaction, &from)?;
            }
            Ok(())
        })
    }

    /// Forgets chunks that are gone: those that `is_live` does not know, when nothing was noted of them since the Unix
    /// second `since`, and of the others all but the newest `most`. Returns how many.
    ///
    /// A record under a shortened key stays, as its chunk cannot be told.
    pub fn sweep(
        &self,
        is_live: impl Fn(&str) -> Result<bool, StorageError>,
        since: i64,
        most: usize,
    ) -> Result<usize, StorageError> {
        let mut gone = Vec::new();
        {
            let mapped = self.store.read()?;
            let wrap = |damage: Damage| self.damaged(damage);
            let mut cursor = Cursor::first(mapped.pages(), tree(&mapped).map_err(wrap)?).map_err(wrap)?;
            while let Some((key, bytes)) = cursor.entry().map_err(wrap)? {
                let newest = AccessRecord::decode(bytes).and_then(|record| record.newest());
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

    fn write(&self, change: impl Fn(&RawTable, &mut RwTxn<'_>) -> heed::Result<()>) -> Result<(), StorageError> {
        let wrap = |error| StorageError::lmdb(&self.store.data, error);
        let mut table = self.table.lock().unwrap_or_else(PoisonError::into_inner);
        let table = match &mut *table {
            Some(table) => table,
            None => {
                self.check()?;
                table.insert(open_table(&self.store).map_err(wrap)?)
            }
        };
        let mut transaction = self.store.lmdb.write_txn().map_err(wrap)?;
        change(table, &mut transaction).map_err(wrap)?;
        transaction.commit().map_err(wrap)
    }

    /// Checks all pages, few as they are, because LMDB would not when it writes.
    fn check(&self) -> Result<(), StorageError> {
        let mapped = self.store.read()?;
        let mut first = None;
        let mut used = RoaringTreemap::new();
        let tree = tree(&mapped).map_err(|damage| self.damaged(damage))?;
        for tree in [mapped.meta.main, mapped.meta.free, tree] {
            check_tree(&mapped.pages(), tree, &mut used, &mut |damage| {
                first.get_or_insert(damage);
            });
        }
        first
            .map_or_else(|| free_pages(&mapped.pages(), &mapped.meta).map(drop), Err)
            .map_err(|damage| self.damaged(damage))
    }

    fn damaged(&self, damage: Damage) -> StorageError {
        StorageError::Damaged { path: self.store.data.clone(), what: damage.0 }
    }
}

fn tree(mapped: &Mapped) -> Result<Tree, Damage> {
    Ok(Cursor::named(mapped.pages(), mapped.meta.main, TABLE)?.unwrap_or(Tree::EMPTY))
}

fn stored(table: &RawTable, transaction: &RwTxn<'_>, key: &[u8]) -> heed::Result<Option<AccessRecord>> {
    Ok(table.get(transaction, key)?.and_then(AccessRecord::decode))
}

fn open_table(store: &Store) -> heed::Result<RawTable> {
    let transaction = store.lmdb.write_txn()?;
    let opened = store.lmdb.create_databases_and_commit(transaction, |opener, transaction| {
        let table: Database<'_, Bytes, Bytes> = opener.create_database(transaction, Some(TABLE))?;
        Ok::<_, heed::Error>(CommitOrAbort::<_, ()>::Commit(table))
    })?;
    Ok(opened.unwrap_commit())
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
