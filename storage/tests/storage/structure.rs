//! The references that LMDB follows are checked before LMDB writes. Whatever is changed in the structure of a file, a
//! writer returns an error or succeeds, and LMDB never crashes or hangs the process.

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use aurora_storage::{AccessLog, Environment, Field, KnownIndexes, OpenMode, StorageError, Verdict, WriterOptions};

use crate::damage::write_data_file;
use crate::mutation::Sites;
use crate::repository::{directory, open, piece, replace, synthetic, update, write};

/// Environment variable with the directory in which the child process works. Its file `next` contains the first seed,
/// and its file `last` the number after the last seed.
const DIRECTORY: &str = "AURORA_STORAGE_TEST_STRUCTURE";
/// Environment variable with the number of changed files that are written to, for runs that are too long for ordinary
/// tests.
const CORRUPTIONS: &str = "AURORA_CORRUPTIONS";
/// Maximum time for one file, on any machine, before it counts as a hang.
const LIMIT: Duration = Duration::from_secs(60);

/// Returns an index with deleted chunks, free pages, large values and trees of several levels.
fn valid_index() -> Vec<u8> {
    let directory = directory();
    let environment = open(directory.path());
    write(&environment, &synthetic(120, 10, 0), 64 << 20);
    write(&environment, &synthetic(40, 10, 3), 64 << 20);
    let writer = environment.writer(WriterOptions::default()).expect("there is no other writer");
    (40..60).for_each(|file| writer.remove_file(&format!("src/file_{file:03}.py")).expect("the file can be removed"));
    writer.publish(update()).expect("the changes can be published");
    drop(environment);
    fs::read(directory.path().join("index/data.mdb")).expect("the file can be read")
}

/// Changes everything in several transactions: every page is freed, and free pages are reused.
fn rewrite(directory: &Path) -> Result<(), StorageError> {
    for round in 0..2 {
        let environment = Environment::open(directory, OpenMode::Existing)?;
        let writer = environment.writer(WriterOptions::default())?;
        for file in 0..120 {
            let path = format!("src/file_{file:03}.py");
            match (file + round) % 3 {
                0 => replace(&writer, &path, &[piece("new", &[(Field::Body, "common"), (Field::Name, "other")])])?,
                _ => writer.remove_file(&path)?,
            }
        }
        writer.publish(update())?;
        environment.validate_structure().expect("LMDB leaves a valid file");
    }
    Ok(())
}

/// The child process. Does nothing as a separate test.
#[test]
fn changed_structures_are_written_to() {
    let Ok(directory) = std::env::var(DIRECTORY) else { return };
    let directory = Path::new(&directory);
    let number = |name: &str| -> u64 {
        let text = fs::read_to_string(directory.join(name)).expect("the file can be read");
        text.trim().parse().expect("the value is a number")
    };
    let data = fs::read(directory.join("valid.mdb")).expect("the file can be read");
    let (sites, home) = (Sites::from_data(&data), directory.join("home"));
    let is_log = directory.join("is_log").exists();
    for seed in number("next")..number("last") {
        fs::write(directory.join("next"), seed.to_string()).expect("the file can be written");
        let mut damaged = data.clone();
        let mutation = sites.mutate(&mut damaged, seed);
        let _ = fs::remove_dir_all(&home);
        let outcome = if is_log {
            fs::create_dir_all(home.join("access")).expect("the directory can be created");
            fs::write(home.join("access/data.mdb"), damaged).expect("the file can be written");
            rewrite_log(&home)
        } else {
            write_data_file(&home, &damaged);
            rewrite(&home)
        };
        let word = match outcome {
            Ok(()) => "written",
            Err(StorageError::Damaged { .. } | StorageError::LogUnusable { .. }) => "damaged",
            Err(StorageError::Foreign { .. } | StorageError::Truncated { .. } | StorageError::FormatVersion { .. }) => {
                "refused"
            }
            Err(error) => panic!("{}: {error:?}", mutation.what),
        };
        let mut log = fs::OpenOptions::new()
            .append(true)
            .create(true)
            .open(directory.join("log"))
            .expect("the file can be opened");
        std::io::Write::write_all(&mut log, format!("{word} {}\n", mutation.what).as_bytes())
            .expect("the file can be written");
    }
    fs::write(directory.join("next"), number("last").to_string()).expect("the file can be written");
}

/// Number of files to change.
fn corruptions(otherwise: u64) -> u64 {
    std::env::var(CORRUPTIONS).ok().and_then(|number| number.parse().ok()).unwrap_or(otherwise)
}

/// Lets a child process write to `count` changed copies of a valid file, and counts the outcomes.
fn in_a_child(data: &[u8], count: u64, is_log: bool) -> String {
    let directory = directory();
    let path = |name: &str| directory.path().join(name);
    fs::write(path("valid.mdb"), data).expect("the file can be written");
    let first: u64 = std::env::var("AURORA_SEED").map_or(0, |seed| seed.parse().expect("AURORA_SEED is a number"));
    fs::write(path("next"), first.to_string()).expect("the file can be written");
    fs::write(path("last"), first.saturating_add(count).to_string()).expect("the file can be written");
    if is_log {
        fs::write(path("is_log"), "").expect("the file can be written");
    }
    let mut child: Child = Command::new(std::env::current_exe().expect("the test program has a path"))
        .args(["structure::changed_structures_are_written_to", "--exact", "--nocapture"])
        .env(DIRECTORY, directory.path())
        .stdout(Stdio::null())
        .spawn()
        .expect("the child process can be started");
    let next = || fs::read_to_string(path("next")).unwrap_or_default();
    let (mut seen, mut since) = (next(), Instant::now());
    let status = loop {
        if let Some(status) = child.try_wait().expect("the state of the child process can be read") {
            break status;
        }
        std::thread::sleep(Duration::from_millis(20));
        if next() != seen {
            (seen, since) = (next(), Instant::now());
        }
        if since.elapsed() > LIMIT {
            child.kill().expect("the child process can be killed");
            child.wait().expect("the child process can be awaited");
            let what = Sites::from_data(data).mutate(&mut data.to_vec(), seen.parse().unwrap_or(0)).what;
            panic!("a writer hangs: {what}");
        }
    };
    let what = |seed: &str| Sites::from_data(data).mutate(&mut data.to_vec(), seed.parse().unwrap_or(0)).what;
    assert!(status.success(), "{status}: {}", what(&next()));
    let log = fs::read_to_string(path("log")).expect("the file can be read");
    if let Some(keep) = std::env::var_os("AURORA_TEST_SHOW") {
        fs::write(Path::new(&keep).join(format!("structure-{is_log}.log")), &log).expect("the file can be written");
    }
    let count_of = |word: &str| log.lines().filter(|line| line.starts_with(word)).count();
    // The share varies when there are few changes.
    let least = if count < 300 { count / 10 } else { count / 3 };
    assert!(count_of("damaged") as u64 > least, "{} of {count} are noticed", count_of("damaged"));
    format!("{} written, {} damaged, {} refused", count_of("written"), count_of("damaged"), count_of("refused"))
}

/// The keys of lists of free pages are native numbers, which differ from byte order from 256 on.
#[test]
fn free_lists_of_many_transactions_are_in_numeric_order() {
    let directory = directory();
    let environment = open(directory.path());
    write(&environment, &synthetic(3, 2, 0), 64 << 20);
    // While there is a reader, no page is reused, and every transaction adds a list.
    let _reader = environment.snapshot().expect("the index can be opened");
    for round in 0..300 {
        let writer = environment.writer(WriterOptions::default()).expect("there is no other writer");
        replace(&writer, "src/file_001.py", &[piece(&format!("round_{round}"), &[(Field::Body, "common")])])
            .expect("the file can be replaced");
        writer.publish(update()).expect("the changes can be published");
        if round % 50 == 49 {
            let problems = environment.snapshot().expect("the index can be opened").verify().problems;
            assert!(problems.is_empty(), "round {round}: {problems:?}");
            environment.validate_structure().expect("the index is valid");
        }
    }
}

#[test]
fn a_damaged_structure_never_crashes_or_hangs_a_writer() {
    let counts = in_a_child(&valid_index(), corruptions(300), false);
    eprintln!("index: {counts}");
}

#[test]
fn a_damaged_structure_never_crashes_or_hangs_a_write_to_the_access_log() {
    let counts = in_a_child(&valid_log(), corruptions(300), true);
    eprintln!("access log: {counts}");
}

fn valid_log() -> Vec<u8> {
    let directory = directory();
    let log = AccessLog::open(directory.path(), &KnownIndexes::accepting_all()).expect("the log can be opened");
    for round in 0..6 {
        let keys: Vec<String> = (0..300).map(|chunk| format!("code:src/file_{chunk:03}.py:{round}")).collect();
        let shown: Vec<(&str, i64)> = keys.iter().map(|key| (key.as_str(), round)).collect();
        log.record(&shown).expect("the accesses can be recorded");
        log.judge(Verdict::Good, &shown[..20]).expect("the accesses can be recorded");
    }
    log.sweep(|key| Ok(!key.ends_with(":2")), 100, 0).expect("the log can be swept");
    drop(log);
    fs::read(directory.path().join("access/data.mdb")).expect("the file can be read")
}

/// Reads and changes a log, which is replaced by a new one if it is damaged.
fn rewrite_log(home: &Path) -> Result<(), StorageError> {
    let log = AccessLog::open(home, &KnownIndexes::accepting_all())?;
    let keys: Vec<String> = (0..300).map(|chunk| format!("code:src/file_{chunk:03}.py:5")).collect();
    let names: Vec<&str> = keys.iter().map(String::as_str).collect();
    let read = log.get_many(&names);
    if let Ok(records) = &read {
        assert!(records.iter().all(|record| record.as_ref().is_some_and(|record| record.count == 1)), "a wrong record");
    }
    log.record(&[("code:src/file_007.py:5", 50), ("new", 60)])?;
    log.sweep(|key| Ok(key.contains("file_00") || key == "new"), 100, 0)?;
    assert!(log.get("new")?.is_some(), "nothing was recorded: {:?}", log.restart_reason());
    match (read, log.restart_reason()) {
        (Err(error), Some(_)) => Err(error),
        (Err(error), None) => panic!("{error} but no new log was started"),
        (Ok(_), _) => Ok(()),
    }
}
