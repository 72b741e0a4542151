//! Help texts of `aur log` and `aur logs`, and errors in their arguments.

use crate::fixture::{Fixture, Run};

#[test]
fn every_command_has_a_help_text() {
    let fixture = Fixture::plain();
    let mut settings = insta::Settings::clone_current();
    settings.set_prepend_module_to_snapshot(false);
    settings.bind(|| {
        for command in [
            "log",
            "log write",
            "log append",
            "logs",
            "logs today",
            "logs list",
            "logs search",
            "logs view",
            "logs export",
            "logs maintain",
        ] {
            let arguments: Vec<&str> = command.split_whitespace().chain(["--help"]).collect();
            let help = Run::from_command(fixture.command().env("COLUMNS", "100").args(&arguments));
            assert_eq!((help.code, help.err.as_str()), (Some(0), ""), "{arguments:?}");
            insta::assert_snapshot!(format!("help {command}").replace(' ', "-"), help.out);
        }
    });
}

#[test]
fn completions_contain_the_commands() {
    let fixture = Fixture::plain();
    for shell in ["bash", "zsh", "fish"] {
        let script = fixture.aur(&["completions", shell]);
        for word in ["append", "maintain", "today"] {
            assert!(script.out.contains(word), "{shell}: {word}");
        }
    }
}

#[test]
fn wrong_arguments_are_refused() {
    let fixture = Fixture::plain();
    for (arguments, expected) in [
        (&["logs", "--date", "2025-13-01"][..], "expected a day such as 2025-12-13"),
        (&["logs", "--date", "20251213"], "expected a day"),
        (&["logs", "--month", "2025"], "expected a month such as 2025-12"),
        (&["logs", "list", "2025/13"], "expected a year or a month"),
        (&["logs", "list", "2025", "--date", "2025-12-13"], "cannot be used with"),
        (&["logs", "--date", "2025-12-13", "--month", "2025-12"], "cannot be used with"),
        (
            &["logs", "search", "x", "--from", "2025-12-14", "--to", "2025-12-13"],
            "--from 2025-12-14 is later than --to 2025-12-13",
        ),
        (&["logs", "search"], "<TEXT>"),
        (&["logs", "search", "--regex", "a("], "cannot search for `a(`"),
        (&["logs", "search", " "], "there is nothing to search for"),
        (&["logs", "list", "--limit", "0"], "from 1 to 10000"),
        (&["logs", "export", "x", "--force"], "--output"),
        (&["log", "write", "--id", "x"], "--query"),
        (&["log", "write", "--query", "  "], "it must not be empty"),
        (&["log", "write", "--query", "x", "--id", "../x"], "must be 1 to 128 letters"),
        (&["log", "write", "--query", "x", "--timestamp", "yesterday"], "such as 2025-12-13T14:32:15Z"),
        (&["log", "write", "no-such-file.json"], "cannot read no-such-file.json"),
        (&["log"], "Usage: aur log"),
    ] {
        let run = fixture.aur(arguments);
        assert_eq!((run.code, run.out.as_str()), (Some(2), ""), "{arguments:?}: {run:?}");
        assert!(run.err.contains(expected), "{arguments:?}: {}", run.err);
    }
    assert!(!fixture.user_directory().join("logs").exists());
}
