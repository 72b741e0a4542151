//! Stores of records: after any writes, damage, kills and concurrent access, a read returns the last acknowledged value
//! or an error.

mod damage;
mod deaths;
mod origin;
mod several;

use std::collections::BTreeMap;
use std::fs;
use std::ops::Bound;
use std::path::Path;

use aurora_confined::Directory;
use aurora_storage::{KnownIndexes, OpenMode, RecordStore, RecordTable, RecordWriter, StorageError};
use proptest::prelude::*;
use tempfile::TempDir;

use crate::repository::directory;

/// Positions of the tables.
const SMALL: usize = 0;
const LARGE: usize = 1;
const TABLES: &[RecordTable] = &[
    RecordTable { name: "small", mark: 0x60, is_optional: false },
    RecordTable { name: "large", mark: 0x61, is_optional: false },
    RecordStore::IDENTITY,
];
/// Name of the store.
const NAME: &str = "records";
/// Maximum length of a key in bytes.
const MAX_KEY_BYTES: usize = 500;

/// A directory with a store, and the records of the stores that the user has created.
struct TestDirectory(TempDir);

impl TestDirectory {
    fn new() -> Self {
        let test_dir = Self(directory());
        fs::create_dir(test_dir.home()).expect("the directory can be created");
        test_dir
    }

    fn home(&self) -> std::path::PathBuf {
        self.0.path().join("home")
    }

    fn data(&self) -> std::path::PathBuf {
        self.home().join(NAME).join("data.mdb")
    }

    fn open(&self) -> RecordStore {
        open(&self.home(), OpenMode::Create, self.known_indexes()).expect("the store can be opened")
    }

    fn known_indexes(&self) -> KnownIndexes {
        KnownIndexes::at(self.0.path().join("known"))
    }

    /// Replaces the data file. The new file has another inode, so it is distinguished from the old one even within the
    /// resolution of time stamps.
    fn replace_data_file(&self, data: &[u8]) {
        fs::create_dir_all(self.home().join(NAME)).expect("the directory can be created");
        let _ = fs::remove_file(self.data());
        fs::write(self.data(), data).expect("the file can be written");
    }
}

fn open(home: &Path, mode: OpenMode, known: KnownIndexes) -> Result<RecordStore, StorageError> {
    let home = Directory::open_root(home).expect("the directory can be opened");
    RecordStore::open(&home, NAME, (1, TABLES), mode, known)
}

/// The reason why a transaction failed.
#[derive(Debug)]
#[allow(dead_code, reason = "a failed test prints it")]
enum Failure {
    Storage(StorageError),
    /// The test wanted the transaction to fail.
    Intended,
}

impl From<StorageError> for Failure {
    fn from(error: StorageError) -> Self {
        Self::Storage(error)
    }
}

/// The expected content of a store: for each table, keys and values.
type Model = [BTreeMap<Vec<u8>, Vec<u8>>; 2];

#[derive(Debug, Clone)]
enum Change {
    Put {
        table: usize,
        key: Vec<u8>,
        value: Vec<u8>,
    },
    Delete {
        table: usize,
        key: Vec<u8>,
    },
    /// Tries to put a record under a key that no table can have.
    InvalidKey {
        table: usize,
        is_empty: bool,
    },
}

#[derive(Debug, Clone)]
enum Step {
    Commit(Vec<Change>),
    Fail(Vec<Change>),
    Reopen,
}

/// Keys that often collide. Some have the maximum length, and some have arbitrary bytes.
fn any_key() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        8 => (0..40u8).prop_map(|number| format!("key:{number:02}").into_bytes()),
        1 => (0..4u8).prop_map(|number| [vec![b'k'; MAX_KEY_BYTES - 1], vec![number]].concat()),
        1 => prop::collection::vec(any::<u8>(), 1..4),
    ]
}

/// Values that fit into a page, and values that need overflow pages.
fn any_value() -> impl Strategy<Value = Vec<u8>> {
    let repeated = |length: std::ops::Range<usize>| (any::<u8>(), length).prop_map(|(byte, length)| vec![byte; length]);
    prop_oneof![6 => prop::collection::vec(any::<u8>(), 0..40), 2 => repeated(500..2_000), 1 => repeated(4_000..30_000)]
}

fn any_change() -> impl Strategy<Value = Change> {
    let table = || 0..2_usize;
    prop_oneof![
        8 => (table(), any_key(), any_value()).prop_map(|(table, key, value)| Change::Put { table, key, value }),
        3 => (table(), any_key()).prop_map(|(table, key)| Change::Delete { table, key }),
        1 => (table(), any::<bool>()).prop_map(|(table, is_empty)| Change::InvalidKey { table, is_empty }),
    ]
}

fn any_step() -> impl Strategy<Value = Step> {
    let changes = || prop::collection::vec(any_change(), 0..12);
    prop_oneof![
        6 => changes().prop_map(Step::Commit),
        2 => changes().prop_map(Step::Fail),
        2 => Just(Step::Reopen),
    ]
}

/// Makes changes, and reads them within the transaction.
fn apply(writer: &mut RecordWriter<'_>, model: &mut Model, changes: &[Change]) -> Result<(), Failure> {
    for change in changes {
        match change {
            Change::Put { table, key, value } => {
                writer.put(*table, key, value)?;
                model[*table].insert(key.clone(), value.clone());
            }
            Change::Delete { table, key } => {
                assert_eq!(writer.delete(*table, key)?, model[*table].remove(key).is_some());
            }
            Change::InvalidKey { table, is_empty } => {
                let key = vec![b'x'; if *is_empty { 0 } else { MAX_KEY_BYTES + 1 }];
                let error = writer.put(*table, &key, b"value").expect_err("the key is invalid");
                assert!(matches!(error, StorageError::Key { most: MAX_KEY_BYTES, .. }), "{error}");
            }
        }
        if let Change::Put { table, key, .. } | Change::Delete { table, key } = change {
            assert_eq!(writer.get(*table, key)?, model[*table].get(key).cloned());
            assert_eq!(writer.last_key(*table)?, model[*table].last_key_value().map(|(key, _)| key.clone()));
        }
    }
    Ok(())
}

/// Reads all records of a store, and compares them with the expected content.
fn check(store: &RecordStore, model: &Model) {
    let reader = store.read().expect("the store can be read");
    for (table, records) in model.iter().enumerate() {
        assert_eq!(reader.count(table), records.len() as u64);
        let last = reader.last(table).expect("the store is valid");
        assert_eq!(last, records.last_key_value().map(|(key, value)| (&key[..], &value[..])));
        let mut starts = vec![Vec::new(), b"key:2".to_vec(), vec![0xff; 8]];
        starts.extend(records.keys().step_by(7).cloned());
        for start in starts {
            let found: Vec<_> = reader
                .from(table, &start)
                .expect("the store is valid")
                .map(|record| record.expect("the store is valid"))
                .collect();
            let range = records.range::<Vec<u8>, _>((Bound::Included(&start), Bound::Unbounded));
            assert!(found.iter().copied().eq(range.map(|(key, value)| (&key[..], &value[..]))), "from {start:?}");
        }
        for key in (0..40).map(|number| format!("key:{number:02}").into_bytes()).chain(records.keys().cloned()) {
            assert_eq!(reader.get(table, &key).expect("the store is valid"), records.get(&key).map(Vec::as_slice));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn committed_transactions_are_read_back(steps in prop::collection::vec(any_step(), 1..20)) {
        let test_dir = TestDirectory::new();
        let mut store = Some(test_dir.open());
        let (mut model, mut id) = (Model::default(), None);
        for step in steps {
            let open = store.take().unwrap_or_else(|| test_dir.open());
            let (changes, fails) = match step {
                Step::Commit(changes) => (changes, false),
                Step::Fail(changes) => (changes, true),
                // The last handle of the process is closed, and the file is opened again.
                Step::Reopen => continue,
            };
            let mut after = model.clone();
            let before = open.read().expect("the store can be read").transaction();
            let done = open.write(|writer| {
                apply(writer, &mut after, &changes)?;
                if fails { Err(Failure::Intended) } else { Ok(()) }
            });
            match (done, fails) {
                (Ok(()), false) => model = after,
                (Err(Failure::Intended), true) => {}
                (done, _) => panic!("{done:?}"),
            }
            check(&open, &model);
            let transaction = open.read().expect("the store can be read").transaction();
            prop_assert!(transaction >= before, "{} after {}", transaction, before);
            let now = open.id().expect("the store can be read");
            prop_assert!(id.is_none() || now == id, "a store keeps its id");
            id = now;
            store = Some(open);
        }
        drop(store);
        check(&test_dir.open(), &model);
    }
}

#[test]
fn a_reader_keeps_its_snapshot() {
    let test_dir = TestDirectory::new();
    let store = test_dir.open();
    let put =
        |value: &[u8]| store.write(|writer| writer.put(SMALL, b"key", value)).expect("the records can be written");
    put(b"old");
    let reader = store.read().expect("the store can be read");
    for number in 0..20_u32 {
        put(&[number.to_le_bytes().as_slice(), &[7; 5_000]].concat());
        assert_eq!(reader.get(SMALL, b"key").expect("the store is valid"), Some(&b"old"[..]));
    }
    drop(store);
    assert_eq!(reader.get(SMALL, b"key").expect("the store is valid"), Some(&b"old"[..]));
}
