//! The owners of stores, and how much of a store is checked before it is written to.

use std::fs;

use aurora_confined::Directory;
use aurora_storage::{KnownIndexes, OpenMode, Origin, RecordStore, StorageError};
use heed::EnvOpenOptions;
use heed::types::Bytes;

use super::{LARGE, NAME, SMALL, TABLES, TestDirectory, open};

/// The byte that the large value consists of.
const LARGE_BYTE: u8 = 0x6b;

/// A store of this user with some records.
fn own() -> TestDirectory {
    let test_dir = TestDirectory::new();
    let store = test_dir.open();
    store.write(|writer| writer.put(SMALL, b"key", b"value")).expect("the records can be written");
    store.write(|writer| writer.put(LARGE, b"key", &[LARGE_BYTE; 9_000])).expect("the records can be written");
    test_dir
}

fn write(store: &RecordStore) -> Result<(), StorageError> {
    store.write(|writer| writer.put(SMALL, b"other", b"value"))
}

/// Changes a byte of the large value, which no write to the other table reads.
fn damage(data: &mut [u8]) {
    let at =
        data.windows(8_000).position(|bytes| bytes == [LARGE_BYTE; 8_000]).expect("the file contains the large value");
    data[at + 4_000] ^= 1;
}

fn open_unchecked(test_dir: &TestDirectory, known: KnownIndexes) -> RecordStore {
    let home = Directory::open_root(&test_dir.home()).expect("the directory can be opened");
    RecordStore::open_unchecked(&home, NAME, (1, TABLES), OpenMode::Existing, known).expect("the store can be opened")
}

fn origin_in(test_dir: &TestDirectory, known: KnownIndexes) -> Origin {
    open_unchecked(test_dir, known).origin().expect("the store can be read")
}

fn is_foreign<T>(result: &Result<T, StorageError>) -> bool {
    matches!(result, Err(StorageError::ForeignRecords { .. }))
}

#[test]
fn a_new_store_belongs_to_its_creator() {
    let test_dir = TestDirectory::new();
    let error = open(&test_dir.home(), OpenMode::Existing, test_dir.known_indexes()).err().expect("there is no store");
    assert!(matches!(error, StorageError::NoIndex { .. }), "{error}");
    let store = test_dir.open();
    assert_eq!(
        (store.origin().expect("the store can be read"), store.id().expect("the store can be read")),
        (Origin::Own, None)
    );
    write(&store).expect("the records can be written");
    assert_eq!(store.origin().expect("the store can be read"), Origin::Own);
    assert!(store.id().expect("the store can be read").is_some());
    drop(store);
    assert_eq!(origin_in(&test_dir, test_dir.known_indexes()), Origin::Own);
}

#[test]
fn a_store_of_somebody_else_is_checked_before_it_is_written_to() {
    let test_dir = own();
    let stranger = || KnownIndexes::at(test_dir.0.path().join("of a stranger"));
    assert_eq!(origin_in(&test_dir, stranger()), Origin::Unknown);
    assert_eq!(origin_in(&test_dir, KnownIndexes::none()), Origin::Unknown);
    let valid = fs::read(test_dir.data()).expect("the file can be read");
    let mut damaged = valid.clone();
    damage(&mut damaged);
    test_dir.replace_data_file(&damaged);
    let accepting = stranger().accepting_unknown(true);
    let store = open(&test_dir.home(), OpenMode::Existing, accepting.clone()).expect("the store can be opened");
    assert!(matches!(write(&store), Err(StorageError::DamagedRecords { .. })));
    drop(store);
    let store = open_unchecked(&test_dir, stranger());
    assert!(matches!(store.accept(), Err(StorageError::DamagedRecords { .. })));
    assert_eq!(store.origin().expect("the store can be read"), Origin::Unknown);
    drop(store);
    assert_eq!(fs::read(test_dir.data()).expect("the file can be read"), damaged, "nothing was written");
    test_dir.replace_data_file(&valid);
    write(&open(&test_dir.home(), OpenMode::Existing, accepting).expect("the store can be opened"))
        .expect("the store is valid");
    assert_eq!(origin_in(&test_dir, stranger()), Origin::Unknown, "an allowed write does not accept the store");
    let store = open_unchecked(&test_dir, stranger());
    store.accept().expect("the store is valid");
    assert_eq!(store.origin().expect("the store can be read"), Origin::Own);
}

#[test]
fn a_store_of_somebody_else_is_neither_read_nor_written_before_it_is_accepted() {
    let test_dir = own();
    let valid = fs::read(test_dir.data()).expect("the file can be read");
    let stranger = || KnownIndexes::at(test_dir.0.path().join("of a stranger"));
    for mode in [OpenMode::Existing, OpenMode::Create] {
        assert!(is_foreign(&open(&test_dir.home(), mode, stranger())));
    }
    assert!(is_foreign(&write(&open_unchecked(&test_dir, stranger()))));
    assert_eq!(fs::read(test_dir.data()).expect("the file can be read"), valid, "nothing was written");
    assert_eq!(origin_in(&test_dir, stranger()), Origin::Unknown);
    // A store of the user that git has written counts as a store of somebody else.
    test_dir.replace_data_file(&valid);
    assert!(is_foreign(&open(&test_dir.home(), OpenMode::Existing, test_dir.known_indexes().asking_git(|_, _| true))));
    write(
        &open(&test_dir.home(), OpenMode::Existing, test_dir.known_indexes().asking_git(|_, _| false))
            .expect("the store can be opened"),
    )
    .expect("the records can be written");
    open(&test_dir.home(), OpenMode::Existing, test_dir.known_indexes().asking_git(|_, _| true))
        .expect("the store is unchanged since the last write");
}

#[test]
fn a_store_changed_since_the_last_write_is_checked_before_it_is_written_to() {
    let test_dir = own();
    let mut data = fs::read(test_dir.data()).expect("the file can be read");
    // The same bytes with another modification time.
    test_dir.replace_data_file(&data);
    assert_eq!(origin_in(&test_dir, test_dir.known_indexes()), Origin::OwnButChanged);
    write(&test_dir.open()).expect("the store is valid");
    assert_eq!(origin_in(&test_dir, test_dir.known_indexes()), Origin::Own);
    data = fs::read(test_dir.data()).expect("the file can be read");
    damage(&mut data);
    test_dir.replace_data_file(&data);
    assert!(matches!(write(&test_dir.open()), Err(StorageError::DamagedRecords { .. })));
    assert_eq!(origin_in(&test_dir, test_dir.known_indexes()), Origin::OwnButChanged);
    // In another directory, the id proves nothing.
    let elsewhere = TestDirectory::new();
    elsewhere.replace_data_file(&data);
    assert_eq!(origin_in(&elsewhere, test_dir.known_indexes()), Origin::Unknown);
}

/// Removes the id from a store, as its author could, and leaves a file that is otherwise valid.
fn without_id(test_dir: &TestDirectory) {
    let path = test_dir.home().join(NAME);
    // SAFETY: no other handle has this file open.
    let lmdb = unsafe { EnvOpenOptions::new().max_dbs(16).map_size(1 << 24).open(&path) }
        .expect("the environment can be opened");
    let transaction = lmdb.write_txn().expect("the transaction can begin");
    let committed = lmdb.create_databases_and_commit(transaction, |opener, transaction| {
        let identity: heed::Database<'_, Bytes, Bytes> = opener.create_database(transaction, Some("identity"))?;
        assert!(identity.delete(transaction, b"id")?, "a store has an id");
        let format: heed::Database<'_, Bytes, Bytes> = opener.create_database(transaction, Some("format"))?;
        let mut value = [1u32.to_le_bytes().as_slice(), &(transaction.id() as u64).to_le_bytes()].concat();
        let checksum = crc32fast::hash(&[&[0x51], b"signature".as_slice(), &value].concat());
        value.extend_from_slice(&checksum.to_le_bytes());
        format.put(transaction, b"signature", &value)?;
        Ok::<_, heed::Error>(heed::CommitOrAbort::<_, ()>::Commit(format))
    });
    committed.expect("the transaction can be committed");
    lmdb.prepare_for_closing().wait();
}

#[test]
fn a_store_with_records_but_no_id_has_an_unknown_origin() {
    let test_dir = own();
    without_id(&test_dir);
    assert!(is_foreign(&open(&test_dir.home(), OpenMode::Existing, test_dir.known_indexes())));
    let store = open_unchecked(&test_dir, test_dir.known_indexes());
    assert_eq!(store.id().expect("the store can be read"), None);
    assert_eq!(
        store.read().expect("the store can be read").get(SMALL, b"key").expect("the store is valid"),
        Some(&b"value"[..])
    );
    assert_eq!(store.origin().expect("the store can be read"), Origin::Unknown);
    drop(store);
    let valid = fs::read(test_dir.data()).expect("the file can be read");
    let mut data = valid.clone();
    damage(&mut data);
    test_dir.replace_data_file(&data);
    let store =
        open(&test_dir.home(), OpenMode::Existing, KnownIndexes::accepting_all()).expect("the store can be opened");
    assert!(matches!(write(&store), Err(StorageError::DamagedRecords { .. })));
    drop(store);
    test_dir.replace_data_file(&valid);
    let store = open_unchecked(&test_dir, test_dir.known_indexes());
    store.accept().expect("the store is valid");
    assert_eq!(store.origin().expect("the store can be read"), Origin::Own);
    write(&store).expect("the store belongs to the user");
    assert_eq!(
        store.read().expect("the store can be read").get(SMALL, b"key").expect("the store is valid"),
        Some(&b"value"[..])
    );
}

#[test]
fn a_replaced_store_is_not_written_to() {
    let test_dir = own();
    let store = test_dir.open();
    let data = fs::read(test_dir.data()).expect("the file can be read");
    fs::rename(test_dir.home().join(NAME), test_dir.home().join("aside")).expect("the directory can be renamed");
    test_dir.replace_data_file(&data);
    // An acknowledged write would be in a file that nobody opens again.
    assert!(matches!(write(&store), Err(StorageError::Replaced { .. })));
}
