//! The command line: what it prints, on which stream, and with which exit code.

#[path = "../fixture/mod.rs"]
mod fixture;

mod blame;
mod constants;
#[cfg(unix)]
mod dry;
#[cfg(unix)]
mod embedding_service;
mod encodings;
mod errors;
mod feedback;
mod fields;
#[cfg(unix)]
mod git_files;
mod graph;
mod help;
mod indexing;
mod jobs;
mod limits;
mod narrowing;
mod nested;
mod observing;
mod pipelines;
mod places;
#[cfg(unix)]
mod plugins;
mod protocol;
mod redaction;
mod refreshing;
#[cfg(feature = "bert")]
mod reranking;
mod searching;
mod streams;
#[cfg(unix)]
mod unreadable;
mod why;

use std::process::Command;

use fixture::{Fixture, Run};

/// Creates a small repository with three languages, two commits, an untracked file, and files that are skipped.
fn repository() -> Fixture {
    let fixture = Fixture::git();
    fixture.write(".gitignore", ".aurora/\n");
    fixture.write("src/auth/manager.py", MANAGER);
    fixture.write("src/http/retry.go", RETRY);
    fixture.write("docs/guide.md", GUIDE);
    fixture.write("logo.png", [0x89, b'P', b'N', b'G', 0, 0, 0, 1]);
    fixture.commit("first");
    fixture.write("src/auth/manager.py", MANAGER.replace("return name", "return name.strip()"));
    fixture.commit("second");
    fixture.write("scratch.js", "export function untrackedHelper(value) {\n  return value + 1;\n}\n");
    for file in ["src/auth/manager.py", "src/http/retry.go", "docs/guide.md", "logo.png", "scratch.js", ".gitignore"] {
        fixture.age(file);
    }
    fixture
}

const MANAGER: &str = r#""""Who may come in."""


class UserManager:
    """Keeps the users."""

    def authenticate_user(self, name, password):
        """Check a password against the stored hash."""
        if not name:
            raise ValueError("no name")
        return name


def hash_password(password):
    """Hash a password with salt."""
    return password[::-1]
"#;

const RETRY: &str = "package http

// RetryWithBackoff calls f again after a growing pause until it succeeds.
func RetryWithBackoff(f func() error, attempts int) error {
	for i := 0; i < attempts; i++ {
		if f() == nil {
			return nil
		}
	}
	return f()
}
";

const GUIDE: &str = "# Guide

How to install and run.

## Configuration

Set the timeout in seconds.
";

/// Creates the repository of [`repository`] and indexes it.
fn indexed() -> Fixture {
    let fixture = repository();
    let run = fixture.aur(&["mem", "index", "--quiet"]);
    assert_eq!((run.code, run.out.as_str()), (Some(0), ""), "{run:?}");
    fixture
}

/// Returns a command that runs the program as on a terminal with a hundred columns.
fn command(fixture: &Fixture) -> Command {
    let mut command = fixture.command();
    command.env("COLUMNS", "100");
    command
}

fn run(fixture: &Fixture, arguments: &[&str]) -> Run {
    Run::from_command(command(fixture).args(arguments))
}

/// Snapshot settings that replace values which depend on the machine or the day.
fn settings(fixture: &Fixture) -> insta::Settings {
    let mut settings = insta::Settings::clone_current();
    let root = fixture.root().canonicalize().expect("the path exists");
    for root in [root.as_path(), fixture.root()] {
        settings.add_filter(&regex_escaped(&root.display().to_string()), "[root]");
    }
    settings.add_filter(r"\b\d+ (year|month)s? ago", "[time] ago");
    settings.add_filter(r"\b[01]\.\d{3}\b", "[.sss]");
    settings.set_prepend_module_to_snapshot(false);
    settings
}

fn regex_escaped(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        if !c.is_alphanumeric() && c != '/' {
            out.push('\\');
        }
        out.push(c);
    }
    out
}
