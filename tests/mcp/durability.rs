//! Acknowledged entries survive the death of the server, and concurrent servers lose no entries.
//!
//! `AURORA_TEST_KILLS` sets the number of servers that are killed at random moments, and `AURORA_TEST_SEED` repeats the
//! kills of an earlier run.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::{Value, json};

use crate::client::Client;
use crate::fixture::Fixture;

/// Number of kills, unless `AURORA_TEST_KILLS` overrides it.
const KILLS: u64 = 30;
/// Number of entries that a client sends before its server is killed.
const ENTRIES: u64 = 60;
/// Maximum time until a server is killed, in milliseconds.
const MAX_WAIT: u64 = 400;

fn number(variable: &str) -> Option<u64> {
    std::env::var(variable).ok()?.parse().ok()
}

/// Returns the texts of all notes of the project, by id.
fn stored(fixture: &Fixture) -> BTreeMap<String, String> {
    let list = fixture.aur(&["mem", "list", "--memory", "project", "--format", "json"]);
    assert_eq!(list.code, Some(0), "{list:?}");
    let text = |value: &Value| value.as_str().expect("the value is a string").to_owned();
    let entries = list.json().as_array().expect("the value is a list").clone();
    entries.iter().map(|entry| (text(&entry["id"]), text(&entry["content"]["text"]))).collect()
}

/// Returns the id in the answer to `remember`; `None` if the entry was not stored.
fn stored_id(answer: &Value) -> Option<String> {
    let outcome: Value = serde_json::from_str(answer["result"]["content"][0]["text"].as_str()?).ok()?;
    outcome["stored"].as_bool()?.then(|| outcome["id"].as_str().map(str::to_owned))?
}

fn remember(id: u64, text: &str) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {
        "name": "remember", "arguments": {"kind": "note", "content": text}
    }})
}

#[test]
fn a_kill_at_any_moment_loses_no_acknowledged_entry() {
    let (kills, mut seed) = (number("AURORA_TEST_KILLS").unwrap_or(KILLS), number("AURORA_TEST_SEED").unwrap_or(5));
    let fixture = Fixture::plain();
    let (mut acknowledged, mut cut_short) = (BTreeMap::new(), 0);
    for round in 0..kills {
        let mut client = Client::start(&fixture, &["--root", "."]);
        let text = |id: u64| format!("Entry {id} of round {round} {}", "and more ".repeat(round as usize % 50));
        let messages: Vec<Value> = (0..ENTRIES).map(|id| remember(id + 10, &text(id))).collect();
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let answers = client.send_and_kill(&messages, Duration::from_millis((seed >> 33) % MAX_WAIT));
        cut_short += u64::from((answers.len() as u64) < ENTRIES);
        for answer in answers {
            let id = stored_id(&answer).unwrap_or_else(|| panic!("{answer}"));
            let number = answer["id"].as_u64().expect("the id is a number") - 10;
            let text = text(number).trim_end().to_owned();
            assert_eq!(acknowledged.insert(id.clone(), text), None, "two entries have the id {id}");
        }
    }
    let stored = stored(&fixture);
    for (id, text) in &acknowledged {
        assert_eq!(
            stored.get(id).map(|text| text.trim_end()),
            Some(text.as_str()),
            "an acknowledged entry is lost: {id}"
        );
    }
    let mut texts: Vec<&String> = stored.values().collect();
    texts.sort_unstable();
    texts.dedup();
    assert_eq!(texts.len(), stored.len(), "an entry is stored twice");
    assert!(cut_short > 0, "every server was killed after its last answer");
    eprintln!(
        "{kills} kills, {cut_short} during calls, {} acknowledged of {} entries",
        acknowledged.len(),
        stored.len()
    );
}

#[test]
fn concurrent_servers_lose_no_entries() {
    let fixture = Fixture::plain();
    let ids: Vec<String> = std::thread::scope(|scope| {
        let run = |server: usize| {
            let fixture = &fixture;
            scope.spawn(move || {
                let mut client = Client::start(fixture, &["--root", "."]);
                let mut remember = |number: usize| {
                    let text = format!("Entry {number} of server {server}");
                    let (answer, is_error) = client.call("remember", json!({"kind": "note", "content": text}));
                    assert!(!is_error, "{answer}");
                    let answer: Value = serde_json::from_str(&answer).expect("the answer is JSON");
                    answer["id"].as_str().expect("the value is a string").to_owned()
                };
                (0..8).map(&mut remember).collect::<Vec<_>>()
            })
        };
        let servers: Vec<_> = (0..8).map(run).collect();
        servers.into_iter().flat_map(|server| server.join().expect("the thread does not panic")).collect()
    });
    let stored = stored(&fixture);
    assert_eq!(stored.len(), 64, "{stored:?}");
    assert!(ids.iter().all(|id| stored.contains_key(id)), "{ids:?}");
    let mut texts: Vec<&String> = stored.values().collect();
    texts.sort_unstable();
    texts.dedup();
    assert_eq!(texts.len(), 64, "{stored:?}");
}
