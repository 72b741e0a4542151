//! Exporting a memory and importing it into another memory.

use std::fs;

use crate::fixture::Fixture;
use crate::{filled, output_text, with_input};

fn digest(fixture: &Fixture, owner: &str) -> String {
    let run = fixture.aur(&["mem", "verify", "--memory", owner, "--digest"]);
    assert_eq!((run.code, run.out.trim().len()), (Some(0), 64), "{run:?}");
    run.out
}

/// Returns all entries, without fields that depend on the time of the command.
fn list(fixture: &Fixture, owner: &str) -> serde_json::Value {
    let mut entries = fixture.aur(&["mem", "list", "--memory", owner, "--format", "json"]).json();
    for entry in entries.as_array_mut().expect("the value is a list") {
        for field in ["activation", "expires_at"] {
            entry.as_object_mut().expect("the value is an object").remove(field);
        }
    }
    entries
}

#[test]
fn both_memories_are_restored_with_accesses_and_sessions() {
    let (one, other) = (filled(), Fixture::git());
    for owner in ["user", "project"] {
        let file = one.path(&format!("{owner}.jsonl")).display().to_string();
        let exported = one.aur(&["mem", "export", "--memory", owner, &file, "--format", "json"]);
        let count = exported.json()["entries"].as_u64().expect("the value is a number");
        let arguments = ["mem", "import", "--from", "jsonl", &file, "--memory", owner, "--format", "json"];
        let planned = other.aur(&[&arguments[..], &["--dry-run"]].concat()).json();
        assert_eq!((planned["added"].as_u64(), &planned["dry_run"]), (Some(count), &true.into()));
        assert_eq!(other.aur(&["mem", "verify", "--memory", owner]).code, Some(2), "a dry run creates no memory");
        assert_eq!(other.aur(&arguments).json()["added"].as_u64(), Some(count));
        assert_eq!(digest(&one, owner), digest(&other, owner));
        // Importing the same file again changes neither entries nor accesses.
        let before = list(&other, owner);
        let again = other.aur(&arguments).json();
        let counts = ["added", "replaced", "kept", "accesses"].map(|name| again[name].as_u64());
        assert_eq!((counts, again["unchanged"].as_u64()), ([Some(0); 4], Some(count)));
        assert_eq!(list(&other, owner), before);
        let [export, copy] = [&one, &other].map(|fixture| fixture.aur(&["mem", "export", "--memory", owner]).out);
        assert_eq!(export, copy);
    }
    let used = other.aur(&["mem", "show", "note:keys-rotate-in-march", "--format", "json"]).json();
    assert_eq!(used["access_count"].as_u64(), Some(1), "{used}");
    let turn = ["mem", "turn", "add", "--session", "s1", "--speaker", "user", "Thanks."];
    assert_eq!(other.aur(&turn).out, "turn:s1:3\n");
    let found = other.aur(&["mem", "search", "staging database reset", "--format", "json"]).json();
    assert!(found["results"][0]["id"].as_str().is_some_and(|id| id.starts_with("note:the-staging")), "{found}");
}

#[test]
fn exports_and_imports_print_reports() {
    let fixture = filled();
    let file = fixture.path("user.jsonl").display().to_string();
    let mut report = output_text(&fixture, &fixture.aur(&["mem", "export", "--memory", "user", &file]));
    fixture.aur(&["mem", "edit", "note:keys-rotate-in-march", "reas.json"]);
    fixture.write("note.md", "Keys rotate in April.");
    fixture.aur(&["mem", "edit", "note:keys-rotate-in-march", "note.md"]);
    for arguments in [
        &["mem", "import", "--from", "jsonl", &file, "--memory", "user", "--dry-run"][..],
        &["mem", "import", "--from", "jsonl", &file, "--memory", "user", "--format", "json"],
        &["mem", "import", "--from", "jsonl", &file, "--memory", "project"],
        &["mem", "import", "--from", "jsonl", "gone.jsonl"],
        &["mem", "import", "--from", "markdown", "gone"],
        &["mem", "import", "--memory", "user", &file],
        &["mem", "export", "--memory", "project", "no/such/directory.jsonl"],
        &["mem", "export"],
    ] {
        let run = fixture.aur(arguments);
        report.push_str(&format!("\n{}\n{}", arguments.join(" "), output_text(&fixture, &run)));
    }
    let report = report.replace(&fixture.path("user.jsonl").display().to_string(), "[FILE]");
    insta::assert_snapshot!(report);
}

#[test]
fn an_export_replaces_a_file_atomically() {
    let fixture = filled();
    fixture.write("out.jsonl", "before");
    assert_eq!(fixture.aur(&["mem", "export", "--memory", "user", "out.jsonl"]).code, Some(0));
    let text = fs::read_to_string(fixture.path("out.jsonl")).expect("the file can be read");
    assert!(text.starts_with("{\"aurora_memory\":1,\"entries\":4}\n") && text.lines().count() == 5, "{text}");
    let left = fs::read_dir(fixture.root()).expect("the directory can be read").flatten();
    assert!(!left.into_iter().any(|entry| entry.file_name().to_string_lossy().starts_with(".aurora-export")));
    let directory = fixture.aur(&["mem", "export", "--memory", "user", "."]);
    assert_eq!(directory.code, Some(2), "{directory:?}");
    #[cfg(unix)]
    {
        let target = fixture.home().join("elsewhere");
        fs::write(&target, "mine").expect("the file can be written");
        std::os::unix::fs::symlink(&target, fixture.path("link.jsonl")).expect("the link can be created");
        assert_eq!(fixture.aur(&["mem", "export", "--memory", "user", "link.jsonl"]).code, Some(2));
        assert_eq!(fs::read_to_string(&target).expect("the file can be read"), "mine");
    }
}

#[test]
fn damage_to_a_memory_is_detected() {
    let fixture = filled();
    let verified = fixture.aur(&["mem", "verify", "--memory", "user"]);
    assert!(verified.code == Some(0) && verified.out.contains("No problems found"), "{verified:?}");
    let data = fixture.user_directory().join("memory/entries/data.mdb");
    let mut bytes = fs::read(&data).expect("the file can be read");
    let places: Vec<usize> =
        bytes.windows(5).enumerate().filter(|(_, text)| text == b"March").map(|(at, _)| at).collect();
    for at in &places {
        bytes[*at] = b'X';
    }
    fs::write(&data, &bytes).expect("the file can be written");
    let damaged = fixture.aur(&["mem", "verify", "--memory", "user"]);
    assert!(damaged.code == Some(1) && damaged.out.contains("wrong checksum"), "{damaged:?}");
    bytes.truncate(bytes.len() / 2);
    fs::write(&data, &bytes).expect("the file can be written");
    let cut = fixture.aur(&["mem", "verify", "--memory", "user"]);
    assert_eq!(cut.code, Some(1), "{cut:?}");
    let refused = fixture.aur(&["mem", "export", "--memory", "user", "out.jsonl"]);
    assert!(refused.code == Some(2) && refused.err.contains("backup"), "{refused:?}");
    assert!(!refused.err.contains("mem index"), "an index run does not repair entries: {refused:?}");
    assert!(!fixture.path("out.jsonl").exists());
}

#[test]
fn lines_are_read_from_standard_input() {
    let fixture = Fixture::git();
    let lines = "{\"type\": \"note\", \"content\": {\"text\": \"One note\"}}\n\
                 {\"type\": \"note\", \"content\": {\"text\": 5}}\n\
                 {\"type\": \"reasoning\", \"content\": {\"pattern\": \"a guess\", \"success_score\": 0.1}}\n";
    let run = with_input(&fixture, &["mem", "import", "--from", "jsonl", "-", "--verbose"], lines);
    insta::assert_snapshot!(output_text(&fixture, &run));
    let exported = fixture.aur(&["mem", "export", "--memory", "project", "-"]);
    assert_eq!(with_input(&fixture, &["mem", "import", "--from", "jsonl", "-"], &exported.out).code, Some(0));
}
