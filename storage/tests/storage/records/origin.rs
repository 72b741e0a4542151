//! The owners of stores, and how much of a store is checked before it is written to.

use std::fs;

use aurora_confined::Directory;
use aurora_storage::{KnownIndexes, OpenMode, Origin, RecordStore, StorageError};
use heed::EnvOpenOptions;
use heed::types::Bytes;

use super::{LARGE, NAME, Place, SMALL, TABLES, open};

/// The byte that the large value consists of.
const LARGE_BYTE: u8 = 0x6b;

/// A store of this user with some records.
fn own() -> Place {
    let place = Place::new();
    let store = place.open();
    store.write(|writer| writer.put(SMALL, b"key", b"value")).expect("writes");
    store.write(|writer| writer.put(LARGE, b"key", &[LARGE_BYTE; 9_000])).expect("writes");
    place
}

fn write(store: &RecordStore) -> Result<(), StorageError> {
    store.write(|writer| writer.put(SMALL, b"other", b"value"))
}

/// Changes a byte of the large value, which no write to the other table reads.
fn damage(data: &mut [u8]) {
    let at = data.windows(8_000).position(|bytes| bytes == [LARGE_BYTE; 8_000]).expect("the large value");
    data[at + 4_000] ^= 1;
}

fn open_unchecked(place: &Place, known: KnownIndexes) -> RecordStore {
    let home = Directory::open_root(&place.home()).expect("opens");
    RecordStore::open_unchecked(&home, NAME, (1, TABLES), OpenMode::Existing, known).expect("opens")
}

fn origin_in(place: &Place, known: KnownIndexes) -> Origin {
    open_unchecked(place, known).origin().expect("reads")
}

fn is_foreign<T>(result: &Result<T, StorageError>) -> bool {
    matches!(result, Err(StorageError::ForeignRecords { .. }))
}

#[test]
fn a_new_store_belongs_to_its_creator() {
    let place = Place::new();
    let error = open(&place.home(), OpenMode::Existing, place.known_indexes()).err().expect("there is none");
    assert!(matches!(error, StorageError::NoIndex { .. }), "{error}");
    let store = place.open();
    assert_eq!((store.origin().expect("reads"), store.id().expect("reads")), (Origin::Own, None));
    write(&store).expect("writes");
    assert_eq!(store.origin().expect("reads"), Origin::Own);
    assert!(store.id().expect("reads").is_some());
    drop(store);
    assert_eq!(origin_in(&place, place.known_indexes()), Origin::Own);
}

#[test]
fn a_store_of_somebody_else_is_checked_before_it_is_written_to() {
    let place = own();
    let stranger = || KnownIndexes::at(place.0.path().join("of a stranger"));
    assert_eq!(origin_in(&place, stranger()), Origin::Unknown);
    assert_eq!(origin_in(&place, KnownIndexes::none()), Origin::Unknown);
    let sound = fs::read(place.data()).expect("reads");
    let mut damaged = sound.clone();
    damage(&mut damaged);
    place.replace_data_file(&damaged);
    let accepting = stranger().accepting_unknown(true);
    let store = open(&place.home(), OpenMode::Existing, accepting.clone()).expect("opens");
    assert!(matches!(write(&store), Err(StorageError::DamagedRecords { .. })));
    drop(store);
    let store = open_unchecked(&place, stranger());
    assert!(matches!(store.accept(), Err(StorageError::DamagedRecords { .. })));
    assert_eq!(store.origin().expect("reads"), Origin::Unknown);
    drop(store);
    assert_eq!(fs::read(place.data()).expect("reads"), damaged, "nothing was written");
    place.replace_data_file(&sound);
    write(&open(&place.home(), OpenMode::Existing, accepting).expect("opens")).expect("is sound");
    assert_eq!(origin_in(&place, stranger()), Origin::Unknown, "a write that is allowed for now is no acceptance");
    let store = open_unchecked(&place, stranger());
    store.accept().expect("is sound");
    assert_eq!(store.origin().expect("reads"), Origin::Own);
}

#[test]
fn a_store_of_somebody_else_is_neither_read_nor_written_before_it_is_accepted() {
    let place = own();
    let sound = fs::read(place.data()).expect("reads");
    let stranger = || KnownIndexes::at(place.0.path().join("of a stranger"));
    for mode in [OpenMode::Existing, OpenMode::Create] {
        assert!(is_foreign(&open(&place.home(), mode, stranger())));
    }
    assert!(is_foreign(&write(&open_unchecked(&place, stranger()))));
    assert_eq!(fs::read(place.data()).expect("reads"), sound, "nothing was written");
    assert_eq!(origin_in(&place, stranger()), Origin::Unknown);
    // A store of the user that git has written counts as a store of somebody else.
    place.replace_data_file(&sound);
    assert!(is_foreign(&open(&place.home(), OpenMode::Existing, place.known_indexes().asking_git(|_, _| true))));
    write(&open(&place.home(), OpenMode::Existing, place.known_indexes().asking_git(|_, _| false)).expect("opens"))
        .expect("writes");
    open(&place.home(), OpenMode::Existing, place.known_indexes().asking_git(|_, _| true))
        .expect("is as the user left it");
}

#[test]
fn a_store_that_was_changed_since_is_checked_before_it_is_written_to() {
    let place = own();
    let mut data = fs::read(place.data()).expect("reads");
    // The same bytes at another time.
    place.replace_data_file(&data);
    assert_eq!(origin_in(&place, place.known_indexes()), Origin::OwnButChanged);
    write(&place.open()).expect("is sound");
    assert_eq!(origin_in(&place, place.known_indexes()), Origin::Own);
    data = fs::read(place.data()).expect("reads");
    damage(&mut data);
    place.replace_data_file(&data);
    assert!(matches!(write(&place.open()), Err(StorageError::DamagedRecords { .. })));
    assert_eq!(origin_in(&place, place.known_indexes()), Origin::OwnButChanged);
    // At another place, the id proves nothing.
    let elsewhere = Place::new();
    elsewhere.replace_data_file(&data);
    assert_eq!(origin_in(&elsewhere, place.known_indexes()), Origin::Unknown);
}

/// Removes the id from a store, as its author could, and leaves a file that is otherwise sound.
fn without_id(place: &Place) {
    let path = place.home().join(NAME);
    // SAFETY: no other handle has this file open.
    let lmdb = unsafe { EnvOpenOptions::new().max_dbs(16).map_size(1 << 24).open(&path) }.expect("opens");
    let transaction = lmdb.write_txn().expect("begins");
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
    committed.expect("commits");
    lmdb.prepare_for_closing().wait();
}

#[test]
fn a_store_with_records_but_no_id_has_no_owner() {
    let place = own();
    without_id(&place);
    assert!(is_foreign(&open(&place.home(), OpenMode::Existing, place.known_indexes())));
    let store = open_unchecked(&place, place.known_indexes());
    assert_eq!(store.id().expect("reads"), None);
    assert_eq!(store.read().expect("reads").get(SMALL, b"key").expect("sound"), Some(&b"value"[..]));
    assert_eq!(store.origin().expect("reads"), Origin::Unknown);
    drop(store);
    let sound = fs::read(place.data()).expect("reads");
    let mut data = sound.clone();
    damage(&mut data);
    place.replace_data_file(&data);
    let store = open(&place.home(), OpenMode::Existing, KnownIndexes::accepting_all()).expect("opens");
    assert!(matches!(write(&store), Err(StorageError::DamagedRecords { .. })));
    drop(store);
    place.replace_data_file(&sound);
    let store = open_unchecked(&place, place.known_indexes());
    store.accept().expect("is sound");
    assert_eq!(store.origin().expect("reads"), Origin::Own);
    write(&store).expect("is the user's");
    assert_eq!(store.read().expect("reads").get(SMALL, b"key").expect("sound"), Some(&b"value"[..]));
}

#[test]
fn a_replaced_store_is_not_written_to() {
    let place = own();
    let store = place.open();
    let data = fs::read(place.data()).expect("reads");
    fs::rename(place.home().join(NAME), place.home().join("aside")).expect("renames");
    place.replace_data_file(&data);
    // An acknowledged write would be in a file that nobody opens again.
    assert!(matches!(write(&store), Err(StorageError::Replaced { .. })));
}
