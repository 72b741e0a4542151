//! Processes that write to a memory are killed at random moments, while other processes write.

use std::collections::BTreeSet;

use crate::random::number;
use crate::store::Store;
use crate::writer::{SESSION, WORD, Writer, Written};

/// Number of kills, unless `AURORA_TEST_KILLS` overrides it.
const KILLS: usize = 40;
const WRITERS: usize = 3;

#[test]
fn a_kill_at_any_moment_loses_no_acknowledged_write() {
    let kills = number("AURORA_TEST_KILLS").map_or(KILLS, |kills| kills as usize);
    let seed = number("AURORA_TEST_SEED").unwrap_or(11);
    let store = Store::on_disk();
    let written: Vec<Written> = std::thread::scope(|scope| {
        let writers = (0..WRITERS).map(|number| {
            let share = (kills + number) / WRITERS;
            let writer = Writer::new(&store, number, seed);
            scope.spawn(move || writer.run(share))
        });
        // Collecting starts all writers. Otherwise each writer would end before the next one starts.
        let writers: Vec<_> = writers.collect();
        writers.into_iter().map(|writer| writer.join().expect("the writer does not panic")).collect()
    });
    let documents = store.documents();
    check_notes(&documents.keys().collect(), &written);
    for (id, document) in written.iter().flat_map(|written| &written.notes) {
        assert_eq!(documents.get(id), Some(document), "{id}");
    }
    let turns: BTreeSet<&String> = documents.keys().filter(|id| id.starts_with("turn:")).collect();
    // There must be no gaps in the numbers, even if some turns were not acknowledged.
    let expected: BTreeSet<String> = (1..=turns.len()).map(|number| format!("turn:{SESSION}:{number}")).collect();
    assert!(turns.iter().copied().eq(&expected), "{turns:?}");
    let mut acknowledged = BTreeSet::new();
    for (id, text) in written.iter().flat_map(|written| &written.turns) {
        assert!(acknowledged.insert(id), "two turns have the id {id}");
        assert_eq!(documents.get(id).expect("the entry exists")["content"]["text"], *text, "{id}");
    }
    let unknown: usize = written.iter().map(|written| written.unknown_turns).sum();
    assert!(turns.len() - acknowledged.len() <= unknown, "{turns:?}");
    let found: BTreeSet<String> = store.search(WORD).into_iter().collect();
    assert!(found.iter().eq(documents.keys()), "a search finds other entries: {found:?}");
    let sum = |count: fn(&Written) -> usize| written.iter().map(count).sum::<usize>();
    eprintln!(
        "{} kills, {} acknowledged writes and answers, {} entries, {} turns of unknown outcome, {} of them stored",
        sum(|written| written.kills),
        sum(|written| written.acknowledged),
        documents.len(),
        unknown,
        turns.len() - acknowledged.len(),
    );
}

/// Asserts that the stored notes are exactly those that the writers have recorded.
fn check_notes(ids: &BTreeSet<&String>, written: &[Written]) {
    let notes = ids.iter().copied().filter(|id| id.starts_with("note:"));
    let known: BTreeSet<&String> = written.iter().flat_map(|written| written.notes.keys()).collect();
    assert!(notes.eq(known.iter().copied()), "{ids:?}, {known:?}");
}
