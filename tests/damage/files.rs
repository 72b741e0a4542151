//! Damage to the files next to the data file.

use std::fs;

use crate::fixture::Fixture;
use crate::{Remedy, UndamagedIndex};

use Remedy::{Blocked, Harmless, Missing, Refused};

/// A kind of damage: its name, the remedy, and a function that damages the files of an undamaged index.
type Kind = (&'static str, Remedy, fn(&Fixture));

const INDEX: &str = ".aurora/index";
const DATA: &str = ".aurora/index/data.mdb";
const LOCK: &str = ".aurora/index/lock.mdb";

fn examine_all(kinds: &[Kind]) {
    let undamaged = UndamagedIndex::new();
    for (name, remedy, inflict) in kinds {
        inflict(undamaged.restore());
        undamaged.examine(name, *remedy);
    }
}

fn rename(fixture: &Fixture, from: &str, to: &str) {
    fs::rename(fixture.path(from), fixture.path(to)).expect("the path can be renamed");
}

#[test]
fn damaged_lock_files_are_harmless() {
    examine_all(&[
        ("no lock file", Harmless, |_| {}),
        ("an empty lock file", Harmless, |fixture| {
            fixture.write(LOCK, "");
        }),
        ("a lock file of zeros", Harmless, |fixture| {
            fixture.write(LOCK, [0; 8192]);
        }),
        ("a short lock file", Harmless, |fixture| {
            fixture.write(LOCK, [7; 100]);
        }),
        ("a lock file of rubbish", Harmless, |fixture| {
            fixture.write(LOCK, [0xa5; 65_536]);
        }),
        ("a writer's lock that nobody holds", Harmless, |fixture| {
            fixture.write(".aurora/writer.lock", "99999\n");
        }),
        ("a writer's lock of rubbish", Harmless, |fixture| {
            fixture.write(".aurora/writer.lock", [0xff; 999]);
        }),
    ]);
}

#[test]
fn missing_or_misplaced_files_are_detected() {
    examine_all(&[
        ("no data file", Missing, |fixture| {
            fixture.remove(DATA);
        }),
        ("no index directory", Missing, |fixture| {
            fs::remove_dir_all(fixture.path(INDEX)).expect("the directory can be removed")
        }),
        ("an index that was being replaced", Harmless, |fixture| rename(fixture, INDEX, ".aurora/index.old")),
        ("an abandoned replacement", Harmless, |fixture| {
            fixture.write(".aurora/index.new/data.mdb", "half");
        }),
        ("a directory in the place of the data file", Refused, |fixture| {
            fixture.remove(DATA);
            fs::create_dir(fixture.path(DATA)).expect("the directory can be created");
        }),
        ("a file in the place of the index directory", Refused, |fixture| {
            fs::remove_dir_all(fixture.path(INDEX)).expect("the directory can be removed");
            fixture.write(INDEX, "here");
        }),
        ("a file in the place of the directory `.aurora`", Blocked, |fixture| {
            fs::remove_dir_all(fixture.path(".aurora")).expect("the directory can be removed");
            fixture.write(".aurora", "here");
        }),
        ("a directory in the place of the lock file", Blocked, |fixture| {
            fs::create_dir(fixture.path(LOCK)).expect("the directory can be created");
        }),
        ("a directory in the place of the writer's lock", Blocked, |fixture| {
            fs::create_dir(fixture.path(".aurora/writer.lock")).expect("the directory can be created");
        }),
        ("leftovers of a writer", Harmless, |fixture| {
            fixture.write(".aurora/tmp/run-0", [0xa5; 100]);
        }),
    ]);
}
