//! Readers during writes.

use std::sync::atomic::{AtomicBool, Ordering};

use aurora_storage::{AccessLog, Environment, KnownIndexes, OpenMode, WriterOptions};

use crate::model::check;
use crate::repository::{directory, open, replace, synthetic, update, write};

#[test]
fn a_reader_sees_one_generation_while_others_are_written() {
    let directory = directory();
    let environment = open(directory.path());
    let trees: Vec<_> = (0..6).map(|salt| synthetic(12, 6, salt * 17)).collect();
    write(&environment, &trees[0], 64 << 20);
    let first = environment.snapshot().expect("the index can be opened");
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let readers: Vec<_> = (0..2)
            .map(|_| {
                scope.spawn(|| {
                    let mut newest = 0;
                    while !done.load(Ordering::Relaxed) {
                        let snapshot = environment.snapshot().expect("the index can be opened");
                        let generation = snapshot.manifest().generation;
                        assert!(generation >= newest);
                        newest = generation;
                        check(&snapshot, &trees[generation as usize - 1]);
                    }
                })
            })
            .collect();
        for tree in &trees[1..] {
            // Small batches, so that unpublished rows are committed while the readers read.
            let writer = environment
                .writer(WriterOptions { memory: 0, ..WriterOptions::default() })
                .expect("there is no other writer");
            for (path, pieces) in tree {
                replace(&writer, path, pieces).expect("the file can be replaced");
            }
            writer.publish(update()).expect("the changes can be published");
        }
        done.store(true, Ordering::Relaxed);
        readers.into_iter().for_each(|reader| reader.join().expect("the reader does not panic"));
    });
    check(&first, &trees[0]);
    check(&environment.snapshot().expect("the index can be opened"), &trees[5]);
}

#[test]
fn a_snapshot_outlives_its_environment() {
    let directory = directory();
    let tree = synthetic(4, 4, 0);
    let environment = open(directory.path());
    write(&environment, &tree, 64 << 20);
    let snapshot = environment.snapshot().expect("the index can be opened");
    drop(environment);
    let again = Environment::open(directory.path(), OpenMode::Existing).expect("the index can be opened");
    write(&again, &synthetic(4, 4, 9), 64 << 20);
    drop(again);
    check(&snapshot, &tree);
    std::thread::spawn(move || check(&snapshot, &tree)).join().expect("the thread does not panic");
}

#[test]
fn accesses_are_counted_and_renamed() {
    let directory = directory();
    let log = AccessLog::open(directory.path(), &KnownIndexes::accepting_all()).expect("the log can be opened");
    let long = "key/".repeat(400);
    assert_eq!(log.get("a").expect("the log can be read"), None);
    log.record(&[("a", 10), ("a", 30), ("b", 20), (&long, 5)]).expect("the accesses can be recorded");
    log.record(&[("a", 20)]).expect("the accesses can be recorded");
    let record = log.get("a").expect("the log can be read").expect("the record exists");
    assert_eq!((record.count, record.last, record.recent), (3, 30, vec![10, 20, 30]));
    log.rename("b", "a").expect("the record can be renamed");
    log.rename("nothing", "a").expect("a missing record is not an error");
    log.rename(&long, "c").expect("the record can be renamed");
    drop(log);
    let log = AccessLog::open(directory.path(), &KnownIndexes::accepting_all()).expect("the log can be opened");
    let records = log.get_many(&["b", "a", &long, "c"]).expect("the log can be read");
    assert!(records[0].is_none() && records[2].is_none());
    let (a, c) = (records[1].clone().expect("the record exists"), records[3].clone().expect("the record exists"));
    assert_eq!((a.count, a.last, a.recent), (4, 30, vec![10, 20, 20, 30]));
    assert_eq!((c.count, c.last), (1, 5));
}
