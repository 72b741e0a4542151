//! One index replaces another: readers continue, and a process that is killed in between leaves the old index or the
//! new one.

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use aurora_storage::{AccessLog, Environment, KnownIndexes, OpenMode, StorageError, WriterOptions};

use crate::artefacts::{artefact, import};
use crate::model::check;
use crate::repository::{Tree, directory, open, synthetic, write};

/// Environment variables with the directory into which the child process imports, and with the artefact.
const DIRECTORY: &str = "AURORA_STORAGE_TEST_IMPORT_INTO";
const ARTEFACT: &str = "AURORA_STORAGE_TEST_ARTEFACT";

fn before() -> Tree {
    synthetic(10, 10, 0)
}

fn after() -> Tree {
    synthetic(80, 30, 11)
}

/// Writes the artefact of [`after`] to a file.
fn exported() -> (tempfile::TempDir, Vec<u8>) {
    let directory = directory();
    let environment = open(&directory.path().join("made"));
    write(&environment, &after(), 64 << 20);
    let bytes = artefact(&environment);
    fs::write(directory.path().join("file"), &bytes).expect("the file can be written");
    (directory, bytes)
}

#[test]
fn readers_keep_reading_the_index_that_they_opened() {
    let (_made, bytes) = exported();
    let directory = directory();
    let environment = open(directory.path());
    write(&environment, &before(), 64 << 20);
    let log = AccessLog::open(directory.path(), &KnownIndexes::accepting_all()).expect("the log can be opened");
    log.record(&[("a", 7)]).expect("the accesses can be recorded");
    let old = environment.snapshot().expect("the index can be opened");
    drop(environment);
    import(directory.path(), &bytes).expect("the artefact can be imported");
    check(&old, &before());
    drop(old);
    let new = Environment::open(directory.path(), OpenMode::Existing).expect("the index can be opened");
    let snapshot = new.snapshot().expect("the index can be opened");
    check(&snapshot, &after());
    assert_eq!(snapshot.manifest().generation, 2);
    assert_eq!(log.get("a").expect("the log can be read").expect("the record still exists").count, 1);
}

#[test]
fn an_index_with_a_writer_is_not_replaced() {
    let (_made, bytes) = exported();
    let directory = directory();
    let environment = open(directory.path());
    write(&environment, &before(), 64 << 20);
    let writer = environment.writer(WriterOptions::default()).expect("there is no other writer");
    assert!(matches!(import(directory.path(), &bytes), Err(StorageError::Locked { .. })));
    drop(writer);
    check(&environment.snapshot().expect("the index can be opened"), &before());
    drop(environment);
    import(directory.path(), &bytes).expect("the artefact can be imported");
    // A replaced index does not come back when the index is set aside.
    fs::create_dir(directory.path().join("index.old")).expect("the directory can be created");
    // Neither a valid index nor an index with a writer is set aside.
    Environment::set_aside(directory.path()).expect("the index can be checked");
    assert!(Environment::is_present(directory.path()));
    fs::write(directory.path().join("index/data.mdb"), b"cut").expect("the file can be written");
    let held = fs::File::open(directory.path().join("writer.lock")).expect("the file can be opened");
    held.lock().expect("no other process holds the lock");
    assert!(matches!(Environment::set_aside(directory.path()), Err(StorageError::Locked { .. })));
    drop(held);
    Environment::set_aside(directory.path()).expect("the index can be set aside");
    assert!(!Environment::is_present(directory.path()));
    assert_eq!(open(directory.path()).snapshot().expect("the index can be opened").manifest().generation, 0);
}

/// After a killed replacement, the next process to open the index finds the old index or the new one.
#[test]
fn the_remains_of_a_killed_replacement_are_cleaned_up() {
    let (made, bytes) = exported();
    let copy = |from: &Path, to: &Path| {
        fs::create_dir_all(to).expect("the directory can be created");
        fs::copy(from.join("data.mdb"), to.join("data.mdb")).expect("the file can be copied");
    };
    let old = directory();
    write(&open(old.path()), &before(), 64 << 20);
    let (old, new) = (old.path().join("index"), made.path().join("made/index"));
    // The directories with their indexes, and the expected index.
    let states: [(&[(&str, &Path)], Tree); 4] = [
        (&[("index", &old), ("index.new", &new)], before()),
        (&[("index.old", &old), ("index.new", &new)], before()),
        (&[("index.old", &old)], before()),
        (&[("index", &new), ("index.old", &old)], after()),
    ];
    for (number, (state, tree)) in states.into_iter().enumerate() {
        let directory = directory();
        for (name, from) in state {
            copy(from, &directory.path().join(name));
        }
        assert!(Environment::is_present(directory.path()), "state {number}");
        let environment = Environment::open(directory.path(), OpenMode::Existing).expect("the index can be opened");
        check(&environment.snapshot().expect("the index can be opened"), &tree);
        drop(environment.writer(WriterOptions::default()).expect("there is no other writer"));
        for name in ["index.new", "index.old"] {
            assert!(!directory.path().join(name).exists(), "state {number}: {name}");
        }
        drop(environment);
        import(directory.path(), &bytes).expect("the artefact can be imported");
        check(&open(directory.path()).snapshot().expect("the index can be opened"), &after());
    }
}

/// The child process of the tests below. Does nothing as a separate test.
#[test]
fn importing_child() {
    if let (Ok(directory), Ok(artefact)) = (std::env::var(DIRECTORY), std::env::var(ARTEFACT)) {
        let bytes = fs::read(artefact).expect("the file can be read");
        for _ in 0..8 {
            import(Path::new(&directory), &bytes).expect("the artefact can be imported");
        }
    }
}

fn child(directory: &Path, made: &Path) -> Child {
    Command::new(std::env::current_exe().expect("the test program has a path"))
        .args(["replacing::importing_child", "--exact"])
        .env(DIRECTORY, directory)
        .env(ARTEFACT, made.join("file"))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("the child process can be started")
}

#[test]
fn a_killed_import_leaves_the_old_index_or_the_new_one() {
    let (made, _) = exported();
    let directory = directory();
    write(&open(directory.path()), &before(), 64 << 20);
    for wait in [5, 30, 90, 200, 400] {
        let mut importing = child(directory.path(), made.path());
        std::thread::sleep(Duration::from_millis(wait));
        importing.kill().expect("the child process can be killed");
        importing.wait().expect("the child process can be awaited");
        let environment = Environment::open(directory.path(), OpenMode::Existing).expect("the index can be opened");
        let snapshot = environment.snapshot().expect("the index can be opened");
        let is_new = snapshot.manifest().generation > 1;
        check(&snapshot, &if is_new { after() } else { before() });
    }
}

#[test]
fn an_index_can_be_opened_while_it_is_replaced_again_and_again() {
    let (made, bytes) = exported();
    let directory = directory();
    import(directory.path(), &bytes).expect("the artefact can be imported");
    let digest = open(directory.path()).snapshot().and_then(|snapshot| snapshot.digest()).expect("the index is valid");
    let mut importing = child(directory.path(), made.path());
    let (mut newest, mut opened) = (0, 0);
    while importing.try_wait().expect("the state of the child process can be read").is_none() {
        let environment = Environment::open(directory.path(), OpenMode::Existing).expect("the index can be opened");
        let snapshot = environment.snapshot().expect("the index can be opened");
        assert!(snapshot.manifest().generation >= newest);
        newest = snapshot.manifest().generation;
        if opened % 10 == 0 {
            assert_eq!(snapshot.digest().expect("the index is valid"), digest);
        }
        opened += 1;
    }
    assert!(importing.wait().expect("the child process can be awaited").success());
    let environment = Environment::open(directory.path(), OpenMode::Existing).expect("the index can be opened");
    assert_eq!(environment.snapshot().expect("the index can be opened").manifest().generation, 9);
    assert!(opened > 0);
}
