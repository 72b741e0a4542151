//! `aur mem index`, and the commands that inspect the index.

use std::io::{BufRead, BufReader};
use std::process::Stdio;

use aurora_storage::{Environment, OpenMode, ProjectDirectory, WriterOptions};
use insta::assert_snapshot;
use serde_json::Value;

use crate::fixture::{Fixture, git};
use crate::{indexed, repository, run, settings};

/// Snapshot settings that replace values which depend on the run or the machine.
fn summary_settings(fixture: &Fixture) -> insta::Settings {
    let mut settings = settings(fixture);
    settings.add_filter(r"\d+(\.\d+)? (ms|s|min|h)\b", "[time]");
    settings.add_filter(r"\d+(\.\d+)? (B|KiB|MiB|GiB)\b", "[size]");
    settings.add_filter(r"[\d.]+[kM]? lines/s", "[rate]");
    settings.add_filter(r"[\d.]+% of it serial", "[share] of it serial");
    settings.add_filter(r"Bottleneck: .*", "Bottleneck: [stage]");
    settings.add_filter(r"Embeddings: .*@[0-9a-f]+", "Embeddings: [model]");
    settings
        .add_filter(r"(?m)^(discover|incremental-check|parse|git-signal|chunk|embed|store|bm25) .*", "$1 [figures]");
    settings
}

#[test]
fn the_summary_reports_the_run() {
    let fixture = repository();
    let first = run(&fixture, &["mem", "index"]);
    assert_eq!(first.code, Some(0), "{first:?}");
    summary_settings(&fixture).bind(|| {
        assert_snapshot!(first.out, @r"
    Indexing complete!

    Summary:
      Files scanned:                7
        indexed:                    4
        skipped:                    3
                1 directory `.git` is not indexed: .git
                1 ignore file: .gitignore
                1 image: logo.png
      Code chunks:                  7
      Reasoning chunks:             0
      Knowledge chunks:             0
      KB chunks:                    2
      Document chunks:              0
      Total chunks:                 9
        changed:                    9

    BM25 index: Built (9 chunks indexed)
    Embeddings: [model]

    Stage                Workers       Time        Files       Chunks  Starved  Blocked
    discover [figures]
    incremental-check [figures]
    parse [figures]
    chunk [figures]
    git-signal [figures]
    embed [figures]
    store [figures]
    bm25 [figures]
    Bottleneck: [stage]

    Time: [time] (37 lines parsed, [rate])
    Processor time: [time] ([share] of it serial)
    Peak memory: [size]
    Index: [size] for [size] of source read, generation 1, in [root]
    Errors: 0
    Warnings: 0
    ")
    });
    assert_eq!(first.err, "", "a short run prints no progress");
}

#[test]
fn a_run_reports_that_nothing_changed() {
    let fixture = indexed();
    let second = run(&fixture, &["mem", "index"]);
    assert_eq!(second.code, Some(0), "{second:?}");
    summary_settings(&fixture).bind(|| {
        assert_snapshot!(second.out, @r"
    Nothing changed: 4 files checked in [time], no chunks changed
      Files skipped:                3
                1 directory `.git` is not indexed: .git
                1 ignore file: .gitignore
                1 image: logo.png
    Errors: 0
    Warnings: 0
    ")
    });
}

#[test]
fn the_json_summary_has_the_documented_keys() {
    let fixture = repository();
    let summary = run(&fixture, &["mem", "index", "--format", "json"]).json();
    for key in [
        "root",
        "files",
        "chunks",
        "changed_chunks",
        "errors",
        "warnings",
        "bm25",
        "elapsed_ms",
        "generation",
        "published",
        "complete",
        "coverage",
    ] {
        assert!(summary.get(key).is_some(), "{key} in {summary}");
    }
    let chunks = &summary["chunks"];
    let sum: u64 =
        ["code", "reasoning", "knowledge", "kb", "doc"].iter().filter_map(|kind| chunks[kind].as_u64()).sum();
    assert_eq!(Some(sum), chunks["total"].as_u64(), "{chunks}");
    if cfg!(target_os = "linux") {
        assert!(summary["cpu_seconds"].as_f64().is_some_and(|seconds| seconds > 0.0), "{summary}");
        assert!(summary["serial_cpu_share"].as_f64().is_some_and(|share| (0.0..=1.0).contains(&share)), "{summary}");
    }
    assert_eq!(summary["nothing_changed"], Value::Bool(false));
    let stored = || std::fs::read(fixture.path(".aurora/index/data.mdb")).expect("the file can be read");
    let before = stored();
    let again = run(&fixture, &["mem", "index", "--format", "json"]).json();
    assert!(stored() == before, "a run in which nothing changed writes nothing");
    assert_eq!(again["nothing_changed"], Value::Bool(true));
    assert_eq!(again["generation"], summary["generation"]);
    assert_eq!(again["changed_chunks"], 0);
    assert_eq!(again["chunks"], *chunks);
}

#[test]
fn the_index_hides_itself_from_git() {
    let fixture = indexed();
    let status = git(fixture.root()).args(["status", "--porcelain"]).output().expect("git runs");
    let status = String::from_utf8_lossy(&status.stdout).into_owned();
    assert!(!status.contains(".aurora"), "{status}");
}

#[test]
fn too_little_coverage_exits_with_code_one() {
    let fixture = Fixture::plain();
    fixture.write("good.py", "def f():\n    return 1\n");
    let enough = run(&fixture, &["mem", "index", "--min-coverage", "100"]);
    assert_eq!(enough.code, Some(0), "{enough:?}");
    fixture.write("unreadable.py", "def g():\n    return 2\n");
    unreadable(&fixture.path("unreadable.py"));
    let short = run(&fixture, &["mem", "index", "--min-coverage", "100", "--format", "json"]);
    let coverage = short.json()["coverage"].as_f64().expect("the value is a number");
    assert_eq!(short.code, Some(i32::from(coverage < 1.0)), "{short:?}");
    assert_eq!(short.err.contains("less than the 100% asked for"), coverage < 1.0, "{short:?}");
}

/// Removes the read permission, which does not stop the superuser from reading.
fn unreadable(path: &std::path::Path) {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o000)).expect("permissions can be set");
    }
    #[cfg(not(unix))]
    let _ = path;
}

#[test]
fn an_index_can_be_verified_and_equal_trees_have_equal_digests() {
    let (one, other) = (indexed(), indexed());
    let checked = run(&one, &["mem", "verify"]);
    assert_eq!(checked.code, Some(0), "{checked:?}");
    assert!(checked.out.contains("No problems found"), "{}", checked.out);
    let digest = |fixture: &Fixture| run(fixture, &["mem", "verify", "--digest"]).out;
    let before = digest(&one);
    assert_eq!(before.trim().len(), 64, "{before}");
    assert_eq!(before, digest(&other), "equal trees have equal digests");
    one.write("more.py", "def more():\n    return 2\n");
    run(&one, &["mem", "index", "--quiet"]);
    assert_ne!(before, digest(&one));
}

#[test]
fn rebuilding_bm25_does_not_change_the_digest() {
    let fixture = indexed();
    let digest = || run(&fixture, &["mem", "verify", "--digest"]).out;
    let before = digest();
    let rebuilt = run(&fixture, &["mem", "rebuild-bm25"]);
    assert_eq!(rebuilt.code, Some(0), "{rebuilt:?}");
    assert!(rebuilt.out.starts_with("BM25 index: rebuilt ("), "{}", rebuilt.out);
    assert_eq!(before, digest());
}

#[test]
fn statistics_add_up() {
    let fixture = indexed();
    let stats = run(&fixture, &["mem", "stats", "--format", "json"]).json();
    let sum = |key: &str| -> u64 {
        let shares = stats[key].as_array().expect("the value is a list");
        shares.iter().filter_map(|share| share["chunks"].as_u64()).sum()
    };
    let chunks = stats["chunks"].as_u64().expect("the value is a number");
    assert!(chunks > 4, "{stats}");
    assert_eq!(sum("types"), chunks);
    assert_eq!(sum("languages"), chunks);
    let tables = stats["tables"].as_array().expect("the value is a list");
    let bytes: u64 = tables.iter().filter_map(|table| table["bytes"].as_u64()).sum();
    let rows = |name: &str| tables.iter().find(|table| table["name"] == name).map(|table| table["rows"].clone());
    assert_eq!(rows("chunks"), Some(stats["chunks"].clone()), "{stats}");
    assert!(bytes > 0 && Some(bytes) <= stats["index_bytes"].as_u64(), "{stats}");
    let text = run(&fixture, &["mem", "stats"]);
    assert_eq!((text.code, text.err.as_str()), (Some(0), ""));
    assert!(text.out.contains("python") && text.out.contains("method") && text.out.contains("Tables"), "{}", text.out);
}

/// Names of the checks of `aur doctor`.
const CHECKS: [&str; 11] =
    ["git", "index", "writer", "model", "reranker", "disk", "config", "pipeline", "memory", "history", "terminal"];

#[test]
fn the_doctor_reports_a_problem_only_if_there_is_one() {
    let fixture = indexed();
    let well = run(&fixture, &["doctor"]);
    assert_eq!(well.code, Some(0), "{well:?}");
    for check in CHECKS {
        assert!(well.out.contains(&format!(" {check} ")), "{check} in {}", well.out);
    }
    fixture.write(".aurora/config.toml", "[search.bm25]\nb = 2\n");
    let ill = run(&fixture, &["doctor"]);
    assert_eq!(ill.code, Some(1), "{ill:?}");
    assert!(ill.out.contains("FAIL  config"), "{}", ill.out);
    let report = run(&fixture, &["doctor", "--format", "json"]);
    assert_eq!((report.code, &report.err), (Some(1), &ill.err));
    let json = report.json();
    let checks = json["checks"].as_array().expect("the value is a list");
    let names: Vec<&str> = checks.iter().map(|check| check["name"].as_str().expect("the value is a string")).collect();
    assert_eq!(names, CHECKS);
    for check in checks {
        let line = format!(
            "{:<5} {} ",
            check["verdict"].as_str().expect("the value is a string").replace("fail", "FAIL"),
            check["name"].as_str().expect("the value is a string")
        );
        assert!(ill.out.contains(line.trim_end()), "{line} in {}", ill.out);
    }
    let count = |verdict: &str| checks.iter().filter(|check| check["verdict"] == verdict).count();
    assert_eq!((&json["failures"], &json["warnings"]), (&count("fail").into(), &count("warn").into()));
    assert!(count("fail") > 0 && json["root"].is_string() && json["version"].is_string(), "{json}");
    fixture.write(".aurora/config.toml", "[memory.policy.short]\ncondition = \"age_days >\"\n");
    let ill = run(&fixture, &["doctor"]);
    assert_eq!(ill.code, Some(1), "{ill:?}");
    assert!(ill.out.contains("FAIL  memory") && ill.out.contains("age_days >"), "{}", ill.out);
}

#[test]
fn generated_files_are_counted_and_labelled() {
    let fixture = repository();
    let header = "// Code generated by stringer. DO NOT EDIT.\n\n";
    fixture.write(
        "src/http/state_string.go",
        format!("{header}package http\n\nfunc stateString() string {{\n\treturn \"open\"\n}}\n"),
    );
    fixture.write("src/http/state.go", "package http\n\nfunc stateString2() string {\n\treturn stateString()\n}\n");
    let summary = run(&fixture, &["mem", "index", "--format", "json"]).json();
    assert_eq!(summary["files"]["generated"], 1, "{summary}");
    let found =
        run(&fixture, &["mem", "search", "state string", "--where", "generated=true", "--format", "json"]).json();
    let files: Vec<&str> =
        found["results"].as_array().into_iter().flatten().filter_map(|hit| hit["file"].as_str()).collect();
    assert!(!files.is_empty() && files.iter().all(|file| *file == "src/http/state_string.go"), "{found}");
    let scores = run(&fixture, &["mem", "search", "state string", "--show-scores"]).out;
    assert!(scores.contains("generated code, not asked for"), "{scores}");
}

#[test]
fn skipped_files_are_listed_after_another_file_was_deleted() {
    let fixture = indexed();
    fixture.remove("scratch.js");
    let listed = run(&fixture, &["mem", "stats", "--skipped"]);
    assert_eq!(listed.code, Some(0), "{listed:?}");
    assert!(listed.out.contains("logo.png") && !listed.out.contains("scratch.js"), "{}", listed.out);
}

#[test]
fn a_run_waits_for_another_writer() {
    let fixture = indexed();
    let directory = fixture.path(ProjectDirectory::NAME);
    let environment = Environment::open(&directory, OpenMode::Existing).expect("the index can be opened");
    let writer = environment.writer(WriterOptions::default()).expect("no other process is writing");
    fixture.write("src/late.py", "def arrive_late():\n    pass\n");
    let mut command = crate::command(&fixture);
    let mut waiting = command
        .args(["mem", "index"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let mut messages = BufReader::new(waiting.stderr.take().expect("the stream is piped"));
    let mut line = String::new();
    messages.read_line(&mut line).expect("a line can be read");
    assert!(line.contains("waiting for") && line.contains("which is writing the index"), "{line}");
    assert!(waiting.try_wait().expect("the status of the process is available").is_none());
    drop(writer);
    let done = waiting.wait_with_output().expect("the program ends");
    assert!(done.status.success(), "{done:?}");
    assert!(String::from_utf8_lossy(&done.stdout).contains("indexed"), "{done:?}");
}
