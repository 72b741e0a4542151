//! Compaction: smaller, and the same.

use std::fs;

use aurora_storage::{Environment, KnownIndexes, OpenMode, StorageError, WriterOptions};

use crate::artefacts::artefact;
use crate::model::check;
use crate::repository::{Tree, directory, open, replace, synthetic, update, write};

/// An index that has seen many small runs, and the tree that is left.
fn worn() -> (tempfile::TempDir, Tree) {
    let directory = directory();
    let environment = open(directory.path());
    let mut tree = synthetic(60, 30, 0);
    write(&environment, &tree, 64 << 20);
    for round in 1..12 {
        let change = synthetic(60, 30, round);
        let writer = environment.writer(WriterOptions::default()).expect("is the only one");
        for path in tree.keys().skip(round).step_by(7).cloned().collect::<Vec<_>>() {
            replace(&writer, &path, &change[&path]).expect("replaces");
            tree.insert(path.clone(), change[&path].clone());
        }
        for path in tree.keys().skip(3 * round).take(2).cloned().collect::<Vec<_>>() {
            writer.remove_file(&path).expect("removes");
            tree.remove(&path);
        }
        writer.publish(update()).expect("publishes");
    }
    (directory, tree)
}

#[test]
fn a_compact_index_is_smaller_and_says_the_same() {
    let (directory, tree) = worn();
    let environment = Environment::open(directory.path(), OpenMode::Existing).expect("opens");
    let before = environment.snapshot().expect("opens");
    let (digest, exported) = (before.digest().expect("sound"), artefact(&environment));
    let length = || fs::metadata(directory.path().join("index/data.mdb")).expect("is there").len();
    let old_length = length();
    let done = Environment::compact(directory.path(), &KnownIndexes::none()).expect("compacts");
    assert!(done.written);
    assert_eq!((done.before, done.after), (old_length, length()));
    assert!(done.after < done.before, "{done:?}");
    assert_eq!(done.generation, before.manifest().generation + 1);
    // Who has the old one open goes on reading it, but cannot write to what is gone.
    check(&before, &tree);
    assert!(matches!(environment.writer(WriterOptions::default()), Err(StorageError::Replaced { .. })));
    drop((before, environment));
    let environment = Environment::open(directory.path(), OpenMode::Existing).expect("opens");
    let snapshot = environment.snapshot().expect("opens");
    check(&snapshot, &tree);
    assert_eq!(snapshot.manifest().generation, done.generation);
    assert_eq!(snapshot.manifest().segments.len(), 1);
    assert_eq!(snapshot.live().len(), u64::from(snapshot.manifest().next_chunk_id));
    assert_eq!(snapshot.digest().expect("sound"), digest);
    assert!(artefact(&environment) == exported);
    let row = snapshot.files().next().expect("a row").expect("sound");
    assert_eq!(row.stamp.modified, 5, "the index still recognises its files");
}

#[test]
fn nothing_is_written_where_nothing_can_be_gained() {
    let (directory, _) = worn();
    let first = Environment::compact(directory.path(), &KnownIndexes::none()).expect("compacts");
    let data = directory.path().join("index/data.mdb");
    let stamp = || fs::metadata(&data).and_then(|metadata| metadata.modified()).expect("a time");
    let time = stamp();
    let second = Environment::compact(directory.path(), &KnownIndexes::none()).expect("looks");
    assert!(first.written && !second.written);
    assert_eq!((second.before, second.after, second.generation), (first.after, first.after, first.generation));
    assert_eq!(stamp(), time);
}

#[test]
fn runs_go_on_after_a_compaction() {
    let (directory, mut tree) = worn();
    Environment::compact(directory.path(), &KnownIndexes::none()).expect("compacts");
    let environment = open(directory.path());
    let change = synthetic(9, 30, 77);
    write(&environment, &change, 64 << 20);
    tree.extend(change);
    check(&environment.snapshot().expect("opens"), &tree);
}

#[test]
fn there_must_be_an_index_that_nobody_writes() {
    let (directory, tree) = worn();
    let environment = open(directory.path());
    let writer = environment.writer(WriterOptions::default()).expect("is the only one");
    assert!(matches!(Environment::compact(directory.path(), &KnownIndexes::none()), Err(StorageError::Locked { .. })));
    drop(writer);
    check(&environment.snapshot().expect("opens"), &tree);
    let empty = crate::repository::directory();
    assert!(matches!(Environment::compact(empty.path(), &KnownIndexes::none()), Err(StorageError::NoIndex { .. })));
    assert!(fs::read_dir(empty.path()).expect("lists").next().is_none());
}
