//! `aur log` and `aur logs`, as users and other programs run them. Each test has its own home directory.

#[path = "../fixture/mod.rs"]
mod fixture;

mod finding;
mod help;
mod indexing;
mod keeping;
#[cfg(unix)]
mod kills;
mod writing;

use std::io::Write as _;
use std::path::PathBuf;
use std::process::Stdio;

use fixture::{Fixture, Run};
use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan as _};

/// An interaction with two phases, in JSON.
const OAUTH: &str = r#"{
  "query": "Implement OAuth2 authentication for our API",
  "id": "aurora-20251213-143215-abc123",
  "timestamp": "2025-12-13T14:32:15Z",
  "phases": [
    {"name": "ASSESS", "output": {"complexity": "complex", "confidence": 0.87}},
    {"name": "DECOMPOSE", "text": "Research providers first.", "output": {"subgoals": [{"id": "SG1", "agent": "research-agent"}]}}
  ],
  "interactions": [{"agent": "What is your monthly budget?", "user": "$2000"}],
  "response": "OAuth2 is in place, with Auth0 as the provider.",
  "summary": {"duration_ms": 12785, "complexity": "complex", "verification_score": 0.93, "tokens": 23650, "cost_usd": 0.0234}
}"#;

/// Runs the program with a text on standard input.
fn feed(fixture: &Fixture, arguments: &[&str], text: impl AsRef<[u8]>) -> Run {
    let mut command = fixture.command();
    command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the program starts");
    // A program that rejects its arguments does not read its input, so writing may fail.
    let _ = child.stdin.take().expect("the stream is piped").write_all(text.as_ref());
    let output = child.wait_with_output().expect("the program ends");
    Run {
        code: output.status.code(),
        out: String::from_utf8(output.stdout).expect("the text is UTF-8"),
        err: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

/// Writes a log, asserts that this succeeds, and returns the path of the log relative to the directory of logs.
fn write(fixture: &Fixture, json: &str) -> String {
    let run = feed(fixture, &["log", "write", "--format", "json"], json);
    assert_eq!(run.code, Some(0), "{run:?}");
    run.json()["file"].as_str().expect("the value is a string").to_owned()
}

/// Returns an interaction in JSON with a query, a time and one phase.
fn interaction(query: &str, time: &str) -> String {
    serde_json::json!({"query": query, "timestamp": time, "phases": [{"name": "ASSESS", "output": {"about": query}}]})
        .to_string()
}

/// Returns the absolute path of a file in the directory of logs.
fn path(fixture: &Fixture, below: &str) -> PathBuf {
    fixture.user_directory().join("logs/conversations").join(below)
}

fn content(fixture: &Fixture, below: &str) -> String {
    std::fs::read_to_string(path(fixture, below)).expect("the file can be read")
}

/// Returns the relative paths of all files in the directories of the months.
fn files(fixture: &Fixture) -> Vec<String> {
    let root = path(fixture, "");
    let mut files = Vec::new();
    let mut open = vec![root.clone()];
    while let Some(directory) = open.pop() {
        for entry in std::fs::read_dir(directory).into_iter().flatten() {
            let path = entry.expect("the entry can be read").path();
            let below = path.strip_prefix(&root).expect("the path is below the root").to_string_lossy().into_owned();
            match path.is_dir() {
                true => open.push(path),
                false if below.starts_with('.') => {}
                false => files.push(below),
            }
        }
    }
    files.sort();
    files
}

/// Returns the date some days ago, in UTC.
fn days_ago(days: i64) -> Date {
    let today = Timestamp::now().to_zoned(TimeZone::UTC).date();
    today.checked_sub(days.days()).expect("the date is in range")
}

/// Creates a log as `aur log write` would have written it some days ago, and returns the relative path of the log.
fn put_log(fixture: &Fixture, name: &str, days: i64, content: impl AsRef<[u8]>) -> String {
    let day = days_ago(days);
    let below = format!("{}/{name}-{day}.md", day.strftime("%Y/%m"));
    fixture.write_for_user(&format!("logs/conversations/{below}"), content);
    let file = std::fs::File::options().append(true).open(path(fixture, &below)).expect("the file can be opened");
    let age = std::time::Duration::from_secs(86_400 * days.unsigned_abs());
    file.set_modified(std::time::SystemTime::now() - age).expect("the modification time can be set");
    below
}
