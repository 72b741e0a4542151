//! A process that dies at any moment leaves the old index or the new one. The next run makes the index equal to a fresh
//! index.
//!
//! Processes die in three ways: at each step of writing in turn (`storage/src/fault.rs`), by a kill at a random moment,
//! and by a kill while they create a store. `AURORA_TEST_KILLS` sets the number of kills, and `AURORA_TEST_SEED`
//! repeats the kills of an earlier run.

mod fixture;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use fixture::{Fixture, Run};

/// Environment variable with the number of the step at which the program dies.
const POINT: &str = "AURORA_DIE_AT_POINT";
/// Number of kills at random moments, unless `AURORA_TEST_KILLS` overrides it.
const KILLS: usize = 12;
const FILES: usize = 40;

/// Creates a repository that is so large that its index is written in several transactions.
fn repository() -> Fixture {
    let fixture = Fixture::git();
    fixture.write(".gitignore", ".aurora/\n*.aur\n");
    for number in 0..FILES {
        fixture.write(&path(number), module(number, "first"));
    }
    fixture.commit("all");
    fixture
}

fn path(number: usize) -> String {
    format!("m{}/f{number}.py", number % 5)
}

fn module(number: usize, word: &str) -> String {
    (0..8).map(|f| format!("def {word}_{number}_{f}(a, b):\n    return a + b * call_{}({f})\n\n", number % 7)).collect()
}

/// Changes the tree: edits, adds and removes files.
fn edit(fixture: &Fixture, round: usize) {
    for number in (round % 3..FILES).step_by(3) {
        fixture.write(&path(number), module(number, &format!("round_{round}")));
    }
    fixture.write(&format!("added/r{round}.py"), module(round, "added"));
    if let Some(before) = round.checked_sub(1).map(|before| format!("added/r{before}.py"))
        && fixture.path(&before).exists()
    {
        fixture.remove(&before);
    }
}

/// Runs the program and asserts that it succeeds.
fn run_ok(fixture: &Fixture, arguments: &[&str]) -> Run {
    let run = fixture.aur(arguments);
    assert_eq!(run.code, Some(0), "{arguments:?}: {run:?}");
    run
}

/// Returns the digest of the index, which must be undamaged, or `None` if there is no index.
fn digest(fixture: &Fixture) -> Option<String> {
    let verify = fixture.aur(&["mem", "verify"]);
    if verify.code == Some(2) && verify.err.contains("no index") {
        return None;
    }
    assert_eq!(verify.code, Some(0), "{verify:?}");
    Some(run_ok(fixture, &["mem", "verify", "--digest"]).out)
}

/// Returns the digest of the index, or `None` if there is no usable index.
fn usable_digest(fixture: &Fixture) -> Option<String> {
    let verify = fixture.aur(&["mem", "verify"]);
    assert!(matches!(verify.code, Some(0 | 2)), "{verify:?}");
    if verify.code == Some(0) { digest(fixture) } else { None }
}

/// Returns the digest of an index that is built from scratch for the same tree.
fn fresh_digest(fixture: &Fixture) -> Option<String> {
    let fresh = fixture.duplicate();
    run_ok(&fresh, &["mem", "index", "-q"]);
    digest(&fresh)
}

/// Updates the index after a process has died, and asserts that the index then has the digest `fresh`.
fn assert_recovers(fixture: &Fixture, fresh: Option<&String>, what: &str) {
    // The index that a dead process has left still counts as built by the user.
    let search = fixture.aur(&["mem", "search", "call", "--no-index"]);
    assert!(!search.err.contains("not trusted"), "{what}: {}", search.err);
    run_ok(fixture, &["mem", "index", "-q"]);
    assert_eq!(digest(fixture).as_ref(), fresh, "{what}");
    for left in ["index.new", "index.old", "tmp"] {
        let files = fs::read_dir(fixture.path(".aurora").join(left)).map_or(0, Iterator::count);
        assert_eq!(files, 0, "{what}: {left}");
    }
}

/// Kills a command at each of its steps in turn. Each attempt starts from an index whose data file has the bytes
/// `before`, or without an index. A command that is not killed leaves an index with the digest `new`.
fn die_at_every_step(fixture: &Fixture, arguments: &[&str], before: Option<&[u8]>, new: Option<&String>) {
    let fresh = fresh_digest(fixture);
    let restore = || {
        let directory = fixture.path(".aurora");
        if directory.exists() {
            fs::remove_dir_all(&directory).expect("the directory can be removed");
        }
        if let Some(data) = before {
            fixture.write(".aurora/index/data.mdb", data);
        }
    };
    restore();
    // An unusable index is treated like a missing index.
    let old = usable_digest(fixture);
    let (mut point, mut renewed) = (1, 0);
    loop {
        restore();
        let mut command = fixture.command();
        command.args(arguments).env(POINT, point.to_string()).env("AURORA_SEARCH_REFRESH", "60000");
        let run = Run::from_command(&mut command);
        let what = format!("{arguments:?} at step {point}");
        if run.code == Some(0) {
            assert_eq!(digest(fixture).as_ref(), new, "{arguments:?}");
            break;
        }
        // The program must abort at the step. It must not end with an error or panic.
        assert!(run.code != Some(1) && run.code != Some(2) && !run.err.contains("panicked"), "{what}: {run:?}");
        let found = match old {
            None => usable_digest(fixture),
            Some(_) => digest(fixture),
        };
        assert!(found == old || found.as_ref() == new, "{what}");
        renewed += usize::from(found.as_ref() == new);
        assert_recovers(fixture, fresh.as_ref(), &what);
        point += 1;
    }
    // The command must die at several steps, before and after the publication.
    assert!(point > 4 && renewed > 0, "{arguments:?} has {point} steps, {renewed} after the publication");
}

/// Creates a repository that was edited after indexing, and returns the data file of the index.
fn edited() -> (Fixture, Vec<u8>) {
    let fixture = repository();
    run_ok(&fixture, &["mem", "index", "-q"]);
    for round in 0..2 {
        edit(&fixture, round);
        run_ok(&fixture, &["mem", "index", "-q"]);
    }
    let data = fs::read(fixture.path(".aurora/index/data.mdb")).expect("the file can be read");
    edit(&fixture, 2);
    (fixture, data)
}

#[test]
fn a_run_that_dies_at_any_step_leaves_the_old_index_or_the_new_one() {
    let (fixture, data) = edited();
    let fresh = fresh_digest(&fixture);
    let index = ["mem", "index", "-q", "--memory", "1MiB"];
    die_at_every_step(&fixture, &index, None, fresh.as_ref());
    die_at_every_step(&fixture, &index, Some(&data), fresh.as_ref());
    die_at_every_step(&fixture, &[&index[..], &["--force"]].concat(), Some(&data), fresh.as_ref());
}

#[test]
fn a_search_that_dies_while_it_updates_leaves_the_old_index_or_the_new_one() {
    let (fixture, data) = edited();
    let fresh = fresh_digest(&fixture);
    let search = ["mem", "search", "call", "--mode", "sparse", "--no-record"];
    die_at_every_step(&fixture, &search, Some(&data), fresh.as_ref());
}

#[test]
fn a_recovery_that_dies_at_any_step_can_be_repeated() {
    let (fixture, data) = edited();
    let fresh = fresh_digest(&fixture);
    die_at_every_step(&fixture, &["mem", "index", "-q"], Some(&data[..data.len() / 2]), fresh.as_ref());
}

#[test]
fn a_command_that_replaces_the_index_leaves_the_old_or_the_new_one_if_it_is_killed() {
    let (fixture, data) = edited();
    fixture.write(".aurora/index/data.mdb", &data);
    let old = digest(&fixture);
    die_at_every_step(&fixture, &["mem", "compact"], Some(&data), old.as_ref());
    die_at_every_step(&fixture, &["mem", "rebuild-bm25"], Some(&data), old.as_ref());
    let other = Fixture::plain();
    other.write("other.py", module(1, "other"));
    run_ok(&other, &["mem", "index", "-q"]);
    run_ok(&other, &["mem", "export", "other.aur"]);
    let imported = digest(&other);
    let artefact = other.path("other.aur");
    let import = ["mem", "import", artefact.to_str().expect("the path is UTF-8")];
    die_at_every_step(&fixture, &import, Some(&data), imported.as_ref());
}

/// A store, the command that creates the store, and the commands that must succeed after the first command was killed.
struct Creation {
    name: &'static str,
    create: &'static [&'static str],
    /// The file or directory for whose creation the test waits before it kills the command.
    file: PathBuf,
    /// The directory that is deleted before each round.
    store: PathBuf,
    next: &'static [&'static [&'static str]],
}

/// Number of kills during the creation of each store, unless `AURORA_TEST_KILLS` overrides it.
const KILLS_OF_CREATION: usize = 5;
const SEARCH: &[&str] = &["mem", "search", "parse_token", "--mode", "sparse", "--format", "json"];

fn creations(fixture: &Fixture) -> [Creation; 5] {
    let (project, user) = (fixture.path(".aurora"), fixture.user_directory());
    [
        Creation {
            name: "index",
            create: &["mem", "index", "-q"],
            file: project.join("index/data.mdb"),
            store: project.clone(),
            next: &[SEARCH, &["mem", "index", "-q"], &["mem", "verify"]],
        },
        Creation {
            name: "memory",
            create: &["mem", "turn", "add", "--session", "s", "--speaker", "user", "turn.txt"],
            file: user.join("memory/entries/data.mdb"),
            store: user.join("memory"),
            next: &[
                SEARCH,
                &["mem", "list"],
                &["mem", "recall", "token"],
                &["mem", "turn", "add", "--session", "s", "--speaker", "user", "turn.txt"],
                &["mem", "verify", "--memory", "user"],
            ],
        },
        Creation {
            name: "annotations",
            create: &["mem", "tag", "code:token.py:parse_token", "tag"],
            file: project.join("annotations/data.mdb"),
            store: project.join("annotations"),
            next: &[SEARCH, &["mem", "tag", "code:token.py:parse_token", "tag"]],
        },
        Creation {
            name: "access history",
            create: SEARCH,
            file: project.join("access/data.mdb"),
            store: project.join("access"),
            next: &[SEARCH, &["mem", "feedback", "good", "code:token.py:parse_token"]],
        },
        Creation {
            name: "conversation logs",
            create: &["log", "write", "--query", "token", "turn.txt"],
            file: user.join("logs/conversations"),
            store: user.join("logs"),
            next: &[SEARCH, &["log", "write", "--query", "token", "turn.txt"], &["logs", "list"]],
        },
    ]
}

#[test]
fn a_kill_during_the_creation_of_a_store_leaves_an_empty_or_a_complete_store() {
    let kills = number("AURORA_TEST_KILLS").map_or(KILLS_OF_CREATION, |kills| kills as usize);
    let mut random = generator(number("AURORA_TEST_SEED").unwrap_or(3));
    let fixture = Fixture::git();
    fixture
        .write(".gitignore", "/.aurora/\n/home/\n")
        .write("token.py", "def parse_token(text):\n    return text.split(':')\n");
    fixture.write("turn.txt", "How is a token parsed?\n").commit("all");
    run_ok(&fixture, &["mem", "index", "-q"]);
    for Creation { name, create, file, store, next } in creations(&fixture) {
        let (mut dead, mut rounds) = (0, 0);
        while dead < kills {
            assert!(rounds < 5 * kills + 20, "{dead} of {rounds} processes could be killed: {name}");
            rounds += 1;
            if store.exists() {
                fs::remove_dir_all(&store).expect("the directory can be removed");
            }
            // Most kills happen soon after the file has appeared.
            let max = if random(3) > 0 { 1_500 } else { 40_000 };
            let delay = Duration::from_micros(random(max) as u64);
            dead += usize::from(is_killed_at(&fixture, create, &file, delay));
            for command in next {
                let run = run_ok(&fixture, command);
                let is_complete = !["without", "left out", "set aside"].iter().any(|note| run.err.contains(note));
                assert!(is_complete && !run.out.contains("ithout "), "{name}, {delay:?}, {command:?}: {run:?}");
                assert!(command != &SEARCH || run.out.contains("token.py"), "{name}, {delay:?}: {run:?}");
            }
        }
        eprintln!("{name}: {dead} of {rounds} processes were killed");
    }
}

/// Starts a command and kills it after a delay, which begins when a file appears. Returns false if the command ended
/// earlier.
fn is_killed_at(fixture: &Fixture, arguments: &[&str], file: &Path, delay: Duration) -> bool {
    let mut child = fixture.command();
    let child = child.args(arguments).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
    let mut child = child.expect("the program starts");
    while !file.exists() {
        if child.try_wait().expect("the status of the process is available").is_some() {
            return false;
        }
        std::thread::sleep(Duration::from_micros(50));
    }
    std::thread::sleep(delay);
    let is_running = child.try_wait().expect("the status of the process is available").is_none();
    child.kill().expect("the process can be killed");
    child.wait().expect("the program ends");
    is_running
}

/// A generator of random numbers below a bound (SplitMix64).
fn generator(mut state: u64) -> impl FnMut(usize) -> usize {
    move |below| {
        state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (state ^ state >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        (mixed ^ mixed >> 31) as usize % below
    }
}

fn number(variable: &str) -> Option<u64> {
    std::env::var(variable).ok()?.parse().ok()
}

/// Starts a command and kills it after `wait`. Returns the duration of the command if it ended earlier.
fn kill_after(fixture: &Fixture, arguments: &[&str], wait: Duration) -> Option<Duration> {
    let begun = Instant::now();
    let mut child = fixture.command();
    let child = child.args(arguments).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
    let mut child = child.expect("the program starts");
    while begun.elapsed() < wait {
        if child.try_wait().expect("the status of the process is available").is_some() {
            return Some(begun.elapsed());
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    child.kill().expect("the process can be killed");
    child.wait().expect("the program ends");
    None
}

#[test]
fn a_kill_at_any_moment_leaves_the_old_index_or_the_new_one() {
    let kills = number("AURORA_TEST_KILLS").map_or(KILLS, |kills| kills as usize);
    let seed = number("AURORA_TEST_SEED").unwrap_or(7);
    let mut random = generator(seed);
    let fixture = repository();
    run_ok(&fixture, &["mem", "index", "-q"]);
    let other = repository();
    edit(&other, 1);
    run_ok(&other, &["mem", "index", "-q"]);
    run_ok(&other, &["mem", "export", "other.aur"]);
    let imported = digest(&other);
    let artefact = other.path("other.aur");
    let artefact = artefact.to_str().expect("the path is UTF-8");
    let commands: [&[&str]; 6] = [
        &["mem", "index", "-q"],
        &["mem", "index", "-q", "--memory", "1MiB"],
        &["mem", "index", "-q", "--force"],
        &["mem", "compact"],
        &["mem", "rebuild-bm25"],
        &["mem", "import", artefact],
    ];
    // The duration of each command, to kill it while it runs.
    let mut lasts = [Duration::from_millis(400); 6];
    let (mut dead, mut old, mut new) = (0, 0, 0);
    for round in 0.. {
        if dead == kills {
            break;
        }
        assert!(round < 5 * kills + 20, "{dead} of {round} runs could be killed");
        let before = digest(&fixture);
        if random(4) > 0 {
            edit(&fixture, round);
        }
        let command = random(commands.len());
        // Late kills are more frequent than early ones, because the publication comes last.
        let share = random(1050).max(random(1050));
        let wait = lasts[command].mul_f64(share as f64 / 1000.0);
        if let Some(lasted) = kill_after(&fixture, commands[command], wait) {
            lasts[command] = lasted;
            continue;
        }
        dead += 1;
        let what = format!("round {round} of seed {seed}: {:?} killed after {wait:?}", commands[command]);
        let found = digest(&fixture);
        if found == before {
            old += 1
        } else {
            new += 1
        }
        // Sometimes there is no recovery before the next kill.
        if random(3) > 0 || found != before {
            let fresh = fresh_digest(&fixture);
            let is_import = commands[command].contains(&"import");
            assert!(found == before || found == fresh || (is_import && found == imported), "{what}");
            assert_recovers(&fixture, fresh.as_ref(), &what);
        }
    }
    eprintln!("{dead} kills: {old} left the old index, {new} the new one");
}
