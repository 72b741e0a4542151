//! `aur mem audit` finds entries that make memory worse, and its commands repair them.

use serde_json::{Value, json};

use crate::{Fixture, piped};

fn audit(fixture: &Fixture, arguments: &[&str]) -> Value {
    let run = fixture.aur(&[&["mem", "audit", "--format", "json"], arguments].concat());
    assert_eq!(run.code, Some(0), "{run:?}");
    run.json()
}

/// Returns the kinds and ids of the findings.
fn findings(report: &Value) -> Vec<(String, String)> {
    let text = |found: &Value, field: &str| found[field].as_str().unwrap_or_default().to_owned();
    let found = report["findings"].as_array().expect("the value is a list");
    found.iter().map(|found| (text(found, "kind"), text(found, "id"))).collect()
}

fn pairs(expected: &[(&str, &str)]) -> Vec<(String, String)> {
    expected.iter().map(|(kind, id)| ((*kind).to_owned(), (*id).to_owned())).collect()
}

#[test]
fn the_commands_of_findings_repair_the_entries() {
    let fixture = Fixture::git();
    let note = |id: &str, text: &str| json!({"id": id, "type": "note", "content": {"text": text}});
    let line = |minute: i64, id: &str, text: &str| {
        let time = (jiff::Timestamp::now() - jiff::SignedDuration::from_mins(60 - minute)).to_string();
        json!({"id": id, "scope": "project", "created_at": time, "edited_at": time, "entry": note(id, text)})
            .to_string()
    };
    let lines = [
        line(1, "note:first", "The staging database is reset on Sunday"),
        line(2, "note:it's the same", "the staging  database is reset on sunday"),
        line(3, "note:old", "staging.port = 8080"),
    ];
    for text in lines {
        let imported = piped(&fixture, &["mem", "import", "--from", "jsonl", "-"], &text);
        assert_eq!(imported.code, Some(0), "{imported:?}");
    }
    let newer = piped(&fixture, &["mem", "add", "note", "-"], &note("note:new", "staging.port = 8443").to_string());
    assert_eq!(newer.code, Some(0), "{newer:?}");
    let report = audit(&fixture, &[]);
    let expected = [("duplicate", "note:it's the same"), ("contradiction", "note:old")];
    assert_eq!((findings(&report), &report["entries"]), (pairs(&expected), &4.into()), "{report}");
    let text = fixture.aur(&["mem", "audit", "--only", "duplicate"]);
    assert!(text.code == Some(0) && text.out.contains("1 finding in 4 entries"), "{text:?}");
    let strict = fixture.aur(&["mem", "audit", "--strict", "--only", "contradiction,secret"]);
    assert!(strict.code == Some(1) && strict.err.contains("1 finding"), "{strict:?}");
    for found in report["findings"].as_array().expect("the value is a list") {
        // Runs the command as a shell would.
        let words = shlex::split(found["command"].as_str().expect("the value is a string")).expect("a valid command");
        let arguments: Vec<&str> = words[1..].iter().map(String::as_str).collect();
        assert_eq!(words[0], "aur");
        assert_eq!(fixture.aur(&arguments).code, Some(0), "{words:?}");
    }
    let clean = fixture.aur(&["mem", "audit", "--strict"]);
    assert!(clean.code == Some(0) && clean.out.contains("0 findings in 2 entries"), "{clean:?}");
}

#[test]
fn references_to_code_that_is_gone_or_has_changed_are_found() {
    let fixture = Fixture::git();
    fixture.write("src/http.py", "def retry():\n    return 1\n").write("src/io.py", "def read():\n    return 1\n");
    fixture.commit("Code");
    let note = |id: &str, text: &str| {
        let document = json!({"id": id, "content": {"text": text}}).to_string();
        assert_eq!(piped(&fixture, &["mem", "add", "note", "-"], &document).code, Some(0));
    };
    note("note:file", "Retries are in `src/http.py`.");
    note("note:gone", "Reading is in src/old.py:12, and https://example.org/a/b.html explains it; and/or.py.");
    let old = json!({"id": "note:outdated", "scope": "project", "created_at": "2019-01-01T00:00:00Z",
        "edited_at": "2019-01-01T00:00:00Z",
        "entry": {"id": "note:outdated", "type": "note", "content": {"text": "See src/http.py"}}});
    let imported = piped(&fixture, &["mem", "import", "--from", "jsonl", "--memory", "project", "-"], &old.to_string());
    assert_eq!(imported.code, Some(0), "{imported:?}");
    note("note:linked", "How reading works");
    note("note:fine", "Nothing about code");
    assert_eq!(fixture.aur(&["mem", "link", "note:linked", "code:src/io.py:read"]).code, Some(0));
    assert_eq!(fixture.aur(&["mem", "index", "-q"]).code, Some(0));
    let only = ["--only", "missing-code,changed-code"];
    let changed = ("changed-code", "note:outdated");
    assert_eq!(findings(&audit(&fixture, &only)), pairs(&[("missing-code", "note:gone"), changed]));
    assert_eq!(fixture.aur(&["mem", "tag", "note:outdated", "checked"]).code, Some(0));
    fixture.write("src/io.py", "def load():\n    return 1\n");
    assert_eq!(fixture.aur(&["mem", "index", "-q"]).code, Some(0));
    let expected = [("missing-code", "note:gone"), ("missing-code", "note:linked")];
    let report = audit(&fixture, &only);
    assert_eq!(findings(&report), pairs(&expected), "{report}");
}
