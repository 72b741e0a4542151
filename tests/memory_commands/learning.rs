//! Recording the outcomes of tasks, and `aur mem recall`.

use crate::{Fixture, add_providers, found, piped};

/// Creates a session in which searches returned a reasoning pattern, knowledge and code.
fn session() -> Fixture {
    let fixture = Fixture::git();
    fixture.write("src/auth.py", "def oauth2_providers():\n    return []\n").commit("Providers");
    add_providers(&fixture);
    let pattern = r#"{"id": "reas:oauth2", "content": {"pattern": "oauth2 providers", "success_score": 0.9}}"#;
    assert_eq!(piped(&fixture, &["mem", "add", "reasoning", "-"], pattern).code, Some(0));
    let mut shown = found(&fixture, &["oauth2 providers", "--session", "s"]);
    shown.sort();
    assert_eq!(shown, ["code:src/auth.py:oauth2_providers", "know:oauth2-providers", "reas:oauth2"]);
    fixture
}

/// Records an outcome, and returns the learned value of each chunk, sorted by id.
fn record_outcome(fixture: &Fixture, arguments: &[&str]) -> Vec<(String, f64)> {
    let arguments = [&["mem", "feedback", "--session", "s", "--format", "json"], arguments].concat();
    let run = fixture.aur(&arguments);
    assert_eq!(run.code, Some(0), "{run:?}");
    let chunk = |chunk: &serde_json::Value| {
        (
            chunk["id"].as_str().expect("the value is a string").to_owned(),
            chunk["learned"].as_f64().expect("the value is a number"),
        )
    };
    let mut chunks: Vec<_> = run.json()["chunks"].as_array().expect("the value is a list").iter().map(chunk).collect();
    chunks.sort_by(|a, b| a.0.cmp(&b.0));
    chunks
}

fn assert_learned(found: Vec<(String, f64)>, expected: &[(&str, f64)]) {
    let expected: Vec<(String, f64)> = expected.iter().map(|(id, learned)| ((*id).to_owned(), *learned)).collect();
    assert_eq!(found, expected);
}

const CODE: &str = "code:src/auth.py:oauth2_providers";
const KNOWLEDGE: &str = "know:oauth2-providers";
const PATTERN: &str = "reas:oauth2";

#[test]
fn success_raises_everything_that_was_shown() {
    assert_learned(record_outcome(&session(), &["--score", "0.8"]), &[(CODE, 0.2), (KNOWLEDGE, 0.2), (PATTERN, 0.2)]);
}

#[test]
fn a_partial_success_raises_helpful_entries_and_lowers_the_rest() {
    let fixture = session();
    let found = record_outcome(&fixture, &["--score", "0.5", "--helpful", KNOWLEDGE]);
    assert_learned(found, &[(CODE, -0.05), (KNOWLEDGE, 0.05), (PATTERN, -0.05)]);
    // Recording the outcome again has no effect.
    let again = fixture.aur(&["mem", "feedback", "--session", "s", "--outcome", "success"]);
    assert_eq!(again.code, Some(2));
    assert!(again.err.contains("nothing was retrieved in session s"), "{again:?}");
}

#[test]
fn a_failure_lowers_reasoning_patterns_only() {
    assert_learned(record_outcome(&session(), &["--outcome", "failure"]), &[(PATTERN, -0.1)]);
}

#[test]
fn an_entry_that_was_not_shown_cannot_be_helpful() {
    let fixture = session();
    let arguments = ["mem", "feedback", "--session", "s", "--outcome", "partial", "--helpful", "know:other"];
    let refused = fixture.aur(&arguments);
    assert_eq!(refused.code, Some(2));
    assert!(refused.err.contains("know:other was not retrieved in session s"), "{refused:?}");
    assert_learned(record_outcome(&fixture, &["--outcome", "failure"]), &[(PATTERN, -0.1)]);
}

#[test]
fn recall_prints_texts_with_ids_and_can_skip_recording() {
    let fixture = session();
    let accesses = |id: &str| fixture.aur(&["mem", "show", id, "--format", "json"]).json()["access_count"].clone();
    let before = accesses(KNOWLEDGE);
    for quiet in ["--read-only", "--passive"] {
        let run = fixture.aur(&["mem", "recall", "oauth2 providers", quiet]);
        assert_eq!(run.code, Some(0), "{run:?}");
        assert_eq!(accesses(KNOWLEDGE), before, "{quiet}");
    }
    let run = fixture.aur(&["mem", "recall", "oauth2 providers", "--budget", "400"]);
    assert!(run.out.contains("[know:oauth2-providers] OAuth2 providers\nTopic: OAuth2 providers\n"), "{run:?}");
    assert!(run.out.contains("[code:src/auth.py:oauth2_providers] src/auth.py:1-2 oauth2_providers\n"), "{run:?}");
    assert_ne!(accesses(KNOWLEDGE), before);
    let nothing = fixture.aur(&["mem", "recall", "--passive", "zebra"]);
    assert_eq!((nothing.code, nothing.out.as_str()), (Some(0), ""), "{nothing:?}");
}

#[test]
fn recall_prints_a_list() {
    let fixture = session();
    let run = fixture.aur(&["mem", "recall", "oauth2 providers", "--format", "recall", "--source", "memory"]);
    let lines: Vec<&str> = run.out.lines().collect();
    assert_eq!(
        lines[..3],
        ["Memory Search Results for: \"oauth2 providers\"", "", "Found 2 relevant patterns (sorted by activation):"]
    );
    assert!(run.out.contains("[Reasoning Pattern] ID: reas:oauth2\n   Activation: "), "{run:?}");
    assert!(run.out.contains("[Knowledge] ID: know:oauth2-providers\n   Activation: "), "{run:?}");
    assert!(run.out.contains("   Context: Auth0 compared with Okta\n"), "{run:?}");
}

#[test]
fn personal_data_is_masked_unless_the_user_turns_this_off() {
    let fixture = Fixture::plain();
    let add = |text: &str| piped(&fixture, &["mem", "add", "note", "-", "--scope", "user"], text);
    assert_eq!(add("# Deploys\n\nAsk jane@example.org about deploys, card 4111 1111 1111 1111.\n").code, Some(0));
    let recalled = fixture.aur(&["mem", "recall", "deploys"]);
    assert!(
        recalled.out.contains("Ask ") && !recalled.out.contains("jane@") && !recalled.out.contains("4111"),
        "{recalled:?}"
    );
    fixture.write_for_user("config.toml", "[redact]\npersonal = false\n");
    assert_eq!(add("# Rollbacks\n\nAsk joe@example.org about rollbacks.\n").code, Some(0));
    assert!(fixture.aur(&["mem", "recall", "rollbacks"]).out.contains("joe@example.org"));
    // After the switch is on again, answers mask entries that were stored while it was off.
    fixture.write_for_user("config.toml", "");
    assert!(!fixture.aur(&["mem", "recall", "rollbacks"]).out.contains("joe@"));
    assert!(fixture.aur(&["mem", "export", "--memory", "user"]).code.is_some());
}

#[test]
fn verification_reports_references_to_missing_logs() {
    let fixture = Fixture::plain();
    let log =
        r#"{"query": "log in", "timestamp": "2025-12-13T14:32:15Z", "phases": [{"name": "ASSESS", "output": {}}]}"#;
    assert_eq!(piped(&fixture, &["log", "write", "--format", "json"], log).code, Some(0));
    let listed = fixture.aur(&["logs", "list", "--format", "json"]).out;
    let name = listed.split('"').find(|part| part.ends_with(".md")).expect("the list has a path").to_owned();
    let add = |topic: &str, file: &str, section: &str, last: u32| {
        let document = format!(
            r#"{{"content": {{"topic": "{topic}", "summary": "a summary", "facts": [{{"id": "F1", "statement": "a fact"}}], "confidence": 0.7}},
                "conversation_log_reference": {{"date": "2025-12-13", "file": "{file}", "section": "{section}", "line_range": [1, {last}]}}}}"#
        );
        let added = piped(&fixture, &["mem", "add", "knowledge", "-", "--scope", "user"], &document);
        assert_eq!(added.code, Some(0), "{added:?}");
    };
    add("good", &name, "Phase 1: ASSESS", 2);
    let verify = || fixture.aur(&["mem", "verify", "--memory", "user"]);
    assert_eq!(verify().code, Some(0), "{:?}", verify());
    add("gone", "2025/01/gone-2025-01-01.md", "Phase 1: ASSESS", 2);
    add("renamed", &name, "Phase 9: NONE", 2);
    add("beyond", &name, "Phase 1: ASSESS", 90_000);
    let run = verify();
    assert_eq!(run.code, Some(1), "{run:?}");
    for part in
        ["a log that does not exist: 2025/01/gone", "\"Phase 9: NONE\"", "lines after the end of", "3 references"]
    {
        assert!(run.out.contains(part) || run.err.contains(part), "{part}: {run:?}");
    }
}
