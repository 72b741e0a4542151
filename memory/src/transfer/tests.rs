//! Tests of the transfer of entries from one memory to another.

use aurora_memory_policy::Scope;
use std::io::Cursor;
use std::path::Path;

use aurora_memory_schema::{Draft, Entry, Kind, read_json};
use aurora_storage::{AccessRecord, Judgements};
use proptest::prelude::*;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::{JsonLines, LineDefaults, Transfer, TransferReport, TransferredEntry};
use crate::memory::{Memory, Placement};
use crate::place::Owner;
use crate::session::NewTurn;

const NOW: i64 = 1_800_000_000;

/// A memory in a temporary directory. The directory is deleted when the value is dropped.
struct TestMemory {
    memory: Memory,
    directory: TempDir,
}

impl TestMemory {
    fn new(owner: Owner) -> Self {
        let directory = TempDir::new().expect("a temporary directory");
        Self { memory: Memory::for_test(owner, directory.path()), directory }
    }

    fn put(&self, entries: &[TransferredEntry]) -> TransferReport {
        self.memory.put_all(&mut entries.iter().cloned().map(Ok), NOW).expect("entries can be written")
    }

    fn plan(&self, entries: &[TransferredEntry]) -> TransferReport {
        let entries = &mut entries.iter().cloned().map(Ok);
        Memory::plan_all(Some(&self.memory), self.memory.place().owner(), entries).expect("entries can be read")
    }

    fn export(&self) -> String {
        let mut out = Vec::new();
        self.memory.export(&mut out, Path::new("memory.jsonl")).expect("entries can be read");
        String::from_utf8(out).expect("JSON is UTF-8")
    }

    fn import(&self, text: &str) -> TransferReport {
        self.memory.put_all(&mut lines(text), NOW).expect("entries can be written")
    }

    fn digest(&self) -> String {
        self.memory.digest().expect("entries can be read")
    }

    fn accesses(&self, ids: &[&str]) -> Vec<Option<AccessRecord>> {
        self.memory.accesses(ids)
    }
}

/// Creates a reader for lines, with the defaults of the user's memory.
fn lines(text: &str) -> JsonLines<'static, Cursor<String>> {
    let placement = Placement { scope: Scope::User, session: None };
    JsonLines::new(Cursor::new(text.to_owned()), "memory.jsonl", LineDefaults { placement, time: NOW - 60 })
}

/// Returns the counts of a report: added, replaced, unchanged, kept, not stored, unmapped.
fn counts(report: &TransferReport) -> [u64; 6] {
    let TransferReport { added, replaced, unchanged, kept, not_stored, .. } = *report;
    [added, replaced, unchanged, kept, not_stored, report.unmapped_count()]
}

fn draft(kind: Kind, document: &Value) -> Draft {
    read_json(kind, "test", &document.to_string(), |_, _| Ok(())).unwrap_or_else(|error| panic!("{error}"))
}

fn note(id: &str, text: &str, edited: i64) -> TransferredEntry {
    let document = json!({"id": id, "content": {"text": text}});
    TransferredEntry {
        entry: draft(Kind::Note, &document).entry().clone(),
        has_derived_id: false,
        placement: Placement { scope: Scope::User, session: None },
        created: edited,
        edited,
        is_current: false,
        access: None,
        source: "test".to_owned(),
    }
}

fn accessed_at(times: &[i64]) -> Option<AccessRecord> {
    let last = *times.iter().max()?;
    Some(AccessRecord { count: times.len() as u64, last, recent: times.to_vec(), judgements: Judgements::default() })
}

#[test]
fn reading_of_endless_input_stops_with_a_problem() {
    let test = TestMemory::new(Owner::User);
    let placement = Placement { scope: Scope::User, session: None };
    for endless in [&b"\0"[..], b"\n", b"y\n", b"{}\n", b"\xff\n"] {
        let text = std::io::BufReader::new(Repeated(endless));
        let defaults = LineDefaults { placement: placement.clone(), time: NOW };
        let lines = &mut JsonLines::new(text, "endless", defaults);
        let report = test.memory.put_all(lines, NOW).expect("the memory can be written");
        assert_eq!(report.unmapped.get("unreadable"), Some(&1), "{endless:?}: {report:?}");
    }
    // An entry resets the count of consecutive lines without an entry, so all of these lines are read.
    let some = "y\n".repeat(19_000);
    let report = test.import(&format!("{some}{}\n{some}", json!({"id": "note:a", "content": {"text": "a"}})));
    assert_eq!((report.added, report.unmapped_count()), (1, 38_000));
}

/// An endless reader that repeats a text.
struct Repeated(&'static [u8]);

impl std::io::Read for Repeated {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let whole = buffer.len() / self.0.len() * self.0.len();
        buffer[..whole].chunks_exact_mut(self.0.len()).for_each(|part| part.copy_from_slice(self.0));
        Ok(whole)
    }
}

#[test]
fn the_later_of_two_documents_wins() {
    let test = TestMemory::new(Owner::User);
    assert_eq!(counts(&test.put(&[note("note:a", "first", 100), note("note:b", "same", 100)])), [2, 0, 0, 0, 0, 0]);
    let changed = [note("note:a", "second", 200), note("note:b", "same", 300), note("note:c", "new", 5)];
    assert_eq!(test.plan(&changed), test.put(&changed));
    assert_eq!(counts(&test.put(&changed)), [0, 0, 3, 0, 0, 0]);
    assert_eq!(counts(&test.put(&[note("note:a", "older", 150), note("note:a", "as old", 200)])), [0, 0, 0, 2, 0, 0]);
    let versions = test.memory.versions("note:a").expect("readable");
    let seen: Vec<_> = versions.iter().map(|version| (version.number, version.created, version.edited)).collect();
    assert_eq!(seen, [(1, 100, 100), (2, 100, 200)]);
    test.memory.undo("note:a", NOW).expect("the import can be undone");
    assert_eq!(test.memory.get("note:a").expect("readable").expect("the entry exists").edited, 100);
}

#[test]
fn a_current_entry_replaces_an_import_with_the_same_time() {
    let test = TestMemory::new(Owner::User);
    let current = |text: &str| [TransferredEntry { is_current: true, ..note("note:a", text, 100) }];
    assert_eq!(counts(&test.put(&current("first"))), [1, 0, 0, 0, 0, 0]);
    assert_eq!(test.plan(&current("second")), test.put(&current("second")));
    assert_eq!(counts(&test.put(&current("second"))), [0, 0, 1, 0, 0, 0]);
    test.memory.tag("note:a", &["ours"], &[], NOW).expect("the entry exists");
    assert_eq!(counts(&test.put(&current("third"))), [0, 0, 0, 1, 0, 0]);
}

#[test]
fn importing_restores_removed_entries() {
    let test = TestMemory::new(Owner::User);
    test.put(&[note("note:a", "text", 100)]);
    let (before, export) = (test.digest(), test.export());
    test.memory.remove("note:a", NOW).expect("the entry exists");
    assert_ne!(test.digest(), before);
    assert_eq!(counts(&test.import(&export)), [1, 0, 0, 0, 0, 0]);
    assert_eq!(test.digest(), before);
}

#[test]
fn access_histories_are_not_counted_twice() {
    let test = TestMemory::new(Owner::User);
    let times: Vec<i64> = (1..=40).collect();
    let entry = TransferredEntry { access: accessed_at(&times), ..note("note:a", "text", 100) };
    assert_eq!(test.put(std::slice::from_ref(&entry)).accesses, 1);
    let record = test.accesses(&["note:a"]);
    let found = record[0].as_ref().expect("the entry has a record");
    assert_eq!((found.count, found.last, &found.recent[..]), (40, 40, &times[8..]));
    assert_eq!(test.put(std::slice::from_ref(&entry)).accesses, 0);
    assert_eq!(test.accesses(&["note:a"]), record);
    let later = TransferredEntry { access: accessed_at(&[39, 41]), ..entry };
    assert_eq!(test.put(&[later]).accesses, 1);
    let raised = test.accesses(&["note:a"])[0].clone().expect("the entry has a record");
    assert_eq!((raised.count, raised.last, raised.recent.len()), (40, 41, 32));
}

#[test]
fn the_next_turn_follows_imported_turns() {
    let (one, other) = (TestMemory::new(Owner::User), TestMemory::new(Owner::User));
    let turn = |text| NewTurn { session: "s:1", speaker: "user", text, reply_to: None, time: NOW };
    for text in ["a", "b", "c"] {
        one.memory.add_turn(&turn(text), Scope::Session, NOW).expect("the turn is valid");
    }
    one.memory.remove("turn:s:1:2", NOW).expect("the entry exists");
    assert_eq!(counts(&other.import(&one.export())), [2, 0, 0, 0, 0, 0]);
    assert_eq!(other.digest(), one.digest());
    assert_eq!(other.memory.add_turn(&turn("d"), Scope::Session, NOW).expect("the turn is valid"), "turn:s:1:4");
    // The greatest possible position of a turn.
    let last = json!({"type": "turn", "id": "turn:t:4294967295", "content": {"text": "x", "session": "t"}}).to_string();
    assert_eq!(counts(&other.import(&last)), [1, 0, 0, 0, 0, 0]);
    let error = other.memory.add_turn(&NewTurn { session: "t", ..turn("y") }, Scope::Session, NOW);
    assert_eq!(error.expect_err("no position is left").to_string(), "the session t has too many turns");
}

#[test]
fn entries_with_equal_titles_are_each_stored_once() {
    let test = TestMemory::new(Owner::User);
    let text = ["one", "two", "three"]
        .map(|summary| json!({"type": "knowledge", "content": {"topic": "Keys", "summary": summary}}).to_string())
        .join("\n");
    assert_eq!(counts(&test.import(&text)), [3, 0, 0, 0, 0, 0]);
    let reversed: Vec<&str> = text.lines().rev().collect();
    for again in [text.clone(), reversed.join("\n")] {
        assert_eq!(counts(&test.import(&again)), [0, 0, 3, 0, 0, 0]);
    }
}

#[test]
fn entries_that_the_memory_does_not_accept_are_reported() {
    let test = TestMemory::new(Owner::Project);
    let foreign = note("note:a", "text", 100);
    let project = Placement { scope: Scope::Project, session: None };
    let own = TransferredEntry { placement: project.clone(), ..note("note:b", "text", 100) };
    let weak = json!({"id": "reas:x", "content": {"pattern": "x", "success_score": 0.3}});
    let weak =
        TransferredEntry { entry: draft(Kind::Reasoning, &weak).entry().clone(), placement: project, ..own.clone() };
    let report = test.put(&[foreign, own, weak]);
    assert_eq!(counts(&report), [1, 0, 0, 0, 1, 1]);
    let shown: Vec<String> =
        report.problems.iter().map(|problem| format!("{} {}", problem.reason, problem.why)).collect();
    insta::assert_snapshot!(shown.join("\n"), @"
    scope entries of scope user are not kept in the project's memory
    score The score 0.3 is below 0.5, so the entry is not stored.
    ");
}

#[test]
fn damage_is_detected() {
    let test = TestMemory::new(Owner::User);
    let entries: Vec<_> = (0..300).map(|n| note(&format!("note:{n:03}"), "the text of the note", 100)).collect();
    test.put(&entries);
    test.memory.remove("note:007", NOW).expect("the entry exists");
    test.memory.edit("note:008", draft(Kind::Note, &json!({"content": {"text": "b"}})), NOW).expect("valid");
    let check = test.memory.verify().expect("readable");
    assert_eq!((check.entries, check.removed, check.versions, &check.problems[..]), (299, 1, 2, &[][..]));
    assert_eq!(check.digest.as_ref(), Some(&test.digest()));
    let path = test.directory.path().join("entries/data.mdb");
    let mut bytes = std::fs::read(&path).expect("readable");
    let positions: Vec<usize> =
        bytes.windows(8).enumerate().filter(|(_, at)| at == b"the text").map(|(at, _)| at).collect();
    for at in positions {
        bytes[at] ^= 1;
    }
    std::fs::write(&path, bytes).expect("writable");
    let memory = Memory::for_test(Owner::User, test.directory.path());
    let damaged = memory.verify().expect("readable");
    assert!(damaged.digest.is_none() && !damaged.problems.is_empty(), "{damaged:?}");
}

#[test]
fn every_mistake_of_a_line_is_reported_with_its_location() {
    let good = json!({"type": "note", "content": {"text": "good"}}).to_string();
    let wrong = [
        // Not JSON, and not an object.
        r#"{"type": "note", "content": {"text": "a"}"#,
        r#"["note"]"#,
        // A missing type and an unknown type.
        r#"{"content": {"text": "a"}}"#,
        r#"{"type": "knowlege", "content": {"topic": "a"}}"#,
        // A wrong type, a number out of range, a missing field, and an unknown field, on one line.
        r#"{"type": "reasoning", "id": "reas:a", "content": {"pattern": 5, "success_score": 92}, "tags": ["a"]}"#,
        r#"{"type": "reasoning", "content": {}}"#,
        // A repeated key, and an id of another kind.
        r#"{"type": "note", "id": "know:a", "content": {"text": "a", "text": "b"}}"#,
        // An invalid rule, and a time without an offset.
        r#"{"type": "knowledge", "content": {"topic": "a"}, "governance": {"retention_rules": [{"if": "x >", "then": "retain_indefinitely"}]}}"#,
        r#"{"type": "note", "content": {"text": "a"}, "metadata": {"created": "2026-01-31T12:00:00"}}"#,
        // Lines of exports: an unknown field, an entry with a mistake, two different ids, an invalid time.
        r#"{"id": "note:a", "scope": "user", "created_at": "2026-01-31T12:00:00Z", "edited_at": 0, "color": 1, "entry": {}}"#,
        r#"{"id": "note:a", "scope": "user", "created_at": "2026-01-31T12:00:00Z", "edited_at": 0, "entry": {"type": "note", "id": "note:a", "content": {"text": 5}}}"#,
        r#"{"id": "note:a", "scope": "user", "created_at": "2026-01-31T12:00:00Z", "edited_at": 0, "entry": {"type": "note", "id": "note:b", "content": {"text": "a"}}}"#,
        r#"{"id": "note:a", "scope": "user", "created_at": "yesterday", "edited_at": 0, "entry": {"type": "note", "id": "note:a", "content": {"text": "a"}}}"#,
        r#"{"id": "note:a", "scope": "world", "created_at": 0, "edited_at": 0, "entry": {"type": "note", "id": "note:a", "content": {"text": "a"}}}"#,
        r#"{"aurora_memory": "1"}"#,
    ];
    let mut text = wrong.iter().map(|line| format!("{line}\n{good}\n\n")).collect::<String>();
    text.push_str(r#"{"aurora_memory": 2, "entries": 0}"#);
    text.push_str("\nnot read");
    let test = TestMemory::new(Owner::User);
    let report = test.import(&text);
    assert_eq!((report.added, report.unchanged), (1, wrong.len() as u64 - 1));
    let shown: Vec<String> = report
        .problems
        .iter()
        .map(|problem| match problem.mistakes.is_empty() {
            true => format!("{} [{}]: {}", problem.what, problem.reason, problem.why),
            false => format!("{} [{}]\n{}", problem.what, problem.reason, problem.mistakes),
        })
        .collect();
    insta::assert_snapshot!(shown.join("\n\n"));
    let weak = json!({"type": "reasoning", "content": {"pattern": "x", "success_score": 0.2}});
    assert_eq!(counts(&test.import(&weak.to_string())), [0, 0, 0, 0, 1, 0]);
}

#[test]
fn a_truncated_export_is_reported() {
    let test = TestMemory::new(Owner::User);
    test.put(&[note("note:a", "a", 100), note("note:b", "b", 100)]);
    let export = test.export();
    insta::assert_snapshot!(export, @r#"
    {"aurora_memory":1,"entries":2}
    {"id":"note:a","scope":"user","created_at":"1970-01-01T00:01:40Z","edited_at":"1970-01-01T00:01:40Z","entry":{"content":{"text":"a"},"id":"note:a","metadata":{"derived":["domain"],"domain":"general"},"type":"note"}}
    {"id":"note:b","scope":"user","created_at":"1970-01-01T00:01:40Z","edited_at":"1970-01-01T00:01:40Z","entry":{"content":{"text":"b"},"id":"note:b","metadata":{"derived":["domain"],"domain":"general"},"type":"note"}}
    "#);
    let cut: String = export.lines().take(2).map(|line| format!("{line}\n")).collect();
    let report = TestMemory::new(Owner::User).import(&cut);
    assert_eq!((report.added, &report.unmapped), (1, &[("header", 1)].into()));
    insta::assert_snapshot!(report.problems[0].why, @"the header announces 2 entries, but the file has 1");
    // A single line of an export, and two concatenated exports.
    assert_eq!(counts(&test.import(export.lines().nth(1).expect("the export has two lines"))), [0, 0, 1, 0, 0, 0]);
    assert_eq!(counts(&test.import(&export.repeat(2))), [0, 0, 4, 0, 0, 0]);
    assert_eq!(counts(&test.import("\u{0}\u{1}\n")), [0, 0, 0, 0, 0, 1]);
}

/// Generates a valid entry to import.
fn entry() -> impl Strategy<Value = TransferredEntry> {
    let text = "[ -~äß日\n\t\u{7f}]{1,40}".prop_filter("a text is not blank", |text| !text.trim().is_empty());
    let document =
        (0..5_usize, "[a-z0-9 :/]{0,6}[a-z]", text, 0.5..=1.0_f64, any::<[bool; 3]>(), any::<f64>(), 0..9_u32);
    let document = document.prop_map(|(kind, name, text, score, has, number, order)| {
        let kind = Kind::ALL[kind];
        let content = match kind {
            Kind::Reasoning => json!({"pattern": text, "success_score": score}),
            Kind::Knowledge => json!({"topic": text, "confidence": score, "extra": number}),
            Kind::Note => json!({"text": text}),
            Kind::Turn => json!({"text": text, "session": "s", "order": order}),
            Kind::Code => json!({"file": text, "line_start": order + 1, "line_end": order + 1}),
        };
        let id = if kind == Kind::Turn { format!("turn:s:{order}") } else { format!("{}{name}", kind.prefix()) };
        let mut document = json!({"id": id, "content": content, "metadata": {}});
        if has[0] {
            document["metadata"]["links"] = json!([{"to": "know:x", "relation": "cites", "weight": score}]);
        }
        if has[1] {
            document["governance"] = json!({"compliance_tags": [&text.replace(char::is_control, "-"), "b"]});
        }
        if has[2] {
            document["metadata"]["created"] = json!("2025-12-12T14:20:00.25+01:00");
        }
        draft(kind, &document).entry().clone()
    });
    let access = prop::option::of((prop::collection::vec(-5..NOW, 0..40), any::<[u8; 4]>(), 0..NOW));
    let times = prop_oneof![0..100_i64, Just(i64::MIN), Just(i64::MAX), any::<i64>()];
    (document, prop::sample::select(vec![0, 1, 2]), access, times.clone(), times).prop_map(
        |(entry, scope, access, created, edited)| {
            let access = access.map(|(times, verdicts, last)| {
                let record = accessed_at(&times).unwrap_or_default();
                AccessRecord { judgements: Judgements::from_counts(verdicts.map(u32::from), last), ..record }
            });
            let (scope, session) =
                [(Scope::User, None), (Scope::Global, Some("q")), (Scope::Session, Some("s"))][scope];
            let placement = Placement { scope, session: session.map(str::to_owned) };
            let (has_derived_id, is_current, source) = (false, false, String::new());
            TransferredEntry { entry, has_derived_id, placement, created, edited, is_current, access, source }
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn exports_round_trip(entries in prop::collection::vec(entry(), 0..40)) {
        let (one, other) = (TestMemory::new(Owner::User), TestMemory::new(Owner::User));
        let report = one.put(&entries);
        prop_assert_eq!(report.entries(), entries.len() as u64, "{:?}", report);
        let export = one.export();
        let report = other.import(&export);
        prop_assert_eq!(report.problems.len(), 0, "{:?}\n{}", report, export);
        prop_assert_eq!(one.digest(), other.digest());
        prop_assert_eq!(&export, &other.export());
        let ids: Vec<&str> = entries.iter().map(|entry| entry.entry.id()).collect();
        let accesses = one.accesses(&ids);
        prop_assert_eq!(&accesses, &other.accesses(&ids));
        // A second import changes nothing.
        let again = other.import(&export);
        prop_assert_eq!((again.unchanged, again.accesses), (report.added, 0));
        prop_assert_eq!(counts(&again)[..2].iter().sum::<u64>(), 0);
        prop_assert_eq!(other.memory.verify().expect("readable").versions, 0);
        prop_assert_eq!((one.digest(), accesses), (other.digest(), other.accesses(&ids)));
    }

    #[test]
    fn a_plan_agrees_with_the_transfer(
        before in prop::collection::vec(entry(), 0..20), mut entries in prop::collection::vec(entry(), 0..20),
        derived in prop_oneof![Just(0), any::<u32>()],
    ) {
        for (index, entry) in entries.iter_mut().enumerate() {
            entry.has_derived_id = derived >> index & 1 == 1;
        }
        let test = TestMemory::new(Owner::User);
        test.put(&before);
        let planned = test.plan(&entries);
        let digest = test.digest();
        let empty = Memory::plan_all(None, Owner::User, &mut entries.iter().cloned().map(Ok)).expect("no memory");
        prop_assert_eq!(test.digest(), digest);
        let without_accesses = |mut report: TransferReport| {
            report.accesses = 0;
            report
        };
        prop_assert_eq!(planned, without_accesses(test.put(&entries)));
        prop_assert_eq!(empty, without_accesses(TestMemory::new(Owner::User).put(&entries)));
        if derived == 0 {
            prop_assert_eq!(test.put(&entries).added, 0);
        }
    }

    #[test]
    fn reading_any_text_never_panics(text in "(\\{\"(aurora_memory|entry|type|id|scope)\":|[0-9\"{}\\[\\],:\n]|note|\\PC){0,40}") {
        let found: Vec<Transfer> = lines(&text).collect();
        prop_assert!(found.iter().filter(|found| found.is_ok()).count() <= 1);
    }
}

#[test]
fn a_digest_does_not_depend_on_the_order_of_keys() {
    let one = TestMemory::new(Owner::User);
    one.put(&[note("note:a", "text", 7)]);
    insta::assert_snapshot!(one.digest(), @"4fb41195615d1e16a3393257aa7e4ba425a70b4cdcf0ef39a49ca8b102ec1878");
    let entry = Entry::from_document(
        serde_json::from_str(
            r#"{"type": "note", "id": "note:x", "content": {"b": [1.0, {"d": 1, "c": null}], "a": "ü\n"}}"#,
        )
        .expect("valid JSON"),
    );
    let hash = crate::digest::DocumentHash::new(entry.expect("the document is an entry").document());
    let text = r#"{"content":{"a":"ü\n","b":[1.0,{"c":null,"d":1}]},"id":"note:x","type":"note"}"#;
    assert_eq!(hash.to_string(), blake3::hash(text.as_bytes()).to_hex().to_string());
}
