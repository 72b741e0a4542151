//! Data that LMDB would follow is checked before LMDB writes. Whatever is changed in the structure of a file, a writer
//! returns an error or succeeds, and LMDB never crashes or hangs the process.

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use aurora_storage::{AccessLog, Environment, Field, KnownIndexes, OpenMode, StorageError, Verdict, WriterOptions};

use crate::damage::write_data_file;
use crate::mutation::Sites;
use crate::repository::{directory, open, piece, replace, synthetic, update, write};

/// Environment variable with the directory in which the child process works. Its file `next` has the first seed, and
/// `last` the end of the seeds.
const DIRECTORY: &str = "AURORA_STORAGE_TEST_STRUCTURE";
/// Environment variable with the number of changed files that are written to, for longer runs than the tests have time
/// for.
const CORRUPTIONS: &str = "AURORA_CORRUPTIONS";
/// Maximum time for one file, on any machine, before it counts as a hang.
const LIMIT: Duration = Duration::from_secs(60);

/// An index with deleted chunks, free pages, large values and trees of some depth.
fn sound() -> Vec<u8> {
    let directory = directory();
    let environment = open(directory.path());
    write(&environment, &synthetic(120, 10, 0), 64 << 20);
    write(&environment, &synthetic(40, 10, 3), 64 << 20);
    let writer = environment.writer(WriterOptions::default()).expect("writes");
    (40..60).for_each(|file| writer.remove_file(&format!("src/file_{file:03}.py")).expect("removes"));
    writer.publish(update()).expect("publishes");
    drop(environment);
    fs::read(directory.path().join("index/data.mdb")).expect("reads")
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
        environment.validate_structure().expect("LMDB leaves a sound file");
    }
    Ok(())
}

/// The child process. Does nothing as a separate test.
#[test]
fn changed_structures_are_written_to() {
    let Ok(directory) = std::env::var(DIRECTORY) else { return };
    let directory = Path::new(&directory);
    let number = |name: &str| -> u64 {
        let text = fs::read_to_string(directory.join(name)).expect("reads");
        text.trim().parse().expect("a number")
    };
    let data = fs::read(directory.join("sound.mdb")).expect("reads");
    let (sites, home) = (Sites::from_data(&data), directory.join("home"));
    let is_log = directory.join("is_log").exists();
    for seed in number("next")..number("last") {
        fs::write(directory.join("next"), seed.to_string()).expect("writes");
        let mut damaged = data.clone();
        let mutation = sites.mutate(&mut damaged, seed);
        let _ = fs::remove_dir_all(&home);
        let outcome = if is_log {
            fs::create_dir_all(home.join("access")).expect("makes a directory");
            fs::write(home.join("access/data.mdb"), damaged).expect("writes");
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
        let mut log = fs::OpenOptions::new().append(true).create(true).open(directory.join("log")).expect("opens");
        std::io::Write::write_all(&mut log, format!("{word} {}\n", mutation.what).as_bytes()).expect("writes");
    }
    fs::write(directory.join("next"), number("last").to_string()).expect("writes");
}

/// Number of files to change.
fn corruptions(otherwise: u64) -> u64 {
    std::env::var(CORRUPTIONS).ok().and_then(|number| number.parse().ok()).unwrap_or(otherwise)
}

/// Lets a child process write to `count` changes of a sound file, and counts the outcomes.
fn in_a_child(data: &[u8], count: u64, is_log: bool) -> String {
    let directory = directory();
    let path = |name: &str| directory.path().join(name);
    fs::write(path("sound.mdb"), data).expect("writes");
    let first: u64 = std::env::var("AURORA_SEED").map_or(0, |seed| seed.parse().expect("AURORA_SEED is a number"));
    fs::write(path("next"), first.to_string()).expect("writes");
    fs::write(path("last"), first.saturating_add(count).to_string()).expect("writes");
    if is_log {
        fs::write(path("is_log"), "").expect("writes");
    }
    let mut child: Child = Command::new(std::env::current_exe().expect("has a path"))
        .args(["structure::changed_structures_are_written_to", "--exact", "--nocapture"])
        .env(DIRECTORY, directory.path())
        .stdout(Stdio::null())
        .spawn()
        .expect("starts");
    let next = || fs::read_to_string(path("next")).unwrap_or_default();
    let (mut seen, mut since) = (next(), Instant::now());
    let status = loop {
        if let Some(status) = child.try_wait().expect("a child") {
            break status;
        }
        std::thread::sleep(Duration::from_millis(20));
        if next() != seen {
            (seen, since) = (next(), Instant::now());
        }
        if since.elapsed() > LIMIT {
            child.kill().expect("it runs");
            child.wait().expect("it ends");
            let what = Sites::from_data(data).mutate(&mut data.to_vec(), seen.parse().unwrap_or(0)).what;
            panic!("a writer hangs: {what}");
        }
    };
    let what = |seed: &str| Sites::from_data(data).mutate(&mut data.to_vec(), seed.parse().unwrap_or(0)).what;
    assert!(status.success(), "{status}: {}", what(&next()));
    let log = fs::read_to_string(path("log")).expect("reads");
    if let Some(keep) = std::env::var_os("AURORA_TEST_SHOW") {
        fs::write(Path::new(&keep).join(format!("structure-{is_log}.log")), &log).expect("writes");
    }
    let of = |word: &str| log.lines().filter(|line| line.starts_with(word)).count();
    // The share varies when there are few changes.
    let least = if count < 300 { count / 10 } else { count / 3 };
    assert!(of("damaged") as u64 > least, "{} of {count} are noticed", of("damaged"));
    format!("{} written, {} damaged, {} refused", of("written"), of("damaged"), of("refused"))
}

/// The keys of lists of free pages are native numbers, which differ from byte order from 256 on.
#[test]
fn free_lists_of_many_transactions_are_in_numeric_order() {
    let directory = directory();
    let environment = open(directory.path());
    write(&environment, &synthetic(3, 2, 0), 64 << 20);
    // While there is a reader, no page is reused, and every transaction adds a list.
    let _reader = environment.snapshot().expect("opens");
    for round in 0..300 {
        let writer = environment.writer(WriterOptions::default()).expect("writes");
        replace(&writer, "src/file_001.py", &[piece(&format!("round_{round}"), &[(Field::Body, "common")])])
            .expect("replaces");
        writer.publish(update()).expect("publishes");
        if round % 50 == 49 {
            let problems = environment.snapshot().expect("opens").verify().problems;
            assert!(problems.is_empty(), "round {round}: {problems:?}");
            environment.validate_structure().expect("sound");
        }
    }
}

#[test]
fn a_damaged_structure_never_crashes_or_hangs_a_writer() {
    let counts = in_a_child(&sound(), corruptions(300), false);
    eprintln!("index: {counts}");
}

#[test]
fn a_damaged_structure_never_crashes_or_hangs_a_write_to_the_access_log() {
    let counts = in_a_child(&sound_log(), corruptions(300), true);
    eprintln!("access log: {counts}");
}

fn sound_log() -> Vec<u8> {
    let directory = directory();
    let log = AccessLog::open(directory.path(), &KnownIndexes::accepting_all()).expect("opens");
    for round in 0..6 {
        let keys: Vec<String> = (0..300).map(|chunk| format!("code:src/file_{chunk:03}.py:{round}")).collect();
        let shown: Vec<(&str, i64)> = keys.iter().map(|key| (key.as_str(), round)).collect();
        log.record(&shown).expect("records");
        log.judge(Verdict::Good, &shown[..20]).expect("records");
    }
    log.sweep(|key| Ok(!key.ends_with(":2")), 100, 0).expect("sweeps");
    drop(log);
    fs::read(directory.path().join("access/data.mdb")).expect("reads")
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
