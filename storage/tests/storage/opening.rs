//! Errors of opening a directory without a valid index.

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
    fs::create_dir_all(&index).expect("the directory can be created");
    // SAFETY: no other handle has this file open.
    let lmdb = unsafe { EnvOpenOptions::new().max_dbs(16).map_size(1 << 24).open(&index) };
    let lmdb = lmdb.expect("the environment can be opened");
    let transaction = lmdb.write_txn().expect("the transaction can begin");
    let committed = lmdb.create_databases_and_commit(transaction, |opener, transaction| {
        let table: heed::Database<'_, Bytes, Bytes> = opener.create_database(transaction, Some(table))?;
        table.put(transaction, key, value)?;
        Ok::<_, heed::Error>(heed::CommitOrAbort::<_, ()>::Commit(table))
    });
    committed.expect("the transaction can be committed");
    lmdb.prepare_for_closing().wait();
}

#[test]
fn opening_a_missing_index_reports_no_index() {
    let directory = directory();
    let error = existing(directory.path()).expect_err("there is no index");
    assert!(matches!(error, StorageError::NoIndex { .. }));
    assert!(error.to_string().starts_with("no index at "));
    assert!(fs::read_dir(directory.path()).expect("the directory can be listed").next().is_none());
}

#[test]
fn a_new_index_is_empty_and_kept_out_of_git() {
    let directory = directory();
    let environment = open(directory.path());
    let snapshot = environment.snapshot().expect("the index can be opened");
    assert_eq!((snapshot.manifest().generation, snapshot.live().len()), (0, 0));
    assert!(snapshot.verify().is_ok());
    assert!(snapshot.files().next().is_none());
    assert_eq!(snapshot.nearest(&[1.0], 3, None, Threads::All).expect("the index is valid"), []);
    let ignored = fs::read_to_string(directory.path().join(".gitignore")).expect("the file can be read");
    assert!(ignored.starts_with("*\n") && !ignored.contains("index"), "what people write is not ignored: {ignored}");
}

/// Returns the data files that a process may leave behind if it ends while it creates the file. `first` contains the
/// first bytes that LMDB writes.
fn unborn(first: &[u8]) -> Vec<Vec<u8>> {
    let page = first.len() / 2;
    let half = [&first[..page], &vec![0; page]].concat();
    let cut = [0, 1_024, page, page + 1, page + 1_024, 2 * page - 1].map(|length| first[..length].to_vec());
    cut.into_iter().chain([half, vec![0; 1], vec![0; page], vec![0; 2 * page]]).collect()
}

/// Returns the data file of an environment without commits.
fn first_pages() -> Vec<u8> {
    let directory = directory();
    let index = directory.path().join("index");
    fs::create_dir(&index).expect("the directory can be created");
    // SAFETY: no other handle has this file open.
    let lmdb = unsafe { EnvOpenOptions::new().map_size(1 << 24).open(&index) }.expect("the environment can be opened");
    lmdb.prepare_for_closing().wait();
    fs::read(index.join("data.mdb")).expect("the file can be read")
}

#[test]
fn an_unfinished_data_file_is_not_an_index_or_a_store() {
    let first = first_pages();
    for data in unborn(&first) {
        let directory = directory();
        for store in ["index", "annotations", "access"] {
            fs::create_dir(directory.path().join(store)).expect("the directory can be created");
            fs::write(directory.path().join(store).join("data.mdb"), &data).expect("the file can be written");
        }
        let length = data.len();
        let known = KnownIndexes::accepting_all();
        assert!(!Environment::is_present(directory.path()), "{length}");
        let error = existing(directory.path()).expect_err("no index exists");
        assert!(matches!(error, StorageError::NoIndex { .. }), "{length}: {error}");
        let error = Annotations::open(directory.path(), OpenMode::Existing, known.clone())
            .err()
            .expect("there are no annotations");
        assert!(matches!(error, StorageError::NoIndex { .. }), "{length}: {error}");
        let log = AccessLog::open(directory.path(), &known).expect("the log can be opened");
        assert_eq!(log.get("a").expect("the log can be read"), None);

        write(&open(directory.path()), &synthetic(1, 1, 0), 64 << 20);
        let tag = |governance: &mut Governance| governance.tags.push("tag".to_owned());
        let annotations = Annotations::open(directory.path(), OpenMode::Create, known.clone())
            .expect("the annotations can be opened");
        annotations.change("a", tag).expect("the annotation can be written");
        log.record(&[("a", 1)]).expect("the access can be recorded");
        assert!(
            existing(directory.path())
                .and_then(|index| index.snapshot())
                .expect("the index can be opened")
                .verify()
                .is_ok()
        );
        assert_eq!(annotations.all().expect("the annotations can be read").len(), 1);
        assert_eq!(
            (log.get("a").expect("the log can be read").map(|record| record.count), log.restart_reason()),
            (Some(1), None)
        );
    }
}

#[test]
fn a_truncated_store_with_records_is_damaged_and_not_empty() {
    let directory = directory();
    let known = KnownIndexes::accepting_all();
    let path = directory.path().join("annotations/data.mdb");
    let annotations =
        Annotations::open(directory.path(), OpenMode::Create, known.clone()).expect("the annotations can be opened");
    annotations
        .change("a", |governance| governance.tags.push("tag".to_owned()))
        .expect("the annotation can be written");
    drop(annotations);
    let data = fs::read(&path).expect("the file can be read");
    for length in [100, 1_024, 4_096, 8_191, 8_192, data.len() - 1] {
        fs::remove_file(&path).expect("the file can be removed");
        fs::write(&path, &data[..length]).expect("the file can be written");
        for mode in [OpenMode::Existing, OpenMode::Create] {
            let error = Annotations::open(directory.path(), mode, known.clone()).err().expect("the store is damaged");
            assert!(matches!(error, StorageError::DamagedRecords { .. }), "{length}: {error}");
        }
        assert_eq!(fs::read(&path).expect("the file can be read"), data[..length], "the file is unchanged");
    }
}

#[test]
fn a_text_file_is_foreign() {
    for length in [30, 200, 5000, 100_000] {
        let directory = directory();
        fs::create_dir(directory.path().join("index")).expect("the directory can be created");
        let data = directory.path().join("index/data.mdb");
        fs::write(&data, "not an index ".repeat(length / 13 + 1)).expect("the file can be written");
        for mode in [OpenMode::Existing, OpenMode::Create] {
            let error = Environment::open(directory.path(), mode).expect_err("the file is not an index");
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
    let error = existing(directory.path()).and_then(|index| index.snapshot()).expect_err("the file is not an index");
    assert!(matches!(error, StorageError::Foreign { .. }), "{error}");
}

#[test]
fn another_format_version_is_reported() {
    let directory = directory();
    write(&open(directory.path()), &synthetic(1, 1, 0), 64 << 20);
    put_raw(directory.path(), "meta", b"format", b"aurora\x63\x00\x00\x00");
    let error = existing(directory.path()).and_then(|index| index.snapshot()).expect_err("the format is newer");
    let same = Environment::open(directory.path(), OpenMode::Create).expect_err("the format is newer");
    assert!(matches!(same, StorageError::FormatVersion { .. }), "{same}");
    assert!(matches!(error, StorageError::FormatVersion { found: 0x63, expected: FORMAT_VERSION, .. }), "{error}");
}

#[test]
fn a_second_writer_learns_the_process_id_of_the_first() {
    let directory = directory();
    let environment = open(directory.path());
    let writer = environment.writer(WriterOptions::default()).expect("there is no other writer");
    let Err(error) = environment.writer(WriterOptions::default()) else { panic!("a second writer was opened") };
    let pid = std::process::id();
    assert!(matches!(&error, StorageError::Locked { pid: Some(holder), .. } if *holder == pid) || cfg!(windows));
    assert!(error.to_string().contains(&pid.to_string()) || cfg!(windows), "{error}");
    drop(writer);
    environment.writer(WriterOptions::default()).expect("there is no other writer");
}

#[test]
fn an_index_that_is_being_created_is_missing_and_not_damaged() {
    for _ in 0..300 {
        let directory = directory();
        let barrier = std::sync::Barrier::new(2);
        std::thread::scope(|scope| {
            let made = scope.spawn(|| {
                barrier.wait();
                Environment::open(directory.path(), OpenMode::Create).expect("the index can be created")
            });
            barrier.wait();
            while !made.is_finished() {
                let found = Environment::open(directory.path(), OpenMode::Existing).and_then(|found| found.snapshot());
                assert!(matches!(found, Err(StorageError::NoIndex { .. })), "{:?}", found.err());
            }
        });
    }
}
