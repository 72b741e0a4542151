//! Damage to the access history. Results are ranked without the history, a note reports this, and the next search
//! starts a new history.

use std::fs;

use crate::UndamagedIndex;
use crate::fixture::Fixture;
use crate::pages::{ENTRIES, Layout, PAGE, ROOT, TRANSACTION};

/// The log, which is the data file of the access history.
const LOG: &str = ".aurora/access/data.mdb";
const NOTE: &str = "Ranked without access history";

/// A kind of damage: its name, and a function that damages the bytes of an undamaged log.
type Kind = (&'static str, fn(&mut Vec<u8>, &Layout));

fn search(fixture: &Fixture, more: &[&str]) -> serde_json::Value {
    let run = fixture.aur(&[&["mem", "search", "parse_token_7", "--format", "json"], more].concat());
    assert_eq!(run.code, Some(0), "{run:?}");
    run.json()
}

/// Returns whether a note reports that the history was ignored, and the scores.
fn note_and_scores(found: &serde_json::Value) -> (bool, Vec<serde_json::Value>) {
    let notes = found["notes"].as_array().expect("the value is a list");
    let is_noted = notes.iter().any(|note| note.as_str().is_some_and(|note| note.contains(NOTE)));
    let results = found["results"].as_array().expect("the value is a list");
    (is_noted, results.iter().map(|result| result["score"].clone()).collect())
}

#[test]
fn a_damaged_access_history_is_reported_and_replaced() {
    let undamaged = UndamagedIndex::new();
    let fixture = undamaged.restore();
    let (_, without) = note_and_scores(&search(fixture, &["--no-record"]));
    let found = search(fixture, &[]);
    let id = found["results"][4]["id"].as_str().expect("the value is a string");
    assert_eq!(fixture.aur(&["mem", "feedback", "good", id]).code, Some(0));
    let (is_noted, with) = note_and_scores(&search(fixture, &["--no-record"]));
    assert!(!is_noted && with != without, "{with:?} {without:?}");
    let log = fs::read(fixture.path(LOG)).expect("the file can be read");
    let layout = Layout::from_data(&log);

    let kinds: [Kind; 10] = [
        ("a bit of a record", |data, layout| data[layout.table("records").value().start + 1] ^= 0x10),
        ("a bit of a key", |data, layout| data[layout.table("records").value().start - 1] ^= 1),
        ("a bit of the signature", |data, layout| data[layout.table("format").value().start] ^= 1),
        ("one record fewer", |data, layout| data[layout.table("records").root() + 12] -= 2),
        ("no records", |data, layout| data[layout.table("records").record + ROOT..][..8].fill(0xff)),
        ("an invalid page type", |data, layout| data[layout.table("records").root() + 10] = 0x55),
        ("all pages lost", |data, _| data[2 * PAGE..].fill(0)),
        ("an earlier transaction", |data, layout| data[layout.meta + TRANSACTION] ^= 4),
        ("cut short", |data, _| data.truncate(PAGE + 100)),
        ("a text file", |data, _| *data = b"not a database ".repeat(1000)),
    ];
    for (name, inflict) in kinds {
        let mut data = log.clone();
        inflict(&mut data, &layout);
        check(&undamaged, name, &data, &without);
    }
    // Replace the log by the data file of an index. That file contains other tables than a log, as does a log that an
    // earlier version of the program has written.
    check(&undamaged, "another format", &undamaged.data, &without);
}

fn check(undamaged: &UndamagedIndex, name: &str, data: &[u8], without: &[serde_json::Value]) {
    let fixture = undamaged.restore();
    fixture.write(LOG, data);
    let (is_noted, scores) = note_and_scores(&search(fixture, &["--no-record"]));
    assert!(is_noted && scores == without, "{name}: {is_noted} {scores:?}");
    let table = fixture.aur(&["mem", "search", "parse_token_7", "--no-record"]);
    assert!(table.err.contains(NOTE), "{name}: {table:?}");
    assert!(fs::read(fixture.path(LOG)).expect("the file can be read") == data, "{name}: the log was modified");
    // The next search that records accesses starts a new log.
    let (is_noted, scores) = note_and_scores(&search(fixture, &[]));
    assert!(is_noted && scores == without, "{name}: {is_noted} {scores:?}");
    assert!(
        fs::read(fixture.path(".aurora/access.unusable/data.mdb")).expect("the file can be read") == data,
        "{name}"
    );
    let found = search(fixture, &["--no-record"]);
    assert!(!note_and_scores(&found).0 && found["results"][0]["access"]["count"] == 1, "{name}: {found}");
}

/// Before a command writes to a log, all pages of the log are checked. A search without a write does not detect damage
/// to pages that it does not read.
#[test]
fn an_access_history_is_checked_as_a_whole_before_each_write() {
    let undamaged = UndamagedIndex::new();
    let fixture = undamaged.restore();
    search(fixture, &[]);
    search(fixture, &[]);
    let mut data = fs::read(fixture.path(LOG)).expect("the file can be read");
    let layout = Layout::from_data(&data);
    data[layout.free.record + ENTRIES] += 1;
    fixture.write(LOG, &data);
    assert!(!note_and_scores(&search(fixture, &["--no-record"])).0);
    let id = search(fixture, &["--no-record"])["results"][0]["id"].as_str().expect("the value is a string").to_owned();
    let judged = fixture.aur(&["mem", "feedback", "good", &id]);
    assert!(judged.code == Some(0) && judged.err.contains("set aside and a new one was created"), "{judged:?}");
}
