//! Concurrent readers and writers.

use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};

use aurora_storage::{KnownIndexes, OpenMode, RecordStore, StorageError};

use super::{LARGE, SMALL, TestDirectory, open};

/// Environment variables with the directory in which a child process writes, and with its number.
const DIRECTORY: &str = "AURORA_STORAGE_TEST_SEVERAL";
const NUMBER: &str = "AURORA_STORAGE_TEST_NUMBER";
/// Number of transactions of each writer.
const TRANSACTIONS: u32 = 60;
const PROCESSES: u32 = 3;

fn count_of(bytes: Option<Vec<u8>>) -> u32 {
    bytes.map_or(0, |bytes| u32::from_le_bytes(bytes.try_into().expect("there are four bytes")))
}

/// Increments a counter, and writes a separate record for each count.
fn count(store: &RecordStore, who: u32, number: u32) {
    let write = store.write(|writer| {
        let before = count_of(writer.get(SMALL, b"count")?);
        writer.put(SMALL, b"count", &(before + 1).to_le_bytes())?;
        // Large enough for the file to grow.
        writer.put(LARGE, format!("{who}-{number}").as_bytes(), &before.to_le_bytes().repeat(500))
    });
    write.expect("the records can be written");
}

/// The child process. Does nothing as a separate test.
#[test]
fn one_of_several_writers() {
    let Ok(directory) = std::env::var(DIRECTORY) else { return };
    let who: u32 = std::env::var(NUMBER).expect("the variable is set").parse().expect("the value is a number");
    let directory = Path::new(&directory);
    let open = || open(&directory.join("home"), OpenMode::Create, KnownIndexes::at(directory.join("known")));
    let mut store = open().expect("the store can be opened");
    for number in 0..TRANSACTIONS {
        // Opens the store again, as short-lived programs do.
        if number % 4 == who {
            drop(store);
            store = open().expect("the store can be opened");
        }
        count(&store, who, number);
    }
}

#[test]
fn no_update_of_several_processes_is_lost() {
    let test_dir = TestDirectory::new();
    let start = |who: u32| {
        let mut command = Command::new(std::env::current_exe().expect("the test program has a path"));
        command.args(["records::several::one_of_several_writers", "--exact"]);
        command.env(DIRECTORY, test_dir.0.path()).env(NUMBER, who.to_string()).stdout(Stdio::null());
        command.spawn().expect("the child process can be started")
    };
    let children: Vec<_> = (0..PROCESSES).map(start).collect();
    // This process and its threads are writers too.
    std::thread::scope(|scope| {
        for who in PROCESSES..PROCESSES + 2 {
            let store = test_dir.open();
            scope.spawn(move || (0..TRANSACTIONS).for_each(|number| count(&store, who, number)));
        }
    });
    children
        .into_iter()
        .for_each(|mut child| assert!(child.wait().expect("the child process can be awaited").success()));
    let reader = test_dir.open().read().expect("the store can be read");
    let all = (PROCESSES + 2) * TRANSACTIONS;
    assert_eq!(count_of(reader.get(SMALL, b"count").expect("the store is valid").map(<[u8]>::to_vec)), all);
    assert_eq!(reader.count(LARGE), u64::from(all));
    let records = reader
        .from(LARGE, &[])
        .expect("the store is valid")
        .map(|record| record.expect("the store is valid").1[..4].to_vec());
    let mut counts: Vec<u32> = records.map(|bytes| count_of(Some(bytes))).collect();
    counts.sort_unstable();
    assert!(counts.into_iter().eq(0..all), "every transaction has seen the previous one");
}

#[test]
fn readers_see_one_transaction_while_a_writer_commits() {
    const KEYS: u32 = 300;
    let test_dir = TestDirectory::new();
    let write = |store: &RecordStore, number: u32| -> Result<(), StorageError> {
        store.write(|writer| {
            for key in 0..KEYS {
                let value = number.to_le_bytes().repeat(1 + (key % 90) as usize);
                writer.put(if key % 2 == 0 { SMALL } else { LARGE }, format!("{key:03}").as_bytes(), &value)?;
            }
            Ok(())
        })
    };
    let store = test_dir.open();
    write(&store, 1).expect("the records can be written");
    let done = AtomicBool::new(false);
    let number_in = |reader: &aurora_storage::RecordReader| {
        let mut numbers = Vec::new();
        for table in [SMALL, LARGE] {
            let records = reader
                .from(table, &[])
                .expect("the store is valid")
                .map(|record| record.expect("the store is valid").1);
            numbers
                .extend(records.map(|value| u32::from_le_bytes(value[..4].try_into().expect("there are four bytes"))));
        }
        assert_eq!(numbers.len(), KEYS as usize);
        assert!(numbers.iter().all(|number| *number == numbers[0]), "{numbers:?}");
        numbers[0]
    };
    std::thread::scope(|scope| {
        let read = || {
            let (mut newest, mut kept) = (0, Vec::new());
            while !done.load(Ordering::Relaxed) {
                let reader = test_dir.open().read().expect("the store can be read");
                let number = number_in(&reader);
                assert!(number >= newest, "{number} after {newest}");
                newest = number;
                if kept.len() < 8 {
                    kept.push((reader, number));
                }
            }
            // Readers that were opened long ago still see the same records.
            kept.iter().for_each(|(reader, number)| assert_eq!(number_in(reader), *number));
        };
        let readers = [scope.spawn(read), scope.spawn(read)];
        (2..60).for_each(|number| write(&store, number).expect("the records can be written"));
        done.store(true, Ordering::Relaxed);
        readers.into_iter().for_each(|reader| reader.join().expect("the reader does not panic"));
    });
    assert_eq!(number_in(&store.read().expect("the store can be read")), 59);
}
