//! Access records and judgements: counting, keeping, renaming and removing them.

use std::collections::BTreeSet;

use aurora_storage::{AccessLog, AccessRecord, Judgements, KnownIndexes, Verdict};
use proptest::prelude::*;

use crate::repository::directory;

#[test]
fn judgements_are_counted_apart_from_accesses_and_follow_a_rename() {
    let directory = directory();
    let log = AccessLog::open(directory.path(), &KnownIndexes::accepting_all()).expect("the log can be opened");
    log.judge(Verdict::Good, &[("old", 10), ("other", 20)]).expect("the accesses can be recorded");
    log.judge(Verdict::Bad, &[("old", 5)]).expect("the accesses can be recorded");
    log.record(&[("new", 30)]).expect("the accesses can be recorded");
    log.rename("old", "new").expect("the record can be renamed");
    assert_eq!(log.get("old").expect("the log can be read"), None);
    let record = log.get("new").expect("the log can be read").expect("the record exists");
    let counts = Verdict::ALL.map(|verdict| record.judgements.count(verdict));
    assert_eq!((record.count, counts, record.judgements.last()), (1, [1, 0, 0, 1], Some(10)));
    let other = log.get("other").expect("the log can be read").expect("the record exists");
    assert_eq!((other.count, other.recent.len(), other.newest()), (0, 0, Some(20)));
}

/// Merges access histories as an import does.
#[test]
fn a_copy_of_a_record_counts_once() {
    let directory = directory();
    let log = AccessLog::open(directory.path(), &KnownIndexes::accepting_all()).expect("the log can be opened");
    log.record(&[("a", 10), ("a", 20)]).expect("the accesses can be recorded");
    log.judge(Verdict::Good, &[("a", 15)]).expect("the accesses can be recorded");
    let copy = log.get("a").expect("the log can be read").expect("the record exists");
    log.record(&[("a", 30)]).expect("the accesses can be recorded");
    let other =
        AccessRecord { count: 7, last: 25, recent: vec![20, 25], judgements: Judgements::from_counts([0, 3, 0, 0], 5) };
    let nothing = AccessRecord::default();
    let copies = [("a", copy), ("b", other.clone()), ("c", nothing)];
    assert_eq!(log.raise(&copies).expect("the records can be merged"), 1);
    let transaction = log.get_many(&["a", "b", "c"]).expect("the log can be read");
    assert_eq!(log.raise(&copies).expect("the records can be merged"), 0);
    assert_eq!(log.get_many(&["a", "b", "c"]).expect("the log can be read"), transaction);
    let a = transaction[0].as_ref().expect("the record exists");
    assert_eq!((a.count, a.last, &a.recent[..], a.judgements.count(Verdict::Good)), (3, 30, &[10, 20, 30][..], 1));
    assert_eq!((transaction[1].as_ref(), transaction[2].as_ref()), (Some(&other), None));
    assert_eq!(log.raise(&[("a", other)]).expect("the records can be merged"), 1);
    let a = log.get("a").expect("the log can be read").expect("the record exists");
    assert_eq!((a.count, &a.recent[..], a.judgements.count(Verdict::Helpful)), (7, &[10, 20, 25, 30][..], 3));
    assert_eq!(log.raise(&[]).expect("the records can be merged"), 0);
}

/// Concurrent searches and feedback. In this test, threads with separate logs stand in for processes.
#[test]
fn no_update_of_concurrent_writers_is_lost() {
    const ROUNDS: u32 = 20;
    let directory = directory();
    std::thread::scope(|scope| {
        for verdict in Verdict::ALL {
            let path = directory.path();
            scope.spawn(move || {
                for _ in 0..ROUNDS {
                    let log = AccessLog::open(path, &KnownIndexes::accepting_all()).expect("the log can be opened");
                    log.record(&[("a", 1), ("b", 2)]).expect("the accesses can be recorded");
                    log.judge(verdict, &[("a", 3)]).expect("the accesses can be recorded");
                }
            });
        }
    });
    let log = AccessLog::open(directory.path(), &KnownIndexes::accepting_all()).expect("the log can be opened");
    let records = log.get_many(&["a", "b"]).expect("the log can be read");
    let (a, b) = (records[0].clone().expect("the record exists"), records[1].clone().expect("the record exists"));
    assert_eq!((a.count, b.count), (u64::from(4 * ROUNDS), u64::from(4 * ROUNDS)));
    assert!(Verdict::ALL.iter().all(|&verdict| a.judgements.count(verdict) == ROUNDS));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    #[test]
    fn a_sweep_removes_only_missing_chunks_that_are_old_or_beyond_the_limit(
        times in prop::collection::vec(0i64..100, 1..30), live in prop::collection::btree_set(0usize..30, 0..20),
        since in 0i64..100, most in 0usize..20,
    ) {
        let directory = directory();
        let log = AccessLog::open(directory.path(), &KnownIndexes::accepting_all()).expect("the log can be opened");
        let keys: Vec<String> = (0..times.len()).map(|at| format!("code:{at:02}")).collect();
        for (at, (key, &time)) in keys.iter().zip(&times).enumerate() {
            // Records with only judgements are kept as long as records with only accesses.
            match at % 2 {
                0 => log.record(&[(key, time)]),
                _ => log.judge(Verdict::Good, &[(key, time)]),
            }
            .expect("the accesses can be recorded");
        }
        let is_live = |key: &str| Ok(keys.iter().position(|other| other == key).is_some_and(|at| live.contains(&at)));
        let mut gone: Vec<usize> = (0..times.len()).filter(|at| !live.contains(at)).collect();
        gone.sort_by_key(|&at| std::cmp::Reverse((times[at], keys[at].clone())));
        let kept: BTreeSet<usize> = gone.iter().copied().take(most).filter(|&at| times[at] >= since).collect();

        let forgotten = log.sweep(is_live, since, most).expect("the log can be swept");
        prop_assert_eq!(forgotten, gone.len() - kept.len());
        for (at, key) in keys.iter().enumerate() {
            let is_there = log.get(key).expect("the log can be read").is_some();
            prop_assert_eq!(is_there, live.contains(&at) || kept.contains(&at), "{}", key);
        }
        prop_assert_eq!(log.sweep(is_live, since, most).expect("the log can be swept"), 0);
    }
}
