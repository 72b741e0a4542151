//! Reading a truncated or changed file returns the correct value or an error, never another value, and never crashes.

use std::fs;

use aurora_storage::{KnownIndexes, OpenMode, RecordStore, StorageError};
use proptest::prelude::*;

use super::{LARGE, SMALL, TestDirectory, open};
use crate::mutation::{Mutation, Sites};

const PAGE: usize = 4096;

/// The answers to all queries to a store.
type Answers = Vec<Result<String, StorageError>>;

fn key(number: usize) -> Vec<u8> {
    format!("key:{number:04}").into_bytes()
}

fn value(number: usize, round: usize) -> Vec<u8> {
    let length = if number.is_multiple_of(23) { 9_000 } else { 20 + number % 90 };
    format!("{number} {round} ").into_bytes().into_iter().cycle().take(length).collect()
}

/// Returns the data file of a store with trees of several levels, large values and free pages.
fn valid_store() -> Vec<u8> {
    let test_dir = TestDirectory::new();
    let store = test_dir.open();
    for round in 0..3 {
        let write = store.write(|writer| {
            for number in (round..600).step_by(round + 1) {
                writer.put(SMALL, &key(number), &value(number, round))?;
            }
            for number in round..40 {
                writer.put(LARGE, &key(number), &value(number * 23, round))?;
            }
            (500..550 + round).try_for_each(|number| writer.delete(SMALL, &key(number)).map(drop))
        });
        write.expect("the records can be written");
    }
    drop(store);
    fs::read(test_dir.data()).expect("the file can be read")
}

/// Runs all queries.
fn run_queries(test_dir: &TestDirectory) -> Answers {
    let opened = open(&test_dir.home(), OpenMode::Existing, KnownIndexes::accepting_all());
    let (store, reader) = match opened.and_then(|store| Ok((store.read()?, store))) {
        Ok((reader, store)) => (store, reader),
        Err(error) => return vec![Err(error)],
    };
    let mut answers = Answers::new();
    for table in [SMALL, LARGE] {
        for number in 0..620 {
            answers.push(reader.get(table, &key(number)).map(|value| format!("{number} {value:?}")));
        }
        for number in [0, 17, 300, 505, 599, 700] {
            let records = reader.from(table, &key(number)).and_then(Iterator::collect::<Result<Vec<_>, _>>);
            answers.push(records.map(|records| format!("from {number} {records:?}")));
        }
        answers.push(reader.last(table).map(|last| format!("last {last:?}")));
    }
    answers.push(store.id().map(|id| format!("{id:?}")));
    answers
}

/// Returns the positions of the wrong answers, which are neither errors nor correct.
fn wrong(found: &Answers, right: &Answers) -> Vec<usize> {
    let is_wrong = |at: &usize| match (&found[*at], right.get(*at)) {
        (Ok(found), Some(Ok(right))) => found != right,
        (Ok(_), _) => true,
        (Err(_), _) => false,
    };
    (0..found.len()).filter(is_wrong).collect()
}

/// Writes to a store. If the write succeeds, all other records must be unchanged or errors.
fn write_to(test_dir: &TestDirectory, right: &Answers, what: &dyn std::fmt::Debug) {
    let write = |store: RecordStore| store.write(|writer| writer.put(SMALL, &key(0), &value(0, 0)));
    // A store without a record of the user is checked completely first.
    let written = open(&test_dir.home(), OpenMode::Existing, KnownIndexes::accepting_all()).and_then(write);
    if written.is_ok() {
        let found = run_queries(test_dir);
        assert_eq!(wrong(&found, right), [] as [usize; 0], "after a write: {what:?}");
        assert!(found.iter().all(Result::is_ok), "a damaged store was written to: {what:?}");
    }
}

/// Damage to a file.
#[derive(Debug, Clone)]
enum Damage {
    Flip {
        page: usize,
        at: usize,
        bit: u8,
    },
    Set {
        page: usize,
        at: usize,
        byte: u8,
    },
    Fill {
        page: usize,
        sector: usize,
        byte: u8,
    },
    Copy {
        from: usize,
        to: usize,
    },
    /// A copy of another page that keeps the page number of the overwritten page.
    Forge {
        from: usize,
        to: usize,
    },
    Truncate {
        length: usize,
    },
}

/// Damage anywhere, often in page headers, which contain the structure of the file, and in the meta pages.
fn any_damage(pages: usize) -> impl Strategy<Value = Damage> {
    let page = move || prop_oneof![6 => 0..pages, 1 => 0..2_usize];
    let at = || prop_oneof![1 => 0..PAGE, 1 => 0..64_usize];
    let byte = || prop_oneof![Just(0), Just(0xff), any::<u8>()];
    prop_oneof![
        6 => (page(), at(), 0..8_u8).prop_map(|(page, at, bit)| Damage::Flip { page, at, bit }),
        4 => (page(), at(), byte()).prop_map(|(page, at, byte)| Damage::Set { page, at, byte }),
        2 => (page(), 0..8_usize, byte()).prop_map(|(page, sector, byte)| Damage::Fill { page, sector, byte }),
        2 => (page(), page()).prop_map(|(from, to)| Damage::Copy { from, to }),
        1 => (2..pages, 2..pages).prop_map(|(from, to)| Damage::Forge { from, to }),
        1 => (0..pages * PAGE).prop_map(|length| Damage::Truncate { length }),
    ]
}

impl Damage {
    fn apply(&self, data: &mut Vec<u8>) {
        let pages = data.len() / PAGE;
        let start = |page: usize| page.min(pages.saturating_sub(1)) * PAGE;
        if pages == 0 {
            return;
        }
        match *self {
            Self::Flip { page, at, bit } => data[start(page) + at] ^= 1 << bit,
            Self::Set { page, at, byte } => data[start(page) + at] = byte,
            Self::Fill { page, sector, byte } => data[start(page) + sector * 512..][..512].fill(byte),
            Self::Copy { from, to } => data.copy_within(start(from)..start(from) + PAGE, start(to)),
            Self::Forge { from, to } => data.copy_within(start(from) + 8..start(from) + PAGE, start(to) + 8),
            Self::Truncate { length } => data.truncate(length),
        }
    }
}

/// A store with its correct answers.
struct Trial {
    test_dir: TestDirectory,
    data: Vec<u8>,
    right: Answers,
}

impl Trial {
    fn new() -> Self {
        let (test_dir, data) = (TestDirectory::new(), valid_store());
        test_dir.replace_data_file(&data);
        let right = run_queries(&test_dir);
        assert!(right.iter().all(Result::is_ok));
        Self { test_dir, data, right }
    }

    /// Runs all queries on a damaged file, then writes to it. Returns whether the damage was noticed.
    fn run(&self, damaged: &[u8], what: &dyn std::fmt::Debug) -> bool {
        self.test_dir.replace_data_file(damaged);
        let found = run_queries(&self.test_dir);
        let wrong = wrong(&found, &self.right);
        assert!(wrong.is_empty(), "{what:?}: {:?}", found[wrong[0]]);
        write_to(&self.test_dir, &self.right, what);
        found.iter().any(Result::is_err)
    }
}

/// Number of damaged files to test.
fn cases() -> u32 {
    std::env::var("AURORA_CORRUPTIONS").map_or(120, |count| count.parse().expect("the value is a number"))
}

#[test]
fn random_damage_never_yields_a_wrong_record() {
    let trial = Trial::new();
    let mut runner =
        proptest::test_runner::TestRunner::new(ProptestConfig { cases: cases(), ..ProptestConfig::default() });
    let noticed = std::cell::Cell::new(0);
    let damages = prop::collection::vec(any_damage(trial.data.len() / PAGE), 1..4);
    let tried = runner.run(&damages, |damages| {
        let mut damaged = trial.data.clone();
        damages.iter().for_each(|damage| damage.apply(&mut damaged));
        noticed.set(noticed.get() + u32::from(trial.run(&damaged, &damages)));
        Ok(())
    });
    tried.unwrap_or_else(|error| panic!("{error}"));
    assert!(noticed.get() > cases() / 4, "{} of {}", noticed.get(), cases());
}

#[test]
fn damage_to_the_structure_never_yields_a_wrong_record() {
    let trial = Trial::new();
    let sites = Sites::from_data(&trial.data);
    let first: u64 = std::env::var("AURORA_SEED").map_or(0, |seed| seed.parse().expect("the value is a number"));
    for seed in first..first + u64::from(cases()) {
        let mut damaged = trial.data.clone();
        let Mutation { what, .. } = sites.mutate(&mut damaged, seed);
        // A meta page that was rolled back is noticed by the signature of the previous generation, unless the signature
        // is damaged too.
        let may_be_unnoticed = what.contains("transaction in page") && what.matches(';').count() > 1;
        if !may_be_unnoticed {
            trial.run(&damaged, &what);
        }
    }
}

#[test]
fn truncated_files_are_recognised() {
    let trial = Trial::new();
    let lengths = (0..trial.data.len()).step_by(PAGE).flat_map(|page| [page, page + 1, page + 2_000]);
    let mut refused = 0;
    for length in lengths.chain([10, 100, 150]).filter(|&length| length < trial.data.len()) {
        trial.test_dir.replace_data_file(&trial.data[..length]);
        match run_queries(&trial.test_dir).as_slice() {
            // The first ten bytes of any file are zero.
            [Err(StorageError::NoIndex { .. })] if length <= 10 => {}
            [Err(error)] => {
                assert!(matches!(error, StorageError::DamagedRecords { .. }), "at {length}: {error}");
                refused += 1;
            }
            // Only free pages were lost.
            found => assert!(found.iter().all(Result::is_ok), "{length}"),
        }
    }
    assert!(refused > 50, "{refused}");
}
