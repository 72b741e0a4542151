//! Whose a store is, and how much of it is checked before it is written to.

use std::fs;

use aurora_confined::Directory;
use aurora_storage::{KnownIndexes, OpenMode, Origin, RecordStore, StorageError};
use heed::EnvOpenOptions;
use heed::types::Bytes;

use super::{LARGE, NAME, Place, SMALL, TABLES, open};

/// What the large value consists of.
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

/// Changes a byte of the large value, which no write to the other table looks at.
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
fn a_new_store_is_its_makers() {
    let place = Place::new();
    let error = open(&place.home(), OpenMode::Existing, place.known()).err().expect("there is none");
    assert!(matches!(error, StorageError::NoIndex { .. }), "{error}");
    let store = place.open();
    assert_eq!((store.origin().expect("reads"), store.id().expect("reads")), (Origin::Own, None));
    write(&store).expect("writes");
    assert_eq!(store.origin().expect("reads"), Origin::Own);
    assert!(store.id().expect("reads").is_some());
    drop(store);
    assert_eq!(origin_in(&place, place.known()), Origin::Own);
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
    place.lay_out(&damaged);
    let accepting = stranger().accepting_unknown(true);
    let store = open(&place.home(), OpenMode::Existing, accepting.clone()).expect("opens");
    assert!(matches!(write(&store), Err(StorageError::DamagedRecords { .. })));
    drop(store);
    let store = open_unchecked(&place, stranger());
    assert!(matches!(store.accept(), Err(StorageError::DamagedRecords { .. })));
    assert_eq!(store.origin().expect("reads"), Origin::Unknown);
    drop(store);
    assert_eq!(fs::read(place.data()).expect("reads"), damaged, "nothing was written");
    place.lay_out(&sound);
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
    // A store of the user's own that git has written is one of somebody else.
    place.lay_out(&sound);
    assert!(is_foreign(&open(&place.home(), OpenMode::Existing, place.known().asking_git(|_, _| true))));
    write(&open(&place.home(), OpenMode::Existing, place.known().asking_git(|_, _| false)).expect("opens"))
        .expect("writes");
    open(&place.home(), OpenMode::Existing, place.known().asking_git(|_, _| true)).expect("is as the user left it");
}

#[test]
fn a_store_that_was_changed_since_is_checked_before_it_is_written_to() {
    let place = own();
    let mut data = fs::read(place.data()).expect("reads");
    // The same bytes at another time.
    place.lay_out(&data);
    assert_eq!(origin_in(&place, place.known()), Origin::OwnButChanged);
    write(&place.open()).expect("is sound");
    assert_eq!(origin_in(&place, place.known()), Origin::Own);
    data = fs::read(place.data()).expect("reads");
    damage(&mut data);
    place.lay_out(&data);
    assert!(matches!(write(&place.open()), Err(StorageError::DamagedRecords { .. })));
    assert_eq!(origin_in(&place, place.known()), Origin::OwnButChanged);
    // Elsewhere its id says nothing.
    let elsewhere = Place::new();
    elsewhere.lay_out(&data);
    assert_eq!(origin_in(&elsewhere, place.known()), Origin::Unknown);
}

/// Takes the id from a store, as its author could, and leaves a file that is sound otherwise.
fn without_id(place: &Place) {
    let path = place.home().join(NAME);
    // SAFETY: nothing else has this file open.
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
fn a_store_with_records_and_no_id_is_nobodys() {
    let place = own();
    without_id(&place);
    assert!(is_foreign(&open(&place.home(), OpenMode::Existing, place.known())));
    let store = open_unchecked(&place, place.known());
    assert_eq!(store.id().expect("reads"), None);
    assert_eq!(store.read().expect("reads").get(SMALL, b"key").expect("sound"), Some(&b"value"[..]));
    assert_eq!(store.origin().expect("reads"), Origin::Unknown);
    drop(store);
    let sound = fs::read(place.data()).expect("reads");
    let mut data = sound.clone();
    damage(&mut data);
    place.lay_out(&data);
    let store = open(&place.home(), OpenMode::Existing, KnownIndexes::everything()).expect("opens");
    assert!(matches!(write(&store), Err(StorageError::DamagedRecords { .. })));
    drop(store);
    place.lay_out(&sound);
    let store = open_unchecked(&place, place.known());
    store.accept().expect("is sound");
    assert_eq!(store.origin().expect("reads"), Origin::Own);
    write(&store).expect("is the user's");
    assert_eq!(store.read().expect("reads").get(SMALL, b"key").expect("sound"), Some(&b"value"[..]));
}

#[test]
fn a_store_that_was_replaced_meanwhile_is_not_written_to() {
    let place = own();
    let store = place.open();
    let data = fs::read(place.data()).expect("reads");
    fs::rename(place.home().join(NAME), place.home().join("aside")).expect("renames");
    place.lay_out(&data);
    // What is acknowledged here would be in a file that nobody opens again.
    assert!(matches!(write(&store), Err(StorageError::Replaced { .. })));
}
