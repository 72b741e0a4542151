//! A test of several threads that read and write one memory, each with a separate handle.

use std::sync::Arc;

use aurora_memory::{Memory, MemoryPlace, MemoryRules, NewTurn, Owner, Placement, Scope, Visibility};
use aurora_memory_schema::Kind;
use aurora_project::{SearchRequest, Searchers};
use aurora_query::{Mode, Query, SearchConfig};
use serde_json::json;

use crate::content::draft;
use crate::own_home::{directory, run_in};

const THREADS: usize = 4;
const ROUNDS: usize = 8;
const NOW: i64 = 1_800_000_000;

/// Adds a turn that contains a unique word, and checks that a search for the word finds the turn.
fn add_and_find(memory: &Memory, thread: usize, round: usize) {
    let (session, word) = (format!("s{thread}"), format!("unique{}", thread * ROUNDS + round));
    let text = format!("A turn about {word} and endurance");
    let turn = NewTurn { session: &session, speaker: "user", text: &text, reply_to: None, time: NOW };
    let id = memory.add_turn(&turn, Scope::Session, NOW).expect("the turn is valid");
    assert_eq!(id, format!("turn:{session}:{}", round + 1));
    let visibility = Visibility { scope: Some(Scope::Session), session: Some(session), ..Visibility::default() };
    let rules = Arc::new(MemoryRules::default());
    let searcher = memory.searcher(SearchConfig::default(), Mode::Sparse, &rules, &visibility).expect("opens");
    let searchers = Searchers::from(searcher.expect("there are entries"));
    let query = Query { mode: Mode::Sparse, ..Query::new(&word, NOW) };
    let found = searchers.search(&SearchRequest::new(query)).expect("the search succeeds").hits;
    assert!(found.iter().any(|hit| hit.key == id), "{word}: {found:?}");
}

#[test]
fn searches_see_earlier_writes_during_concurrent_writes() {
    run_in("several::searches_see_earlier_writes_during_concurrent_writes", || {
        let directory = directory();
        let open = || Memory::create(MemoryPlace::at(Owner::User, directory.path().join("memory"))).expect("opens");
        let note = draft(Kind::Note, &json!({ "content": { "text": "A note about endurance" } }), Some("note:shared"));
        open().add(note, &Placement { scope: Scope::User, session: None }, NOW).expect("the note is valid");
        std::thread::scope(|scope| {
            for thread in 0..THREADS {
                scope.spawn(move || {
                    for round in 0..ROUNDS {
                        let memory = open();
                        add_and_find(&memory, thread, round);
                        memory.tag("note:shared", &[&format!("t{thread}-{round}")], &[], NOW).expect("a valid tag");
                    }
                });
            }
        });
        let memory = open();
        let version = memory.get("note:shared").expect("readable").expect("the note exists");
        let document = version.document.expect("the note was not removed");
        assert_eq!(document["governance"]["compliance_tags"].as_array().map(Vec::len), Some(THREADS * ROUNDS));
        let snapshot = memory.snapshot().expect("the index can be updated").expect("there are entries");
        assert_eq!(snapshot.live().len() as usize, THREADS * ROUNDS + 1);
    });
}
