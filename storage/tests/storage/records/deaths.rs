//! Writers that are killed before the end of their transactions.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use aurora_storage::{KnownIndexes, OpenMode, Origin, RecordReader, RecordStore, StorageError};

use super::{LARGE, SMALL, TestDirectory, open};
use crate::damage::generator;

/// Environment variable with the directory in which the child process writes.
const DIRECTORY: &str = "AURORA_STORAGE_TEST_RECORDS";
/// Environment variable with the last transaction of the child. If it is not set, the child continues until it is
/// killed.
const LAST: &str = "AURORA_STORAGE_TEST_LAST";
/// Environment variable with the step of writing at which the library aborts.
const POINT: &str = "AURORA_DIE_AT_POINT";
/// Environment variable with the directory whose store the child process opens.
#[cfg(target_os = "linux")]
const OPENED: &str = "AURORA_STORAGE_TEST_OPENED";
/// Environment variable that makes the child keep the store open.
#[cfg(target_os = "linux")]
const SHARED: &str = "AURORA_STORAGE_TEST_SHARED";
/// Number of keys that every transaction sets.
const KEYS: usize = 200;
/// Number of kills at random times.
const KILLS: usize = 12;

/// The child process of the tests below. Does nothing as a separate test. Each transaction sets all keys to its number,
/// which is printed once the transaction is durable.
#[test]
fn dying_writer_of_records() {
    let Ok(directory) = std::env::var(DIRECTORY) else { return };
    let last: u64 = std::env::var(LAST).map_or(u64::MAX, |last| last.parse().expect("the value is a number"));
    let directory = Path::new(&directory);
    let known = KnownIndexes::at(directory.join("known"));
    let store = open(&directory.join("home"), OpenMode::Create, known).expect("the store can be opened");
    let newest = newest(&store.read().expect("the store can be read"));
    for number in newest + 1..=last {
        let write = store.write(|writer| {
            for key in 0..KEYS {
                let value = number.to_le_bytes().repeat(1 + (key + number as usize) % 7);
                writer.put(SMALL, format!("{key:03}").as_bytes(), &value)?;
            }
            writer.put(LARGE, b"large", &number.to_le_bytes().repeat(1_000))
        });
        write.expect("the records can be written");
        // The test harness writes to standard output too.
        println!("\nwritten {number}");
        std::io::stdout().flush().expect("standard output can be written");
    }
}

/// Returns the number of the newest transaction, which must be complete; 0 before the first.
fn newest(reader: &RecordReader) -> u64 {
    let number = |value: &[u8]| {
        let (numbers, rest) = value.as_chunks::<8>();
        assert!(rest.is_empty() && numbers.iter().all(|number| *number == numbers[0]), "a partial value");
        u64::from_le_bytes(numbers[0])
    };
    let large = reader.get(LARGE, b"large").expect("the store is valid").map_or(0, number);
    let records =
        reader.from(SMALL, &[]).expect("the store is valid").map(|record| record.expect("the store is valid"));
    let numbers: Vec<u64> = records.map(|(_, value)| number(value)).collect();
    assert_eq!(numbers.len(), if large == 0 { 0 } else { KEYS });
    assert!(numbers.iter().all(|&number| number == large), "a partial transaction");
    large
}

fn child(test_dir: &TestDirectory) -> Command {
    let mut command = Command::new(std::env::current_exe().expect("the test program has a path"));
    let test = "records::deaths::dying_writer_of_records";
    command.args([test, "--exact", "--nocapture"]).env(DIRECTORY, test_dir.0.path());
    command.stderr(Stdio::null()).stdin(Stdio::null());
    command
}

fn newest_in(test_dir: &TestDirectory) -> u64 {
    let store = test_dir.open();
    // Whichever transaction is the newest, this user has created the store.
    assert_ne!(store.origin().expect("the store can be read"), Origin::Unknown);
    newest(&store.read().expect("the store can be read"))
}

#[test]
fn a_writer_that_dies_at_any_step_leaves_the_old_transaction_or_the_new_one() {
    let test_dir = TestDirectory::new();
    let (mut points, mut new) = (0, 0);
    for before in 0..3 {
        assert_eq!(newest_in(&test_dir), before);
        for point in 1.. {
            let mut command = child(&test_dir);
            command.env(LAST, (before + 1).to_string()).env(POINT, point.to_string()).stdout(Stdio::null());
            let lived = command.status().expect("the child process can be started").success();
            let found = newest_in(&test_dir);
            assert!(found == before || found == before + 1, "{found} at step {point}");
            points += usize::from(!lived);
            new += usize::from(!lived && found > before);
            if found > before {
                break;
            }
            assert!(!lived, "a transaction that was not interrupted is missing");
        }
    }
    // The test would prove nothing if no writer was killed.
    assert!(points >= 6 && new == 3, "{points} deaths, {new} after the commit");
}

#[test]
fn a_killed_writer_keeps_all_acknowledged_transactions() {
    let (test_dir, mut random) = (TestDirectory::new(), generator());
    let mut acknowledged = 0;
    for _ in 0..KILLS {
        let mut writer: Child =
            child(&test_dir).stdout(Stdio::piped()).spawn().expect("the child process can be started");
        let output = BufReader::new(writer.stdout.take().expect("standard output is piped"));
        let reading = std::thread::spawn(move || {
            let lines = output.lines().map_while(Result::ok);
            lines.filter_map(|line| line.strip_prefix("written ")?.parse::<u64>().ok()).last()
        });
        std::thread::sleep(Duration::from_millis(20 + random(80) as u64));
        writer.kill().expect("the child process can be killed");
        writer.wait().expect("the child process can be awaited");
        acknowledged = reading.join().expect("the reading thread does not panic").unwrap_or(0).max(acknowledged);
        let found = newest_in(&test_dir);
        assert!(found == acknowledged || found == acknowledged + 1, "{found} after {acknowledged}");
        acknowledged = found;
    }
    assert!(acknowledged > KILLS as u64, "{acknowledged}");
}

/// The child process of the tests below. Locks LMDB's lock file and resets its transaction number, as the first process
/// to open a store does, and waits to be killed. With [`SHARED`], it keeps the store open instead, and others may open
/// it too.
#[cfg(target_os = "linux")]
#[test]
fn dying_opener() {
    use std::os::unix::fs::FileExt as _;

    let Ok(directory) = std::env::var(OPENED) else { return };
    let directory = Path::new(&directory);
    let path = directory.join("home").join(super::NAME).join("lock.mdb");
    let file = std::fs::File::options().read(true).write(true).open(path).expect("the file can be opened");
    let store = std::env::var_os(SHARED).map(|_| {
        open(&directory.join("home"), OpenMode::Create, KnownIndexes::at(directory.join("known")))
            .expect("the store can be opened")
    });
    if store.is_none() {
        rustix::fs::fcntl_lock(&file, rustix::fs::FlockOperation::LockExclusive)
            .expect("no other process has the lock file open");
    }
    // The number of the newest transaction has not been set yet.
    file.write_all_at(&[0; 8], 8).expect("the records can be written");
    println!("\nopening");
    std::io::stdout().flush().expect("standard output can be written");
    std::thread::sleep(Duration::from_secs(600));
}

/// A store of three transactions, and a process that runs [`dying_opener`].
#[cfg(target_os = "linux")]
fn opened_by_another(shared: bool) -> (TestDirectory, Child) {
    let test_dir = TestDirectory::new();
    for number in 1..=3_u64 {
        let write = test_dir.open().write(|writer| writer.put(SMALL, b"key", &number.to_le_bytes()));
        write.expect("the records can be written");
    }
    let mut command = Command::new(std::env::current_exe().expect("the test program has a path"));
    command.args(["--exact", "records::deaths::dying_opener", "--nocapture"]).env(OPENED, test_dir.0.path());
    if shared {
        command.env(SHARED, "1");
    }
    let mut opener = command.stdout(Stdio::piped()).spawn().expect("the child process can be started");
    let lines = BufReader::new(opener.stdout.take().expect("standard output is piped")).lines();
    assert!(lines.map_while(Result::ok).any(|line| line == "opening"));
    (test_dir, opener)
}

#[cfg(target_os = "linux")]
#[test]
fn a_process_waiting_for_a_killed_opener_sees_all_records() {
    let (test_dir, mut opener) = opened_by_another(false);
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| {
            let store = test_dir.open();
            let key = |store: &RecordStore| {
                store
                    .read()
                    .expect("the store can be read")
                    .get(SMALL, b"key")
                    .expect("the store is valid")
                    .map(<[u8]>::to_vec)
            };
            let before = key(&store);
            store.write(|writer| writer.put(SMALL, b"more", b"value")).expect("the records can be written");
            (before, key(&store))
        });
        std::thread::sleep(Duration::from_millis(200));
        assert!(!waiting.is_finished(), "it did not wait");
        opener.kill().expect("the child process can be killed");
        opener.wait().expect("the child process can be awaited");
        let value = Some(3_u64.to_le_bytes().to_vec());
        assert_eq!(waiting.join().expect("the waiting thread does not panic"), (value.clone(), value));
    });
}

#[cfg(target_os = "linux")]
#[test]
fn a_lock_file_kept_out_of_date_by_another_process_is_reported() {
    let (test_dir, mut opener) = opened_by_another(true);
    let error =
        open(&test_dir.home(), OpenMode::Create, test_dir.known_indexes()).err().expect("the lock file is out of date");
    assert!(matches!(&error, StorageError::StaleLock { path } if path.ends_with("lock.mdb")), "{error}");
    opener.kill().expect("the child process can be killed");
    opener.wait().expect("the child process can be awaited");
    let key = test_dir
        .open()
        .read()
        .expect("the store can be read")
        .get(SMALL, b"key")
        .expect("the store is valid")
        .map(<[u8]>::to_vec);
    assert_eq!(key, Some(3_u64.to_le_bytes().to_vec()));
}
