//! `aur log write` and `aur log append`.

use std::collections::BTreeSet;
use std::process::Stdio;

use crate::fixture::Fixture;
use crate::{OAUTH, content, feed, files, interaction, path, write};

#[test]
fn a_log_is_written_and_its_path_printed() {
    let fixture = Fixture::plain();
    fixture.write("interaction.json", OAUTH);
    let run = fixture.aur(&["log", "write", "interaction.json"]);
    let expected = path(&fixture, "2025/12/oauth-authentication-2025-12-13.md");
    assert_eq!((run.code, run.out.trim_end()), (Some(0), &*expected.to_string_lossy()), "{run:?}");
    insta::assert_snapshot!(content(&fixture, "2025/12/oauth-authentication-2025-12-13.md"));

    let run = feed(&fixture, &["log", "write", "--format", "json"], OAUTH);
    let json = run.json();
    assert_eq!(json["id"], "aurora-20251213-143215-abc123");
    assert_eq!(json["file"], "2025/12/oauth-authentication-2025-12-13-2.md");
    assert_eq!(json["path"], path(&fixture, "2025/12/oauth-authentication-2025-12-13-2.md").to_string_lossy().as_ref());

    let run = feed(&fixture, &["log", "write", "-", "--format", "json"], r#"{"query": "Fix the cache", "phases": []}"#);
    let (json, today) = (run.json(), crate::days_ago(0));
    assert_eq!(json["file"], format!("{}/fix-cache-{today}.md", today.strftime("%Y/%m")));
    let id = json["id"].as_str().expect("the value is a string");
    assert!(id.starts_with(&format!("aurora-{}-", today.strftime("%Y%m%d"))) && id.len() == 29, "{id}");
}

#[test]
fn markdown_is_stored_unchanged() {
    let fixture = Fixture::plain();
    let body = "# Anything\r\n\n## Phase 1: Assess\nno end \u{1b}[31m";
    let arguments = [
        "log",
        "write",
        "--query",
        "Optimize React component rendering",
        "--id",
        "x-1",
        "--timestamp",
        "2025-12-13T23:30:00-01:00",
    ];
    let run = feed(&fixture, &arguments, body);
    assert_eq!(run.code, Some(0), "{run:?}");
    let header = "---\n## Query: 2025-12-14T00:30:00Z | ID: x-1\n\n**User Query**: \"Optimize React component rendering\"\n**Keywords**: react, rendering\n\n";
    assert_eq!(content(&fixture, "2025/12/react-rendering-2025-12-14.md"), format!("{header}{body}\n"));
}

#[test]
fn texts_of_a_log_are_stored_unchanged() {
    let fixture = Fixture::plain();
    let secret = "AKIAIOSFODNN7EXAMPL3 ghp_0123456789abcdefghijABCDEFGHIJ012345 \u{1b}[31m \u{202e}";
    let json = serde_json::json!({"query": secret, "phases": [{"name": "A", "output": {"key": 1.50}, "text": secret}], "response": secret});
    let file = write(&fixture, &json.to_string());
    assert!(content(&fixture, &file).matches("ghp_0123456789abcdefghijABCDEFGHIJ012345").count() >= 3);
    // Output to a terminal is escaped, but output to a file is not.
    let name = file.rsplit('/').next().expect("the path has a file name");
    let run = fixture.aur(&["logs", "view", name]);
    assert_eq!(run.out, content(&fixture, &file));
    let listed = fixture.aur(&["logs"]);
    assert!(!listed.out.contains(['\u{1b}', '\u{202e}']), "{listed:?}");
}

/// Texts that are not valid interactions: broken JSON, values of wrong types, and missing or unknown keys.
const MALFORMED: [&str; 21] = [
    "",
    "{",
    "{\"query\": \"a\", \"phases\": []} x",
    "{\"query\": 'a', \"phases\": []}",
    "[]",
    "3",
    "null",
    "{}",
    "{\"query\": \"a\"}",
    "{\"phases\": []}",
    "{\"query\": \"  \", \"phases\": []}",
    "{\"query\": [],\n \"phases\": {}}",
    "{\"query\": \"a\",\n \"phases\": [\n  {\"name\": 1},\n  {\"output\": {}},\n  \"x\"\n ]}",
    "{\"query\": \"a\",\n \"phases\": [\n  {\"number\": -1, \"name\": \"A\", \"output\": 1},\n  {\"number\": 1, \"name\": \"A\\n### Phase 2: B\", \"output\": 1}\n ]}",
    "{\"query\": \"a\", \"phases\": [{\"nam\": \"A\", \"ouput\": 1}]}",
    "{\"query\": \"a\", \"phases\": [], \"id\": \"../../etc/passwd\", \"timestamp\": \"2025-12-13 14:32\"}",
    "{\"query\": \"a\", \"phases\": [], \"id\": 7, \"timestamp\": 1765636335}",
    "{\"query\": \"a\", \"phases\": [], \"interactions\": {\"agent\": \"x\"}}",
    "{\"query\": \"a\", \"phases\": [],\n \"interactions\": [{\"agent\": \"x\"}, {\"question\": 1, \"answer\": \"y\"}]}",
    "{\"query\": \"a\", \"phases\": [], \"response\": 1,\n \"summary\": {\"duration_ms\": \"long\", \"verification_score\": 93}}",
    "{\"query\": \"a\", \"phases\": [], \"respones\": \"x\", \"query\": \"b\"}",
];

#[test]
fn every_mistake_is_reported_and_nothing_is_written() {
    let fixture = Fixture::plain();
    let mut report = String::new();
    for text in MALFORMED {
        let run = feed(&fixture, &["log", "write"], text);
        assert_eq!((run.code, run.out.as_str()), (Some(2), ""), "{text}: {run:?}");
        report.push_str(&format!("{text}\n{}\n", run.err));
    }
    insta::assert_snapshot!(report);
    let run = feed(&fixture, &["log", "write"], b"{\"query\": \"\xff\"}");
    assert!(run.err.contains("standard input has 1 error") && run.err.contains("UTF-8"), "{run:?}");
    assert!(!fixture.user_directory().join("logs").exists());
}

#[test]
fn an_addition_keeps_the_existing_text() {
    let fixture = Fixture::plain();
    let file = write(&fixture, OAUTH);
    let before = content(&fixture, &file);
    let run = feed(
        &fixture,
        &["log", "append", "aurora-20251213-143215-abc123", "--format", "json"],
        r#"{"phases": [{"name": "RECORD", "output": {"stored": true}}]}"#,
    );
    assert_eq!(run.code, Some(0), "{run:?}");
    let after = content(&fixture, &file);
    assert!(after.starts_with(&before) && after.contains("### Phase 3: RECORD"), "{after}");
    let line = run.json()["line"].as_u64().expect("the value is a number") as usize;
    assert!(after.lines().nth(line - 1).expect("the log has the line").starts_with("## Appended: "), "{after}");
    let run = feed(&fixture, &["log", "append", "oauth-auth", "--section", "Review"], "Looks good.");
    assert_eq!(run.code, Some(0), "{run:?}");
    assert!(content(&fixture, &file).starts_with(&after));
    assert!(content(&fixture, &file).ends_with("### Review\n\nLooks good.\n"));

    for (arguments, text, code, message) in [
        (&["log", "append", "nothing"][..], "{}", 1, "no log has the name or id `nothing`"),
        (&["log", "append", "oauth"], "{}", 2, "adds nothing"),
        (&["log", "append", "oauth"], r#"{"query": "x", "response": 1}"#, 2, "standard input has 2 errors"),
        (&["log", "append", "oauth", "--section", "a\nb"], "text", 2, "--section sets the name"),
    ] {
        let before = content(&fixture, &file);
        let run = feed(&fixture, arguments, text);
        assert_eq!(run.code, Some(code), "{arguments:?}: {run:?}");
        assert!(run.err.contains(message), "{arguments:?}: {run:?}");
        assert_eq!(content(&fixture, &file), before);
    }
}

#[test]
fn sixteen_processes_write_sixteen_logs() {
    let fixture = Fixture::plain();
    let json = interaction("retry with backoff", "2025-12-13T14:32:15Z");
    fixture.write("interaction.json", &json);
    let start = || {
        let mut command = fixture.command();
        command.args(["log", "write", "interaction.json", "--format", "json"]);
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the program starts")
    };
    let children: Vec<_> = (0..16).map(|_| start()).collect();
    let mut written = BTreeSet::new();
    for child in children {
        let output = child.wait_with_output().expect("the program ends");
        assert!(output.status.success(), "{output:?}");
        let json: serde_json::Value = serde_json::from_slice(&output.stdout).expect("the text is JSON");
        let (id, file) = (
            json["id"].as_str().expect("the value is a string"),
            json["file"].as_str().expect("the value is a string"),
        );
        assert!(content(&fixture, file).contains(id), "{file}");
        written.insert(file.to_owned());
    }
    let name = |number: u32| match number {
        1 => "2025/12/retry-backoff-2025-12-13.md".to_owned(),
        number => format!("2025/12/retry-backoff-2025-12-13-{number}.md"),
    };
    let expected: BTreeSet<String> = (1..=16).map(name).collect();
    assert_eq!(written, expected);
    assert_eq!(files(&fixture).len(), 16);
}

#[cfg(unix)]
#[test]
fn only_the_user_may_read_logs() {
    use std::os::unix::fs::PermissionsExt as _;

    let fixture = Fixture::plain();
    let file = write(&fixture, OAUTH);
    let mode =
        |path: std::path::PathBuf| path.metadata().expect("the metadata can be read").permissions().mode() & 0o777;
    assert_eq!(mode(path(&fixture, &file)), 0o600);
    for directory in ["logs", "logs/conversations", "logs/conversations/2025", "logs/conversations/2025/12"] {
        assert_eq!(mode(fixture.user_directory().join(directory)), 0o700, "{directory}");
    }
}

#[test]
fn the_configuration_sets_the_directory_and_the_number_of_keywords() {
    let fixture = Fixture::plain();
    let elsewhere = fixture.home().join("audit");
    let config = format!("[logs]\npath = \"{}\"\nkeyword_count = 3\n", elsewhere.display());
    fixture.write_for_user("config.toml", config);
    let run = feed(&fixture, &["log", "write"], OAUTH);
    assert_eq!(run.out.trim_end(), elsewhere.join("2025/12/oauth-authentication-api-2025-12-13.md").to_string_lossy());
    assert!(!fixture.user_directory().join("logs").exists());

    fixture.write_for_user("config.toml", "[logs]\nkeyword_count = 30\nretention_day = 3\n");
    for arguments in [&["log", "write"][..], &["logs"], &["logs", "maintain"], &["logs", "search", "x"]] {
        let run = feed(&fixture, arguments, OAUTH);
        assert_eq!((run.code, run.out.as_str()), (Some(2), ""), "{arguments:?}: {run:?}");
        for message in [
            "`logs.keyword_count` must be a whole number from 1 to 4",
            "did you mean `retention_days`?",
            "has 2 errors",
        ] {
            assert!(run.err.contains(message), "{arguments:?}: {run:?}");
        }
    }
}
