//! Compaction makes an index smaller and keeps its content.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

use aurora_storage::{Environment, KnownIndexes, OpenMode, StorageError, Workers, WriterOptions};

use crate::artefacts::artefact;
use crate::model::check;
use crate::repository::{Tree, directory, open, replace, synthetic, update, write};

/// Returns an index after many small runs, and the tree that it contains.
fn worn() -> (tempfile::TempDir, Tree) {
    let directory = directory();
    let environment = open(directory.path());
    let mut tree = synthetic(60, 30, 0);
    write(&environment, &tree, 64 << 20);
    for round in 1..12 {
        let change = synthetic(60, 30, round);
        let writer = environment.writer(WriterOptions::default()).expect("there is no other writer");
        for path in tree.keys().skip(round).step_by(7).cloned().collect::<Vec<_>>() {
            replace(&writer, &path, &change[&path]).expect("the file can be replaced");
            tree.insert(path.clone(), change[&path].clone());
        }
        for path in tree.keys().skip(3 * round).take(2).cloned().collect::<Vec<_>>() {
            writer.remove_file(&path).expect("the file can be removed");
            tree.remove(&path);
        }
        writer.publish(update()).expect("the changes can be published");
    }
    (directory, tree)
}

#[test]
fn a_compacted_index_is_smaller_and_has_the_same_content() {
    let (directory, tree) = worn();
    let environment = Environment::open(directory.path(), OpenMode::Existing).expect("the index can be opened");
    let before = environment.snapshot().expect("the index can be opened");
    let (digest, exported) = (before.digest().expect("the index is valid"), artefact(&environment));
    let length = || fs::metadata(directory.path().join("index/data.mdb")).expect("the data file exists").len();
    let old_length = length();
    let done = Environment::compact(directory.path(), &KnownIndexes::none(), Workers::default())
        .expect("the index can be compacted");
    assert!(done.written);
    assert_eq!((done.before, done.after), (old_length, length()));
    assert!(done.after < done.before, "{done:?}");
    assert_eq!(done.generation, before.manifest().generation + 1);
    // A process that has the old index open keeps reading it, but cannot write to the replaced index.
    check(&before, &tree);
    assert!(matches!(environment.writer(WriterOptions::default()), Err(StorageError::Replaced { .. })));
    drop((before, environment));
    let environment = Environment::open(directory.path(), OpenMode::Existing).expect("the index can be opened");
    let snapshot = environment.snapshot().expect("the index can be opened");
    check(&snapshot, &tree);
    assert_eq!(snapshot.manifest().generation, done.generation);
    assert_eq!(snapshot.manifest().segments.len(), 1);
    assert_eq!(snapshot.live().len(), u64::from(snapshot.manifest().next_chunk_id));
    assert_eq!(snapshot.digest().expect("the index is valid"), digest);
    assert!(artefact(&environment) == exported);
    let row = snapshot.files().next().expect("the index has a file").expect("the index is valid");
    assert_eq!(row.stamp.modified, 5, "the index still recognises its files");
}

#[test]
fn a_compact_index_is_not_rewritten() {
    let (directory, _) = worn();
    let first = Environment::compact(directory.path(), &KnownIndexes::none(), Workers::default())
        .expect("the index can be compacted");
    let data = directory.path().join("index/data.mdb");
    let stamp =
        || fs::metadata(&data).and_then(|metadata| metadata.modified()).expect("the file has a modification time");
    let time = stamp();
    let second = Environment::compact(directory.path(), &KnownIndexes::none(), Workers::default())
        .expect("the index can be checked");
    assert!(first.written && !second.written);
    assert_eq!((second.before, second.after, second.generation), (first.after, first.after, first.generation));
    assert_eq!(stamp(), time);
}

/// Returns an index whose content was mostly deleted.
fn mostly_empty() -> tempfile::TempDir {
    let directory = directory();
    let environment = open(directory.path());
    let tree = synthetic(60, 10, 1);
    write(&environment, &tree, 64 << 20);
    let writer = environment.writer(WriterOptions::default()).expect("there is no other writer");
    for path in tree.keys().skip(3) {
        writer.remove_file(path).expect("the file can be removed");
    }
    writer.publish(update()).expect("the changes can be published");
    directory
}

#[test]
fn a_mostly_empty_index_is_compacted_unless_it_is_small_or_in_use() {
    let directory = mostly_empty();
    let length = || directory.path().join("index/data.mdb").metadata().expect("the data file exists").len();
    let known = KnownIndexes::none();
    let compact = |least| {
        Environment::compact_if_mostly_free(directory.path(), least, &known, Workers::default())
            .expect("the index can be checked")
    };
    let digest = || {
        open(directory.path()).snapshot().and_then(|snapshot| snapshot.digest()).expect("the digest can be computed")
    };
    let (before, right) = (length(), digest());
    assert_eq!(compact(before + 1), None, "it is small");
    let reader = open(directory.path()).snapshot().expect("the index can be opened");
    assert_eq!(compact(0), None, "a snapshot of this process reads it");
    assert_eq!(reader.digest().expect("the index can be read"), right);
    drop(reader);
    let done = compact(0).expect("the index is compacted");
    assert_eq!((done.before, done.after), (before, length()));
    assert!(done.after < before / 2, "{done:?}");
    assert_eq!(digest(), right);
    assert_eq!(compact(0), None, "little is free now");
}

/// Environment variable with the directory of the index that a child process reads.
const READ: &str = "AURORA_TEST_READ_INDEX";

/// Reads an index until the standard input of the process ends. Does nothing unless [`READ`] is set.
#[test]
fn reads_an_index_in_a_child_process() {
    let Some(directory) = std::env::var_os(READ) else { return };
    let _snapshot = open(Path::new(&directory)).snapshot().expect("the index can be opened");
    println!("reads");
    let _ = std::io::stdin().read_line(&mut String::new());
}

#[test]
fn an_index_read_by_another_process_is_not_compacted_automatically() {
    let directory = mostly_empty();
    let mut child = Command::new(std::env::current_exe().expect("the test program has a path"));
    child.args(["compacting::reads_an_index_in_a_child_process", "--exact", "--nocapture"]).env(READ, directory.path());
    let mut child =
        child.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("the child process can be started");
    let lines = BufReader::new(child.stdout.take().expect("standard output is piped")).lines();
    assert!(lines.map_while(Result::ok).any(|line| line.contains("reads")), "the child has opened it");
    let compact = || {
        Environment::compact_if_mostly_free(directory.path(), 0, &KnownIndexes::none(), Workers::default())
            .expect("the index can be checked")
    };
    assert_eq!(compact(), None);
    drop(child.stdin.take());
    child.wait().expect("the child process can be awaited");
    assert!(compact().is_some(), "nobody reads it any more");
}

#[test]
fn runs_continue_after_a_compaction() {
    let (directory, mut tree) = worn();
    Environment::compact(directory.path(), &KnownIndexes::none(), Workers::default())
        .expect("the index can be compacted");
    let environment = open(directory.path());
    let change = synthetic(9, 30, 77);
    write(&environment, &change, 64 << 20);
    tree.extend(change);
    check(&environment.snapshot().expect("the index can be opened"), &tree);
}

#[test]
fn compaction_needs_an_index_without_a_writer() {
    let (directory, tree) = worn();
    let environment = open(directory.path());
    let writer = environment.writer(WriterOptions::default()).expect("there is no other writer");
    assert!(matches!(
        Environment::compact(directory.path(), &KnownIndexes::none(), Workers::default()),
        Err(StorageError::Locked { .. })
    ));
    drop(writer);
    check(&environment.snapshot().expect("the index can be opened"), &tree);
    let empty = crate::repository::directory();
    assert!(matches!(
        Environment::compact(empty.path(), &KnownIndexes::none(), Workers::default()),
        Err(StorageError::NoIndex { .. })
    ));
    assert!(fs::read_dir(empty.path()).expect("the directory can be listed").next().is_none());
}
