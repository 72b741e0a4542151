//! Limits: projects, queries and directories that exceed a limit are refused.

use std::io::Write;
use std::process::Stdio;

use serde_json::Value;

use crate::fixture::{Fixture, Run};
use crate::{repository, run};

#[test]
fn a_project_cannot_exceed_the_limits_of_the_user() {
    let fixture = repository();
    let pipeline = "extends = \"default\"\n[run]\nmemory = \"100GiB\"\n[stage.discover]\nmax_file_size = 9223372036854775807\n\
                    [stage.embed]\nworkers = 255\n[stage.chunk]\nmax_chunks = 10000000\n";
    fixture.write(".aurora/pipeline.toml", pipeline);
    let refused = run(&fixture, &["mem", "index"]);
    assert_eq!(refused.code, Some(2), "{refused:?}");
    for part in [
        "A0115",
        "pipeline.toml:3:10",
        "pipeline.toml:5:17",
        "`max_file_size` is 9223372036854775807, above the limit of 67108864",
        "pipeline.toml:7:11",
        "pipeline.toml:9:14",
        "raise `memory` in [limits] of",
        "/.aurora/config.toml, or pass",
        "4 errors",
    ] {
        assert!(refused.err.contains(part), "{part}: {}", refused.err);
    }
    assert_eq!(run(&fixture, &["pipeline", "check"]).code, Some(2));
    assert_eq!(
        run(&fixture, &["pipeline", "check", ".aurora/pipeline.toml"]).code,
        Some(0),
        "named pipelines are not limited"
    );

    fixture.write_for_user("config.toml", "[limits]\nmemory = \"1TiB\"\nmax_file_size = 9223372036854775807\n");
    let raised = |name: &str, value: &str| {
        let mut command = fixture.command();
        command.args(["pipeline", "check"]).env(name, value).env("AURORA_LIMITS_WORKERS", "255");
        Run::from_command(&mut command)
    };
    assert_eq!(raised("AURORA_LIMITS_CHUNKS_PER_FILE", "10000000").code, Some(0));
    let still = raised("AURORA_LIMITS_CHUNKS_PER_FILE", "9999999");
    assert!(still.err.contains("the pipeline has 1 error"), "{still:?}");
    let unknown = raised("AURORA_LIMITS_CHUNKS", "1");
    assert!(unknown.err.contains("no limit is named `chunks`"), "{unknown:?}");
}

#[test]
fn a_project_cannot_raise_its_own_limits() {
    let fixture = repository();
    fixture.write(".aurora/config.toml", "[limits]\nmemory = \"1TiB\"\n");
    assert_eq!(run(&fixture, &["mem", "index", "-q"]).code, Some(0));
    let refused = run(&fixture, &["mem", "search", "password"]);
    assert_eq!(refused.code, Some(2), "{refused:?}");
    assert!(refused.err.contains("unknown key `limits`") && refused.err.contains("config.toml:1"), "{refused:?}");
}

#[test]
fn too_many_threads_are_refused() {
    let fixture = repository();
    let flag = run(&fixture, &["mem", "index", "--jobs", "100000"]);
    assert_eq!(flag.code, Some(2), "{flag:?}");
    assert!(flag.err.contains("from 1 to 256"), "{flag:?}");
    fixture.write("team.toml", "extends = \"default\"\n[run]\njobs = 100000\n[stage.chunk]\nworkers = 100000\n");
    let named = run(&fixture, &["mem", "index", "--pipeline", "team.toml"]);
    assert_eq!(named.code, Some(2), "{named:?}");
    assert_eq!(named.err.matches("a whole number from 1 to 256").count(), 2, "{named:?}");
}

#[test]
fn deeply_nested_or_large_pipeline_files_are_refused() {
    let fixture = repository();
    let deep = "[".repeat(100_000);
    let dotted = format!("a{} = 1\n", ".a".repeat(40_000));
    let stages: String = (0..1_000).map(|n| format!("[stage.s{n}]\n")).collect();
    let long = format!("# {}\n", "x".repeat(1 << 18));
    for text in [format!("a = {deep}"), deep, dotted, stages, long] {
        fixture.write(".aurora/pipeline.toml", &text);
        let refused = run(&fixture, &["mem", "index", "-q"]);
        assert_eq!(refused.code, Some(2), "{:.200}: {:.200}", text, refused.err);
        assert!(refused.err.contains("error[A01"), "{:.200}: {:.200}", text, refused.err);
    }
}

#[test]
fn a_long_query_is_refused_from_every_source() {
    let fixture = repository();
    assert_eq!(run(&fixture, &["mem", "index", "-q"]).code, Some(0));
    let long = "password ".repeat(5_000);
    let refused = run(&fixture, &["mem", "search", &long]);
    assert_eq!(refused.code, Some(2), "{refused:?}");
    assert!(refused.err.contains("longer than 16384 bytes"), "{}", refused.err);
    let trace = "at manager.authenticate_user(manager.py:7)\n".repeat(200);
    assert_eq!(run(&fixture, &["mem", "search", &trace]).code, Some(0), "a stack trace is short enough");
    for filter in ["--grep", "--fixed", "--path", "--lang", "--where"] {
        let value = format!("a={}", "b".repeat(10_000));
        let refused = run(&fixture, &["mem", "search", "password", filter, &value]);
        assert_eq!(refused.code, Some(2), "{filter}");
        assert!(refused.err.contains("of at most 4096 bytes each"), "{filter}: {:.300}", refused.err);
    }

    let mut command = fixture.command();
    command.args(["mem", "search", "--stdin", "--format", "jsonl"]);
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let mut input = child.stdin.take().expect("the stream is piped");
    write!(input, "password\n{long}\n{}\nretry with backoff", "y".repeat(16 << 10))
        .expect("the program reads its input");
    drop(input);
    let output = child.wait_with_output().expect("the program ends");
    let lines: Vec<Value> = String::from_utf8_lossy(&output.stdout)
        .lines()
        .map(|l| serde_json::from_str(l).expect("the text is JSON"))
        .collect();
    assert_eq!(lines.len(), 4);
    let errors: Vec<bool> = lines.iter().map(|line| line["error"].to_string().contains("longer than")).collect();
    assert_eq!(errors, [false, true, false, false]);
    assert!(lines.iter().all(|line| line["query"].as_str().is_some_and(|query| query.len() <= 16 << 10)));
    assert_eq!(lines[3]["query"], "retry with backoff");
}

#[test]
fn a_search_does_not_index_a_directory_without_a_project() {
    let fixture = Fixture::plain();
    fixture.write("notes/todo.md", "# Later\nwater the plants\n");
    let refused = run(&fixture, &["mem", "search", "plants"]);
    assert_eq!(refused.code, Some(2), "{refused:?}");
    assert!(refused.err.contains("is not a project") && refused.err.contains("`aur mem index"), "{refused:?}");
    assert!(!fixture.path(".aurora").exists(), "nothing was created");
    assert_eq!(run(&fixture, &["mem", "index", "-q"]).code, Some(0), "indexing was requested explicitly");
    assert_eq!(run(&fixture, &["mem", "search", "plants"]).code, Some(0));

    let made = Fixture::plain();
    made.write("Makefile", "all:\n").write("todo.md", "# Later\nwater the plants\n");
    assert_eq!(run(&made, &["mem", "search", "plants"]).code, Some(0));

    // A home directory never counts as a project, even if it contains files of a project.
    let home = repository();
    let mut command = home.command();
    command.env("HOME", home.root()).args(["mem", "search", "password"]);
    assert_eq!(Run::from_command(&mut command).code, Some(2));
}

#[test]
fn an_export_works_without_a_temporary_directory() {
    let fixture = repository();
    assert_eq!(run(&fixture, &["mem", "index", "-q"]).code, Some(0));
    let mut command = fixture.command();
    let output =
        command.args(["mem", "export", "-"]).env("TMPDIR", fixture.path("none")).output().expect("the command runs");
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(output.stdout.starts_with(b"AURMEM"));
}
