//! Writers that do not live to publish.

use std::path::Path;
use std::process::Command;

use aurora_storage::WriterOptions;

use crate::model::check;
use crate::repository::{Tree, directory, fresh_digest, open, replace, synthetic, update, write};

/// Names the directory in which the child process writes.
const DIRECTORY: &str = "AURORA_STORAGE_TEST_DIRECTORY";
/// Tells the child after how many files it dies.
const FILES: &str = "AURORA_STORAGE_TEST_FILES";

fn before() -> Tree {
    synthetic(40, 20, 0)
}

fn after() -> Tree {
    synthetic(60, 25, 11)
}

/// The child's part of [`a_killed_writer_leaves_the_old_generation`]; alone it does nothing.
#[test]
fn dying_writer() {
    let (Ok(directory), Ok(files)) = (std::env::var(DIRECTORY), std::env::var(FILES)) else {
        return;
    };
    let files: usize = files.parse().expect("a number");
    let environment = open(Path::new(&directory));
    let writer = environment.writer(WriterOptions { memory: 1 << 16 }).expect("is the only one");
    for (path, pieces) in after().iter().take(files) {
        replace(&writer, path, pieces).expect("replaces");
    }
    std::process::abort();
}

#[test]
fn a_killed_writer_leaves_the_old_generation() {
    let directory = directory();
    write(&open(directory.path()), &before(), 64 << 20);
    for files in [1, 30, 60] {
        let status = Command::new(std::env::current_exe().expect("has a path"))
            .args(["crashes::dying_writer", "--exact", "--nocapture"])
            .env(DIRECTORY, directory.path())
            .env(FILES, files.to_string())
            .stderr(std::process::Stdio::null())
            .stdout(std::process::Stdio::null())
            .status()
            .expect("runs");
        assert!(!status.success());
        check(&open(directory.path()).snapshot().expect("opens"), &before());
    }
    // The next writer gives the same ids out again, over what was left behind.
    let environment = open(directory.path());
    let tree = synthetic(50, 20, 5);
    write(&environment, &tree, 64 << 20);
    let snapshot = environment.snapshot().expect("opens");
    let gone: Vec<_> = before().into_keys().filter(|path| !tree.contains_key(path)).collect();
    assert!(gone.is_empty());
    check(&snapshot, &tree);
    assert_eq!(snapshot.digest().expect("sound"), fresh_digest(&tree, 64 << 20));
}

#[test]
fn a_dropped_writer_leaves_the_old_generation_and_no_space() {
    let directory = directory();
    let environment = open(directory.path());
    write(&environment, &before(), 64 << 20);
    let start = || {
        let writer = environment.writer(WriterOptions { memory: 0 }).expect("is the only one");
        for (path, pieces) in &after() {
            replace(&writer, path, pieces).expect("replaces");
        }
        writer
    };
    let length = || std::fs::metadata(directory.path().join("index/data.mdb")).expect("is there").len();
    drop(start());
    check(&environment.snapshot().expect("opens"), &before());
    let once = length();
    for _ in 0..4 {
        drop(start());
        start().abandon().expect("abandons");
    }
    check(&environment.snapshot().expect("opens"), &before());
    assert!(length() <= 2 * once, "{} bytes, {once} after the first", length());
    let writer = start();
    for path in before().keys().filter(|path| !after().contains_key(*path)) {
        writer.remove_file(path).expect("removes");
    }
    writer.publish(update()).expect("publishes");
    check(&environment.snapshot().expect("opens"), &after());
    assert!(!directory.path().join("tmp").read_dir().is_ok_and(|mut files| files.next().is_some()));
}
