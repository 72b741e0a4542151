//! Errors of opening a directory without a sound index.

use std::fs;
use std::path::Path;

use aurora_storage::{
    AccessLog, Annotations, Environment, FORMAT_VERSION, Governance, KnownIndexes, OpenMode, StorageError, Threads,
    WriterOptions,
};
use heed::EnvOpenOptions;
use heed::types::Bytes;

use crate::repository::{directory, open, synthetic, write};

fn existing(directory: &Path) -> Result<Environment, StorageError> {
    Environment::open(directory, OpenMode::Existing)
}

/// Puts a value into a table of an LMDB environment that is not open.
fn put_raw(directory: &Path, table: &str, key: &[u8], value: &[u8]) {
    let index = directory.join("index");
    fs::create_dir_all(&index).expect("makes a directory");
    // SAFETY: no other handle has this file open.
    let lmdb = unsafe { EnvOpenOptions::new().max_dbs(16).map_size(1 << 24).open(&index) };
    let lmdb = lmdb.expect("opens");
    let transaction = lmdb.write_txn().expect("begins");
    let committed = lmdb.create_databases_and_commit(transaction, |opener, transaction| {
        let table: heed::Database<'_, Bytes, Bytes> = opener.create_database(transaction, Some(table))?;
        table.put(transaction, key, value)?;
        Ok::<_, heed::Error>(heed::CommitOrAbort::<_, ()>::Commit(table))
    });
    committed.expect("commits");
    lmdb.prepare_for_closing().wait();
}

#[test]
fn opening_a_missing_index_reports_no_index() {
    let directory = directory();
    let error = existing(directory.path()).expect_err("there is none");
    assert!(matches!(error, StorageError::NoIndex { .. }));
    assert!(error.to_string().starts_with("no index at "));
    assert!(fs::read_dir(directory.path()).expect("lists").next().is_none());
}

#[test]
fn a_new_index_is_empty_and_kept_out_of_git() {
    let directory = directory();
    let environment = open(directory.path());
    let snapshot = environment.snapshot().expect("opens");
    assert_eq!((snapshot.manifest().generation, snapshot.live().len()), (0, 0));
    assert!(snapshot.verify().is_ok());
    assert!(snapshot.files().next().is_none());
    assert_eq!(snapshot.nearest(&[1.0], 3, None, Threads::All).expect("sound"), []);
    let ignored = fs::read_to_string(directory.path().join(".gitignore")).expect("reads");
    assert!(ignored.starts_with("*\n") && !ignored.contains("index"), "what people write is not ignored: {ignored}");
}

/// Data files left by a process that ended while creating one, given the first bytes that LMDB writes.
fn unborn(first: &[u8]) -> Vec<Vec<u8>> {
    let page = first.len() / 2;
    let half = [&first[..page], &vec![0; page]].concat();
    let cut = [0, 1_024, page, page + 1, page + 1_024, 2 * page - 1].map(|length| first[..length].to_vec());
    cut.into_iter().chain([half, vec![0; 1], vec![0; page], vec![0; 2 * page]]).collect()
}

/// The data file of an environment without commits.
fn first_pages() -> Vec<u8> {
    let directory = directory();
    let index = directory.path().join("index");
    fs::create_dir(&index).expect("makes a directory");
    // SAFETY: no other handle has this file open.
    let lmdb = unsafe { EnvOpenOptions::new().map_size(1 << 24).open(&index) }.expect("opens");
    lmdb.prepare_for_closing().wait();
    fs::read(index.join("data.mdb")).expect("reads")
}

#[test]
fn an_unfinished_data_file_is_not_an_index_or_a_store() {
    let first = first_pages();
    for data in unborn(&first) {
        let directory = directory();
        for store in ["index", "annotations", "access"] {
            fs::create_dir(directory.path().join(store)).expect("makes a directory");
            fs::write(directory.path().join(store).join("data.mdb"), &data).expect("writes");
        }
        let length = data.len();
        let known = KnownIndexes::accepting_all();
        assert!(!Environment::is_present(directory.path()), "{length}");
        let error = existing(directory.path()).expect_err("no index exists");
        assert!(matches!(error, StorageError::NoIndex { .. }), "{length}: {error}");
        let error =
            Annotations::open(directory.path(), OpenMode::Existing, known.clone()).err().expect("no tags exist");
        assert!(matches!(error, StorageError::NoIndex { .. }), "{length}: {error}");
        let log = AccessLog::open(directory.path(), &known).expect("opens");
        assert_eq!(log.get("a").expect("is empty"), None);

        write(&open(directory.path()), &synthetic(1, 1, 0), 64 << 20);
        let tag = |governance: &mut Governance| governance.tags.push("tag".to_owned());
        let annotations = Annotations::open(directory.path(), OpenMode::Create, known.clone()).expect("opens");
        annotations.change("a", tag).expect("writes");
        log.record(&[("a", 1)]).expect("writes");
        assert!(existing(directory.path()).and_then(|index| index.snapshot()).expect("opens").verify().is_ok());
        assert_eq!(annotations.all().expect("reads").len(), 1);
        assert_eq!((log.get("a").expect("reads").map(|record| record.count), log.restart_reason()), (Some(1), None));
    }
}

#[test]
fn a_truncated_store_with_records_is_damaged_and_not_empty() {
    let directory = directory();
    let known = KnownIndexes::accepting_all();
    let path = directory.path().join("annotations/data.mdb");
    let annotations = Annotations::open(directory.path(), OpenMode::Create, known.clone()).expect("opens");
    annotations.change("a", |governance| governance.tags.push("tag".to_owned())).expect("writes");
    drop(annotations);
    let data = fs::read(&path).expect("reads");
    for length in [100, 1_024, 4_096, 8_191, 8_192, data.len() - 1] {
        fs::remove_file(&path).expect("removes");
        fs::write(&path, &data[..length]).expect("writes");
        for mode in [OpenMode::Existing, OpenMode::Create] {
            let error = Annotations::open(directory.path(), mode, known.clone()).err().expect("is damaged");
            assert!(matches!(error, StorageError::DamagedRecords { .. }), "{length}: {error}");
        }
        assert_eq!(fs::read(&path).expect("reads"), data[..length], "it stays as it is");
    }
}

#[test]
fn a_text_file_is_foreign() {
    for length in [30, 200, 5000, 100_000] {
        let directory = directory();
        fs::create_dir(directory.path().join("index")).expect("makes a directory");
        let data = directory.path().join("index/data.mdb");
        fs::write(&data, "not an index ".repeat(length / 13 + 1)).expect("writes");
        for mode in [OpenMode::Existing, OpenMode::Create] {
            let error = Environment::open(directory.path(), mode).expect_err("is foreign");
            assert!(matches!(error, StorageError::Foreign { .. }), "{error}");
            let message = error.to_string();
            assert!(message.contains("data.mdb is not an Aurora index"), "{message}");
        }
    }
}

#[test]
fn another_programs_lmdb_file_is_foreign() {
    let directory = directory();
    put_raw(directory.path(), "birds", b"owl", b"1");
    let error = existing(directory.path()).and_then(|index| index.snapshot()).expect_err("is foreign");
    assert!(matches!(error, StorageError::Foreign { .. }), "{error}");
}

#[test]
fn another_format_is_named() {
    let directory = directory();
    write(&open(directory.path()), &synthetic(1, 1, 0), 64 << 20);
    put_raw(directory.path(), "meta", b"format", b"aurora\x63\x00\x00\x00");
    let error = existing(directory.path()).and_then(|index| index.snapshot()).expect_err("is newer");
    let same = Environment::open(directory.path(), OpenMode::Create).expect_err("is newer for a writer too");
    assert!(matches!(same, StorageError::FormatVersion { .. }), "{same}");
    assert!(matches!(error, StorageError::FormatVersion { found: 0x63, expected: FORMAT_VERSION, .. }), "{error}");
}

#[test]
fn a_second_writer_gets_the_process_of_the_first() {
    let directory = directory();
    let environment = open(directory.path());
    let writer = environment.writer(WriterOptions::default()).expect("is the only one");
    let Err(error) = environment.writer(WriterOptions::default()) else { panic!("there are two") };
    let pid = std::process::id();
    assert!(matches!(&error, StorageError::Locked { pid: Some(holder), .. } if *holder == pid) || cfg!(windows));
    assert!(error.to_string().contains(&pid.to_string()) || cfg!(windows), "{error}");
    drop(writer);
    environment.writer(WriterOptions::default()).expect("is the only one again");
}

#[test]
fn an_index_that_is_being_created_is_missing_and_not_damaged() {
    for _ in 0..300 {
        let directory = directory();
        let barrier = std::sync::Barrier::new(2);
        std::thread::scope(|scope| {
            let made = scope.spawn(|| {
                barrier.wait();
                Environment::open(directory.path(), OpenMode::Create).expect("makes an index")
            });
            barrier.wait();
            while !made.is_finished() {
                let found = Environment::open(directory.path(), OpenMode::Existing).and_then(|found| found.snapshot());
                assert!(matches!(found, Err(StorageError::NoIndex { .. })), "{:?}", found.err());
            }
        });
    }
}
