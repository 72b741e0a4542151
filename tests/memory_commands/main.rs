//! The commands that write, search and recall memory, as users and agents run them.

#[path = "../fixture/mod.rs"]
mod fixture;

mod audit;
mod clocks;
mod contract;
mod hooks;
mod learning;
mod malformed;
mod scopes;
mod tags;

use std::io::Write as _;
use std::process::Stdio;

use fixture::{Fixture, Run};

/// Runs a command with a text on standard input.
fn piped(fixture: &Fixture, arguments: &[&str], input: &str) -> Run {
    let mut command = fixture.command();
    let mut child = command
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    // A program that rejects its arguments does not read its input, so writing may fail.
    let _ = child.stdin.take().expect("the stream is piped").write_all(input.as_bytes());
    let output = child.wait_with_output().expect("the program ends");
    Run {
        code: output.status.code(),
        out: String::from_utf8_lossy(&output.stdout).into_owned(),
        err: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

/// Adds knowledge about OAuth providers to the user's memory.
fn add_providers(fixture: &Fixture) {
    let document = r#"{"content": {"topic": "OAuth2 providers", "summary": "Auth0 compared with Okta",
        "facts": [{"id": "F1", "statement": "Auth0 supports social login"}], "confidence": 0.7}}"#;
    let added = piped(fixture, &["mem", "add", "knowledge", "-", "--scope", "user"], document);
    assert_eq!(added.code, Some(0), "{added:?}");
}

/// Returns the ids of the results of a search, best first.
fn found(fixture: &Fixture, arguments: &[&str]) -> Vec<String> {
    let arguments = [&["mem", "search", "--format", "json"], arguments].concat();
    let run = fixture.aur(&arguments);
    let json = run.json();
    let results = json["results"].as_array().unwrap_or_else(|| panic!("no results: {run:?}"));
    results.iter().map(|hit| hit["id"].as_str().expect("the value is a string").to_owned()).collect()
}
