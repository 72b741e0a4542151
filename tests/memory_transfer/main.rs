//! Exporting, importing and verifying memories with the program.

#[path = "../fixture/mod.rs"]
mod fixture;

mod actr;
mod foreign;
mod round_trip;

use std::process::Stdio;

use fixture::{Fixture, Run};

/// Runs the program with a text on standard input.
pub(crate) fn with_input(fixture: &Fixture, arguments: &[&str], input: &str) -> Run {
    let path = fixture.home().join("input");
    std::fs::write(&path, input).expect("the file can be written");
    let input = std::fs::File::open(path).expect("the file can be opened");
    Run::from_command(fixture.command().args(arguments).stdin(Stdio::from(input)))
}

/// Returns the output of a run, with placeholders for directories.
pub(crate) fn output_text(fixture: &Fixture, run: &Run) -> String {
    let text = format!("{}{}exit code {}\n", run.err, run.out, run.code.unwrap_or(-1));
    [(fixture.root(), "[ROOT]"), (fixture.home(), "[HOME]")].iter().fold(text, |text, (path, name)| {
        let real = path.canonicalize().expect("the path exists");
        text.replace(&real.display().to_string(), name).replace(&path.display().to_string(), name)
    })
}

/// Creates a git repository with notes, reasoning patterns and turns in the project's and the user's memory, with
/// links, tags and accesses.
pub(crate) fn filled() -> Fixture {
    let fixture = Fixture::git();
    let good = |arguments: &[&str]| {
        let run = fixture.aur(arguments);
        assert_eq!(run.code, Some(0), "{arguments:?}: {run:?}");
    };
    good(&["mem", "add", "note", "-m", "The staging database is reset every Sunday", "--tag", "ops"]);
    good(&["mem", "add", "note", "-m", "Keys rotate in March", "--scope", "user"]);
    fixture.write("reas.json", r#"{"content": {"pattern": "token renewal", "success_score": 0.9}}"#);
    good(&["mem", "add", "reasoning", "reas.json", "--scope", "global"]);
    for text in ["How are keys rotated?", "In March."] {
        good(&["mem", "turn", "add", "--session", "s1", "--speaker", "user", text]);
    }
    good(&["mem", "link", "note:keys-rotate-in-march", "reas:token-renewal", "--weight", "0.5"]);
    good(&["mem", "search", "keys rotate", "--format", "json"]);
    good(&["mem", "feedback", "good", "note:keys-rotate-in-march"]);
    fixture
}
