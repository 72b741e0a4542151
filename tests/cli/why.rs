//! `aur mem stats --skipped` and `aur mem why`: why files are not indexed, and what each stage did with a file.

use insta::assert_snapshot;
use serde_json::json;

use crate::fixture::Fixture;
use crate::{repository, run, settings};

/// Creates an indexed repository with files that are skipped for various reasons.
fn fixture() -> Fixture {
    let fixture = repository();
    fixture.write(".gitignore", "*.log\n");
    fixture.write("node_modules/left/index.js", "function left() {}\n");
    fixture.write("run.log", "started\n");
    fixture.write("empty.txt", "");
    fixture.write("tool", [0x7f, b'E', b'L', b'F', 0, 0]);
    fixture.write("broken.py", "def f(:\n    pass\n");
    assert_eq!(run(&fixture, &["mem", "index"]).code, Some(0));
    fixture
}

#[test]
fn every_skipped_file_is_listed_with_the_reason() {
    let fixture = fixture();
    let listed = run(&fixture, &["mem", "stats", "--skipped"]);
    assert_eq!((listed.code, listed.err.as_str()), (Some(0), ""));
    settings(&fixture).bind(|| {
        assert_snapshot!(listed.out, @"
        Not indexed in [root]: 7 files and directories
          1  binary
          1  directory `.git` is not indexed
          1  directory `node_modules` is not indexed
          1  empty file
          1  ignore file
          1  image
          1  named in an ignore file

        .git: directory `.git` is not indexed
        .gitignore: ignore file
        empty.txt: empty file
        logo.png: image
        node_modules: directory `node_modules` is not indexed
        run.log: named in an ignore file
        tool: binary
        ");
    });
    let report = run(&fixture, &["mem", "stats", "--skipped", "--format", "json"]).json();
    assert_eq!(report["total"], json!(report["entries"].as_array().map_or(0, Vec::len)));
    let entry = |path: &str| {
        let entries = report["entries"].as_array().expect("the value is a list");
        entries.iter().find(|entry| entry["path"] == path).cloned().unwrap_or_default()
    };
    assert_eq!((&entry("tool")["reason"], &entry("tool")["stage"]), (&json!("binary"), &json!("incremental-check")));
    // If a file has changed since the last run, its current content decides.
    fixture.write("tool", "#!/bin/sh\necho now a script\n").write("late.bin", "x");
    let again = run(&fixture, &["mem", "stats", "--skipped"]);
    assert!(!again.out.contains("tool:") && again.out.contains("late.bin: binary\n"), "{}", again.out);
}

#[test]
fn why_explains_files_and_directories() {
    let fixture = fixture();
    let why = |paths: &[&str]| run(&fixture, &[&["mem", "why"], paths].concat());
    let explained = why(&["src/http/retry.go", "broken.py"]);
    assert_eq!((explained.code, explained.err.as_str()), (Some(0), ""));
    settings(&fixture).bind(|| {
        assert_snapshot!(explained.out, @"
        src/http/retry.go is indexed: go, 11 lines, 2 chunks
          discover           language go; size 235 bytes
          incremental-check  language go; status added; text 11 lines, 235 bytes
          parse              symbols function RetryWithBackoff, lines 4–11
          chunk              2 chunks: calls, definitions, doc, exported, imports, key, language, line_end,…
          git-signal         blame 1 commit; 2 chunks: authors, commits, newest_time, touches
          embed              2 chunks: embedding, tokens

        broken.py is indexed: python, 2 lines, 1 chunk
          discover           language python; size 17 bytes
          incremental-check  language python; status added; text 2 lines, 17 bytes
          parse              syntax errors: what parsed was indexed; symbols function f, lines 1–2
          chunk              1 chunk: calls, definitions, doc, exported, imports, key, language, line_end, …
          git-signal         blame not in the commit at HEAD; 1 chunk: authors, commits, newest_time, touch…
          embed              1 chunk: embedding, tokens
        ");
    });
    let explained = why(&["tool", "run.log", "node_modules/left/index.js", "node_modules", "src", "."]);
    assert_eq!(explained.code, Some(1));
    settings(&fixture).bind(|| {
        assert_snapshot!(format!("{}{}", explained.out, explained.err), @"
        tool is not indexed: binary
          discover           language unknown; size 6 bytes
          incremental-check  leaves it out: binary

        run.log is not indexed: named in an ignore file
          discover  leaves it out: named in an ignore file

        node_modules/left/index.js is not indexed: node_modules: directory `node_modules` is not indexed
          discover  leaves it out: directory `node_modules` is not indexed

        node_modules is not indexed: directory `node_modules` is not indexed

        src is indexed: 2 files, 6 chunks

        . is indexed: 5 files, 10 chunks
          .git is not indexed: directory `.git` is not indexed
          .gitignore is not indexed: ignore file
          empty.txt is not indexed: empty file
          logo.png is not indexed: image
          node_modules is not indexed: directory `node_modules` is not indexed
          run.log is not indexed: named in an ignore file
          tool is not indexed: binary
        Warning: 4 of 6 are not indexed
        ");
    });
    let missing = why(&["no/such/file.py"]);
    assert_eq!((missing.code, missing.err.trim_end()), (Some(2), "Error: no such file: no/such/file.py"));
}

#[test]
fn why_reports_new_and_changed_files() {
    let fixture = fixture();
    fixture.write("new.py", "def fresh():\n    pass\n").write("src/http/retry.go", "package http\n");
    let explained = run(&fixture, &["mem", "why", "new.py", "src/http/retry.go", "--format", "json"]);
    assert_eq!(explained.code, Some(1));
    let reports: Vec<serde_json::Value> = serde_json::Deserializer::from_str(&explained.out)
        .into_iter()
        .collect::<Result<_, _>>()
        .expect("each line is a JSON object");
    assert_eq!(reports[0]["indexed"], json!(false));
    assert_eq!(reports[0]["reason"], json!("the file is new; `aur mem index` adds it"));
    assert_eq!((&reports[1]["indexed"], &reports[1]["changed"]), (&json!(true), &json!(true)));
    let stages = reports[1]["stages"].as_array().expect("the value is a list");
    assert_eq!(stages[0]["file"]["language"], json!("go"));
}

#[test]
fn a_query_that_begins_with_why_is_a_search() {
    let fixture = fixture();
    let found = run(&fixture, &["mem", "why", "does", "retry", "wait"]);
    assert_eq!(found.code, Some(0), "{}", found.err);
    assert!(found.out.contains("src/http/retry.go"), "{}", found.out);
}
