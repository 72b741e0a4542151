//! Writers that are killed before they publish.

use std::path::Path;
use std::process::Command;

use aurora_storage::WriterOptions;

use crate::model::check;
use crate::repository::{Tree, directory, fresh_digest, open, replace, synthetic, update, write};

/// Environment variable with the directory in which the child process writes.
const DIRECTORY: &str = "AURORA_STORAGE_TEST_DIRECTORY";
/// Environment variable with the number of files after which the child is killed. If it is not set, the child
/// publishes.
const FILES: &str = "AURORA_STORAGE_TEST_FILES";
/// Environment variable with the step of writing at which the library aborts.
const POINT: &str = "AURORA_DIE_AT_POINT";

fn before() -> Tree {
    synthetic(40, 20, 0)
}

fn after() -> Tree {
    synthetic(60, 25, 11)
}

/// The child process of the tests below. Does nothing as a separate test.
#[test]
fn dying_writer() {
    let Ok(directory) = std::env::var(DIRECTORY) else { return };
    let files: Option<usize> = std::env::var(FILES).ok().map(|files| files.parse().expect("the value is a number"));
    let environment = open(Path::new(&directory));
    let writer = environment
        .writer(WriterOptions { memory: 1 << 16, ..WriterOptions::default() })
        .expect("there is no other writer");
    for (path, pieces) in after().iter().take(files.unwrap_or(usize::MAX)) {
        replace(&writer, path, pieces).expect("the file can be replaced");
    }
    match files {
        Some(_) => std::process::abort(),
        None => drop(writer.publish(update()).expect("the changes can be published")),
    }
}

/// Runs the child process with the environment variable `variable` set to `value`. Returns whether the process ended
/// normally.
fn child_survives(directory: &Path, variable: &str, value: usize) -> bool {
    let status = Command::new(std::env::current_exe().expect("the test program has a path"))
        .args(["crashes::dying_writer", "--exact", "--nocapture"])
        .env(DIRECTORY, directory)
        .env(variable, value.to_string())
        .stderr(std::process::Stdio::null())
        .stdout(std::process::Stdio::null())
        .status();
    status.expect("the child process can be started").success()
}

#[test]
fn a_writer_that_dies_at_any_step_leaves_the_old_generation_or_the_new_one() {
    let made = directory();
    write(&open(made.path()), &before(), 64 << 20);
    let data = std::fs::read(made.path().join("index/data.mdb")).expect("the file can be read");
    let mut left_old = 0;
    for point in 1.. {
        let directory = directory();
        std::fs::create_dir(directory.path().join("index")).expect("the directory can be created");
        std::fs::write(directory.path().join("index/data.mdb"), &data).expect("the file can be written");
        let lived = child_survives(directory.path(), POINT, point);
        let environment = open(directory.path());
        let snapshot = environment.snapshot().expect("the index can be opened");
        let is_new = snapshot.manifest().generation > 1;
        check(&snapshot, &if is_new { after() } else { before() });
        if lived {
            assert!(is_new && left_old > 4, "{left_old} of {point} steps leave the old generation");
            break;
        }
        left_old += usize::from(!is_new);
        drop((snapshot, environment));
        assert!(child_survives(directory.path(), POINT, 0), "the next writer after step {point}");
        check(&open(directory.path()).snapshot().expect("the index can be opened"), &after());
    }
}

#[test]
fn a_killed_writer_leaves_the_old_generation() {
    let directory = directory();
    write(&open(directory.path()), &before(), 64 << 20);
    for files in [1, 30, 60] {
        assert!(!child_survives(directory.path(), FILES, files));
        check(&open(directory.path()).snapshot().expect("the index can be opened"), &before());
    }
    // The next writer assigns the same ids again, and overwrites the remaining rows.
    let environment = open(directory.path());
    let tree = synthetic(50, 20, 5);
    write(&environment, &tree, 64 << 20);
    let snapshot = environment.snapshot().expect("the index can be opened");
    let gone: Vec<_> = before().into_keys().filter(|path| !tree.contains_key(path)).collect();
    assert!(gone.is_empty());
    check(&snapshot, &tree);
    assert_eq!(snapshot.digest().expect("the index is valid"), fresh_digest(&tree, 64 << 20));
}

#[test]
fn a_dropped_writer_leaves_the_old_generation_and_wastes_no_space() {
    let directory = directory();
    let environment = open(directory.path());
    write(&environment, &before(), 64 << 20);
    let start = || {
        let writer = environment
            .writer(WriterOptions { memory: 0, ..WriterOptions::default() })
            .expect("there is no other writer");
        for (path, pieces) in &after() {
            replace(&writer, path, pieces).expect("the file can be replaced");
        }
        writer
    };
    let length = || std::fs::metadata(directory.path().join("index/data.mdb")).expect("the data file exists").len();
    drop(start());
    check(&environment.snapshot().expect("the index can be opened"), &before());
    let once = length();
    for _ in 0..4 {
        drop(start());
        start().abandon().expect("the rows can be removed");
    }
    check(&environment.snapshot().expect("the index can be opened"), &before());
    assert!(length() <= 2 * once, "{} bytes, {once} after the first", length());
    let writer = start();
    for path in before().keys().filter(|path| !after().contains_key(*path)) {
        writer.remove_file(path).expect("the file can be removed");
    }
    writer.publish(update()).expect("the changes can be published");
    check(&environment.snapshot().expect("the index can be opened"), &after());
    assert!(!directory.path().join("tmp").read_dir().is_ok_and(|mut files| files.next().is_some()));
}
