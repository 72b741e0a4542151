//! Damaged, foreign and unfinished stores other than the index. A search ignores damaged and foreign stores and adds a
//! note. An unfinished store counts as empty.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::process::Outcome;
use crate::sandbox::Sandbox;
use crate::{Attack, FORCE, assert_withstands, ensure};

const ASK: &[&str] = &["mem", "search", "parse_token", "--format", "json", "--no-record"];
const TAG: &[&str] = &["mem", "tag", "code:src/token.py:parse_token", "mine"];
const TAGGED: &[&str] = &["mem", "search", "parse_token", "--where", "tags=mine", "--format", "json", "--no-record"];
const TURN: &[&str] = &["mem", "turn", "add", "--session", "s", "--speaker", "user", "parse_token is slow"];
const USER_NOTE: &[&str] =
    &["mem", "turn", "add", "--session", "s", "--speaker", "user", "--scope", "user", "parse_token is slow"];
const NOTE: &[&str] =
    &["mem", "turn", "add", "--session", "s", "--speaker", "user", "--scope", "project", "parse_token"];
const RECORD: &[&str] = &["mem", "search", "parse_token"];

/// A store, with the command that creates it and a function that returns its directory.
struct Store {
    name: &'static str,
    create: &'static [&'static str],
    directory: fn(&Sandbox) -> PathBuf,
    /// Whether the store contains entries of memory.
    is_memory: bool,
}

const STORES: [Store; 4] = [
    Store { name: "tags", create: TAG, directory: |sandbox| sandbox.path(".aurora/annotations"), is_memory: false },
    Store { name: "access", create: RECORD, directory: |sandbox| sandbox.path(".aurora/access"), is_memory: false },
    Store {
        name: "user-memory",
        create: TURN,
        directory: |sandbox| sandbox.home(".aurora/memory/entries"),
        is_memory: true,
    },
    Store {
        name: "memory",
        create: NOTE,
        directory: |sandbox| sandbox.path(".aurora/memory/entries"),
        is_memory: true,
    },
];

/// A change of a store. Its arguments are the directory of the store and the bytes of the data file.
type Change = fn(&Path, &[u8]);

fn put(directory: &Path, data: &[u8]) {
    // The file is replaced, so that the change is noticed even if the modification time stays the same.
    fs::remove_file(directory.join("data.mdb")).expect("the file can be removed");
    fs::write(directory.join("data.mdb"), data).expect("the file can be written");
}

/// States in which a process leaves a store if it dies while creating the store.
const UNFINISHED: &[(&str, Change)] = &[
    ("an empty file", |store, _| put(store, b"")),
    ("an empty file without a lock file", |store, _| {
        put(store, b"");
        fs::remove_file(store.join("lock.mdb")).expect("the file can be removed");
    }),
    ("zeros", |store, _| put(store, &[0; 8192])),
    ("a lock file alone", |store, _| fs::remove_file(store.join("data.mdb")).expect("the file can be removed")),
    ("an empty directory", |store, _| {
        fs::remove_dir_all(store).expect("the directory can be removed");
        fs::create_dir(store).expect("the directory can be created");
    }),
];

const DAMAGED: &[(&str, Change)] = &[
    ("the first page", |store, data| put(store, &data[..4096])),
    ("cut within a page", |store, data| put(store, &data[..data.len() - 1_000])),
    ("cut in half", |store, data| put(store, &data[..data.len() / 2])),
    ("text", |store, _| put(store, "no store ".repeat(2_000).as_bytes())),
    ("a mebibyte of zeros", |store, _| put(store, &vec![0; 1 << 20])),
    ("changed bytes", |store, data| {
        let mut data = data.to_vec();
        for at in (8192..data.len()).step_by(97) {
            data[at] ^= 0x40;
        }
        put(store, &data);
    }),
    ("a directory instead of the file", |store, _| {
        fs::remove_file(store.join("data.mdb")).expect("the file can be removed");
        fs::create_dir(store.join("data.mdb")).expect("the directory can be created");
    }),
    ("a file instead of the directory", |store, _| {
        fs::remove_dir_all(store).expect("the directory can be removed");
        fs::write(store, "a file").expect("the file can be written");
    }),
    ("a link", |store, _| {
        fs::rename(store.join("data.mdb"), store.join("other.mdb")).expect("the path can be renamed");
        std::os::unix::fs::symlink("other.mdb", store.join("data.mdb")).expect("the link can be created");
    }),
    ("a link instead of the lock file", |store, _| {
        fs::remove_file(store.join("lock.mdb")).expect("the file can be removed");
        std::os::unix::fs::symlink("/dev/zero", store.join("lock.mdb")).expect("the link can be created");
    }),
    ("a pipe", |store, _| {
        fs::remove_file(store.join("data.mdb")).expect("the file can be removed");
        let made = Command::new("mkfifo").arg(store.join("data.mdb")).status();
        assert!(made.is_ok_and(|status| status.success()), "a pipe can be made");
    }),
];

fn create(sandbox: &Sandbox, store: &Store) {
    let made = sandbox.run(&mut sandbox.aur(store.create));
    assert_eq!(made.code, Some(0), "{}", made.summary());
}

/// Creates an attack for each store in each state.
fn on_each(
    changes: &'static [(&'static str, Change)],
    attack: impl Fn(&'static Store, Attack) -> Attack,
) -> Vec<Attack> {
    let mut attacks = Vec::new();
    for store in &STORES {
        for &(what, change) in changes {
            let build = move |sandbox: &Sandbox| {
                create(sandbox, store);
                let directory = (store.directory)(sandbox);
                let data = fs::read(directory.join("data.mdb")).expect("the file can be read");
                change(&directory, &data);
            };
            attacks.push(attack(store, Attack::on_indexed(format!("{}: {what}", store.name), build)));
        }
    }
    attacks
}

/// Checks that a search finds the code, and returns the notes of the answer.
fn notes(outcome: &Outcome) -> Result<Vec<String>, String> {
    ensure(outcome.code == Some(0), "the search succeeds")?;
    let answer = outcome.json();
    ensure(answer["results"].to_string().contains("src/token.py"), "the code is found")?;
    let notes = answer["notes"].as_array().cloned().unwrap_or_default();
    Ok(notes.iter().filter_map(|note| note.as_str().map(str::to_owned)).filter(|note| is_about_stores(note)).collect())
}

fn is_about_stores(note: &str) -> bool {
    ["without tags", "without access history", "left out"].iter().any(|part| note.contains(part))
}

#[test]
fn an_unfinished_store_counts_as_empty() {
    assert_withstands(on_each(UNFINISHED, |store, attack| {
        attack
            .run(ASK)
            .run(&["mem", "recall", "parse_token", "--format", "json"])
            .run(&["mem", "list"])
            .run(store.create)
            .run(ASK)
            .run(&["doctor"])
            .expect(|_, outcomes| {
                for place in [0, 4] {
                    let notes = notes(&outcomes[place])?;
                    ensure(notes.is_empty(), &format!("nothing is left out: {notes:?}"))?;
                }
                ensure(outcomes.iter().all(|outcome| outcome.code == Some(0)), "every command succeeds")
            })
    }));
}

#[test]
fn a_search_continues_without_a_damaged_store_and_names_it_once() {
    assert_withstands(on_each(DAMAGED, |store, attack| {
        attack
            .run(ASK)
            .run(TAGGED)
            .run(&["mem", "recall", "parse_token", "--format", "json"])
            .run(&["mem", "graph", "parse_token", "--callers"])
            .run(&["mem", "index", "-q"])
            .run(ASK)
            .run(&["mem", "list"])
            .run(&["doctor"])
            .expect(move |sandbox, outcomes| {
                let directory = (store.directory)(sandbox).display().to_string();
                let notes = notes(&outcomes[0])?;
                // Exactly one note names the store and the remedy.
                ensure(notes.len() <= 1, &format!("there is one note: {notes:?}"))?;
                let is_named = |note: &String| {
                    note.contains(&directory)
                        && ["move", "remove", "again", "starts a new one"].iter().any(|way| note.contains(way))
                };
                ensure(
                    notes.iter().all(is_named) && !notes.is_empty(),
                    &format!("the note names the remedy: {notes:?}"),
                )?;
                for place in [1, 2, 3, 4] {
                    ensure(outcomes[place].code == Some(0), "no command fails because of the store")?;
                }
                self::notes(&outcomes[5])?;
                // `aur mem list` fails if no memory can be used.
                ensure(outcomes[6].code == Some(if store.is_memory { 2 } else { 0 }), "`aur mem list`")?;
                // `aur mem recall` has replaced a damaged access history by a new one.
                let is_named = outcomes[7].out.contains(&directory) || store.name == "access";
                ensure(matches!(outcomes[7].code, Some(0 | 1)) && is_named, "the doctor names the store")
            })
    }));
}

/// Overwrites a page of a memory's index, which is derived from the entries of the memory. The file is written in
/// place, so its inode stays the same.
fn damage_index(sandbox: &Sandbox, store: &Store, page: usize) {
    let asked = sandbox.run(&mut sandbox.aur(ASK));
    assert_eq!(asked.code, Some(0), "{}", asked.summary());
    let file = (store.directory)(sandbox).with_file_name(".aurora").join("index/data.mdb");
    let mut data = fs::read(&file).expect("the file can be read");
    data[page * 4096..][..4096].fill(0xa5);
    fs::write(file, data).expect("the file can be written");
}

/// Creates attacks that damage a page of the index of each memory. Each memory contains an entry that every search
/// finds.
fn on_each_index(page: usize, attack: impl Fn(Attack, &'static [&'static str]) -> Attack) -> [Attack; 2] {
    let damaged = |store: &'static Store, add: &'static [&'static str]| {
        let build = move |sandbox: &Sandbox| {
            let added = sandbox.run(&mut sandbox.aur(add));
            assert_eq!(added.code, Some(0), "{}", added.summary());
            damage_index(sandbox, store, page);
        };
        Attack::on_indexed(format!("index of {}: page {page}", store.name), build)
    };
    let [_, _, user, project]: &'static [Store; 4] = &STORES;
    [
        attack(damaged(user, USER_NOTE), &["mem", "verify", "--memory", "user"]),
        attack(damaged(project, NOTE), &["mem", "verify", "--memory", "project"]),
    ]
}

/// Checks that a search finds the entry, and returns the number of notes about rebuilding the index.
fn rebuilds(outcome: &Outcome) -> Result<usize, String> {
    ensure(outcome.code == Some(0) && outcome.out.contains("turn:s:1"), "the entry is found")?;
    let notes = outcome.json()["notes"].as_array().cloned().unwrap_or_default();
    Ok(notes.iter().filter(|note| note.to_string().contains("rebuilt from the entries")).count())
}

#[test]
fn checks_find_a_damaged_memory_index_and_a_search_rebuilds_it() {
    assert_withstands([6, 8, 11, 14].into_iter().flat_map(|page| {
        on_each_index(page, |attack, verify| {
            attack.run(verify).run(&["mem", "verify"]).run(&["doctor"]).run(ASK).run(ASK).run(verify).expect(
                move |_, outcomes| {
                    for outcome in &outcomes[..2] {
                        let is_named = outcome.code == Some(1) && outcome.err.contains("aur mem index --force");
                        ensure(is_named, "a check finds the damage and names the remedy")?;
                    }
                    let is_named = outcomes[2].out.contains("aur mem index --force");
                    ensure(outcomes[2].code == Some(1) && is_named, "the doctor names the remedy")?;
                    ensure(notes(&outcomes[3])?.is_empty(), "nothing is left out")?;
                    let [first, second] = [rebuilds(&outcomes[3])?, rebuilds(&outcomes[4])?];
                    // Every search reads page 11, so the damage must be noticed.
                    ensure(first == 1 || (first == 0 && page != 11), "there is one note")?;
                    ensure(second == 0, "the second search rebuilds nothing")?;
                    ensure(first == 0 || outcomes[5].code == Some(0), "the new index is valid")
                },
            )
        })
    }));
}

#[test]
fn a_recall_rebuilds_a_damaged_memory_index() {
    assert_withstands(on_each_index(11, |attack, verify| {
        attack.run(&["mem", "recall", "parse_token", "--format", "json"]).run(verify).expect(|_, outcomes| {
            ensure(rebuilds(&outcomes[0])? == 1, "there is one note")?;
            ensure(outcomes[1].code == Some(0), "the new index is valid")
        })
    }));
}

#[test]
fn a_forced_run_rebuilds_a_damaged_memory_index() {
    assert_withstands(on_each_index(11, |attack, verify| {
        attack.run(FORCE).run(verify).run(&["mem", "verify"]).run(ASK).expect(|_, outcomes| {
            ensure(outcomes.iter().all(|outcome| outcome.code == Some(0)), "every command succeeds")?;
            ensure(rebuilds(&outcomes[3])? == 0, "a search finds no damage")
        })
    }));
}

#[test]
fn a_code_search_works_if_a_damaged_memory_index_cannot_be_rebuilt() {
    let build = |sandbox: &Sandbox| {
        // Every search reads the note, in contrast to the turns of a session.
        let added = sandbox.run(&mut sandbox.aur(USER_NOTE));
        assert_eq!(added.code, Some(0), "{}", added.summary());
        damage_index(sandbox, &STORES[2], 11);
        // A directory in place of the lock file prevents rebuilding the index.
        let lock = sandbox.home(".aurora/memory/.aurora/writer.lock");
        let _ = fs::remove_file(&lock);
        fs::create_dir(lock).expect("the directory can be created");
    };
    assert_withstands([Attack::on_indexed("index of user-memory: damaged and not writable", build).run(ASK).expect(
        |_, outcomes| {
            let notes = notes(&outcomes[0])?;
            ensure(notes.len() == 1 && notes[0].contains("cannot be rebuilt"), &format!("there is one note: {notes:?}"))
        },
    )]);
}

/// Creates a store that belongs to another user, as if the repository had contained it.
fn create_foreign(sandbox: &Sandbox, store: &Store) {
    let mut command = sandbox.aur(store.create);
    let other = sandbox.home("../other");
    fs::create_dir_all(&other).expect("the directory can be created");
    command.env("HOME", &other).env("AURORA_HOME", other.join(".aurora")).env("AURORA_TRUST_INDEX", "1");
    let made = sandbox.run(&mut command);
    assert_eq!(made.code, Some(0), "{}", made.summary());
    fs::remove_dir_all(other).expect("the directory can be removed");
}

#[test]
fn a_store_from_a_repository_is_unused_until_it_is_trusted() {
    let brought = STORES.iter().filter(|store| store.name != "user-memory");
    assert_withstands(brought.map(|store| {
        let accept: &'static [&'static str] = match store.name {
            "tags" => &["mem", "trust-index", "tags"],
            "access" => &["mem", "trust-index", "access"],
            _ => &["mem", "trust-index", "memory"],
        };
        let build = move |sandbox: &Sandbox| {
            let _ = fs::remove_dir_all((store.directory)(sandbox));
            create_foreign(sandbox, store);
        };
        Attack::on_indexed(format!("{} of another user", store.name), build)
            .run(ASK)
            .run(store.create)
            .run(ASK)
            .run(&["mem", "trust-index"])
            .run(accept)
            .run(ASK)
            .run(store.create)
            .expect(move |_, outcomes| {
                for place in [0, 2] {
                    let notes = notes(&outcomes[place])?;
                    let is_named = notes.len() == 1 && notes[0].contains(&format!("trust-index {}", store.name));
                    ensure(is_named, &format!("one note names the remedy: {notes:?}"))?;
                }
                // A search that cannot record its results succeeds nevertheless. All other commands that write fail.
                let is_refused = outcomes[1].code == Some(2) && outcomes[1].err.contains("trust-index");
                ensure(is_refused || store.name == "access", "a write is refused with the remedy")?;
                ensure(
                    outcomes[3].code == Some(0) && outcomes[3].out.contains("trusted"),
                    "the only foreign store is accepted",
                )?;
                ensure(outcomes[4].code == Some(0), "the store can be trusted by name")?;
                ensure(notes(&outcomes[5])?.is_empty(), "searches use the trusted store")?;
                ensure(outcomes[6].code == Some(0), "commands write to the trusted store")
            })
    }));
}

#[test]
fn stores_from_a_repository_are_trusted_one_at_a_time() {
    let build = |sandbox: &Sandbox| {
        for store in [&STORES[0], &STORES[3]] {
            create_foreign(sandbox, store);
        }
    };
    assert_withstands([Attack::on_indexed("tags and a memory of another user", build)
        .run(&["mem", "trust-index"])
        .run(&["mem", "trust-index", "memory"])
        .run(TAG)
        .run(&["mem", "trust-index", "tags"])
        .run(TAG)
        .expect(|_, outcomes| {
            let asked = &outcomes[0];
            ensure(
                asked.code == Some(2) && asked.err.contains("trust-index tags"),
                "the command asks which store to trust",
            )?;
            ensure(
                outcomes[1].code == Some(0) && outcomes[1].err.contains("trust-index tags"),
                "the message names the other store",
            )?;
            ensure(outcomes[2].code == Some(2), "the tags are not accepted with the memory")?;
            ensure(
                outcomes[3].code == Some(0) && outcomes[4].code == Some(0),
                "the tags are accepted when they are named",
            )
        })]);
}

#[test]
fn texts_of_the_user_are_private_for_every_umask() {
    let with_umask_zero =
        |arguments: &'static [&'static str]| move |sandbox: &Sandbox| sandbox.aur_after("umask 0", arguments);
    let loosen = |sandbox: &Sandbox| {
        create(sandbox, &STORES[2]);
        for path in [".aurora/memory", ".aurora/memory/entries"] {
            sandbox.mode(sandbox.home(path), 0o755);
        }
        sandbox.mode(sandbox.home(".aurora/memory/entries/data.mdb"), 0o644);
    };
    assert_withstands([Attack::on_indexed("a umask of zero", loosen)
        .run_with(with_umask_zero(TURN))
        .run_with(with_umask_zero(NOTE))
        .run_with(with_umask_zero(TAG))
        .run_with(with_umask_zero(&["mem", "search", "parse_token"]))
        .run_with(with_umask_zero(&["log", "write", "--query", "token", "docs/guide.md"]))
        .run_with(with_umask_zero(&["mem", "export", "--memory", "user", ".aurora/memory.jsonl"]))
        .expect(|sandbox, outcomes| {
            ensure(outcomes.iter().all(|outcome| outcome.code == Some(0)), "every command succeeds")?;
            let mut loose = Vec::new();
            for place in ["memory", "logs", "state/indexes"] {
                add_loose(&sandbox.home(&format!(".aurora/{place}")), &mut loose);
            }
            for place in ["memory", "annotations", "memory.jsonl"] {
                add_loose(&sandbox.path(format!(".aurora/{place}")), &mut loose);
            }
            ensure(loose.is_empty(), &format!("others may use {loose:?}"))
        })]);
}

/// Adds to `loose` each path at or below `path` that other users may access in any way.
fn add_loose(path: &Path, loose: &mut Vec<String>) {
    use std::os::unix::fs::PermissionsExt as _;

    let found = path.symlink_metadata().unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    if found.permissions().mode() & 0o077 != 0 {
        loose.push(path.display().to_string());
    }
    if found.is_dir() {
        for entry in path.read_dir().expect("the directory can be read") {
            add_loose(&entry.expect("the entry can be read").path(), loose);
        }
    }
}
