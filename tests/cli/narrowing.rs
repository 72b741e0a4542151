//! Options that narrow the output of a search (snippets, patterns and budgets), and the states of files.

use insta::assert_snapshot;
use serde_json::Value;

use crate::fixture::Run;
use crate::{command, indexed, run, settings};

#[test]
fn snippets_are_shown_on_terminals_or_on_request() {
    let fixture = indexed();
    let shown = |columns: Option<&str>, extra: &[&str]| {
        let mut command = command(&fixture);
        match columns {
            Some(columns) => command.env("COLUMNS", columns),
            None => command.env_remove("COLUMNS"),
        };
        let found = Run::from_command(
            command.args(["mem", "search", "stored hash", "--limit", "1", "--no-record"]).args(extra),
        );
        assert_eq!(found.code, Some(0), "{found:?}");
        found.out.lines().filter(|line| line.contains(" │ ")).count()
    };
    assert!((1..=2).contains(&shown(Some("80"), &[])));
    assert_eq!(shown(Some("40"), &[]), 0);
    assert_eq!(shown(None, &[]), 0);
    assert_eq!(shown(None, &["--snippets=1"]), 1);
    assert_eq!(shown(Some("80"), &["--snippets=0"]), 0);
    assert!((1..=3).contains(&shown(None, &["--snippets"])));
}

#[test]
fn nothing_is_wider_than_the_terminal() {
    let fixture = indexed();
    for columns in [40, 60, 80, 120] {
        for extra in [&["--snippets"][..], &["--show-scores"], &["--grep", "password"]] {
            let mut command = command(&fixture);
            command.env("COLUMNS", columns.to_string());
            let found = Run::from_command(command.args(["mem", "search", "check a password"]).args(extra));
            assert_eq!(found.code, Some(0), "{found:?}");
            for line in found.out.lines() {
                let width: usize = line.chars().map(|c| if c == '⭐' { 2 } else { 1 }).sum();
                assert!(width <= columns, "{width} > {columns}: {line}");
            }
        }
    }
}

#[test]
fn patterns_list_matches_in_path_order() {
    let fixture = indexed();
    settings(&fixture).bind(|| {
        let found = run(&fixture, &["mem", "search", "--grep", "return", "--no-record", "--legacy"]);
        assert_eq!((found.code, found.err.as_str()), (Some(0), ""), "{found:?}");
        assert_snapshot!(found.out, @r"
        File                   | Type     | Name                          | Lines | Score
        scratch.js:1           | function | untrackedHelper               | 1-3   | -
              2 │ return value + 1;
        src/auth/manager.py:7  | method   | UserManager.authenticate_user | 7-11  | -
             11 │ return name.strip()
        src/auth/manager.py:14 | function | hash_password                 | 14-16 | -
             16 │ return password[::-1]
        src/http/retry.go:3    | function | RetryWithBackoff              | 3-11  | -
              7 │         return nil
             10 │ return f()
        ");
        let found = run(&fixture, &["mem", "search", "hash", "--fixed", "password[", "--no-record", "--legacy"]);
        assert_snapshot!(found.out, @r"
        File                   | Type     | Name          | Lines | Score
        src/auth/manager.py:14 | function | hash_password | 14-16 | [.sss]
             16 │ return password[::-1]
        ");
    });
    let few = run(&fixture, &["mem", "search", "-g", "return", "-n", "1", "--no-record"]);
    assert!(few.err.contains("chunks match; the list is limited to 1"), "{few:?}");
    let nothing = run(&fixture, &["mem", "search", "-F", "Return", "--no-record"]);
    assert_eq!((nothing.code, nothing.out.as_str()), (Some(0), ""));
    assert!(nothing.err.contains("No chunk contains the requested text"), "{}", nothing.err);
}

#[test]
fn an_invalid_pattern_fails_before_the_search() {
    let fixture = indexed();
    let found = run(&fixture, &["mem", "search", "hash", "--grep", "f(x"]);
    assert_eq!((found.code, found.out.as_str()), (Some(2), ""));
    assert!(found.err.contains("Invalid pattern 'f(x': unclosed group"), "{}", found.err);
    assert_eq!(run(&fixture, &["mem", "search"]).code, Some(2));
}

#[test]
fn a_budget_returns_blocks_of_text() {
    let fixture = indexed();
    let arguments = ["mem", "search", "check the password of a user", "--budget", "130", "--no-record"];
    assert_snapshot!(run(&fixture, &arguments).out, @r#"
    src/auth/manager.py:1-16 UserManager.authenticate_user, hash_password, UserManager, …
    """Who may come in."""


    class UserManager:
        """Keeps the users."""

        def authenticate_user(self, name, password):
            """Check a password against the stored hash."""
            if not name:
                raise ValueError("no name")
            return name.strip()


    def hash_password(password):
        """Hash a password with salt."""
        return password[::-1]
    "#);
    for format in ["json", "jsonl"] {
        let found = run(&fixture, &[&arguments[..], &["--format", format]].concat()).json();
        assert_eq!(found["budget"], 130);
        assert!(found["tokens"].as_u64().is_some_and(|tokens| tokens <= 130), "{found}");
        let blocks = found["blocks"].as_array().expect("the value is a list");
        assert!(blocks.iter().all(|block| block["content"].is_string() && block["hits"][0]["rank"].is_u64()));
        assert!(found["index"]["generation"].is_u64() && found["results"].is_null());
    }
    let tiny = run(&fixture, &["mem", "search", "password", "--budget", "3", "--no-record"]);
    assert_eq!((tiny.code, tiny.out.as_str()), (Some(0), ""));
    assert!(tiny.err.contains("no result fits into 3 tokens"), "{}", tiny.err);
}

#[test]
fn only_results_within_the_budget_count_as_shown() {
    let fixture = indexed();
    run(&fixture, &["mem", "search", "hash_password", "--budget", "60"]);
    let found = run(&fixture, &["mem", "search", "hash_password", "--format", "json", "--no-record"]).json();
    let counts: Vec<&Value> =
        found["results"].as_array().expect("the value is a list").iter().map(|hit| &hit["access"]["count"]).collect();
    assert_eq!((counts[0], counts.last()), (&Value::from(1), Some(&&Value::from(0))), "{counts:?}");
}

#[test]
fn files_that_changed_since_indexing_are_reported() {
    let fixture = indexed();
    let ask = |extra: &[&str]| {
        let arguments = ["mem", "search", "hash_password", "--limit", "1", "--no-record"];
        run(&fixture, &[&arguments[..], extra].concat())
    };
    let state = || {
        let found = ask(&["--format", "json"]).json();
        (found["results"][0]["changed_since_index"].clone(), found["results"][0]["file_state"].clone())
    };
    assert_eq!(state(), (Value::Bool(false), "unchanged".into()));
    let old = std::fs::read_to_string(fixture.path("src/auth/manager.py")).expect("the file can be read");
    fixture.write("src/auth/manager.py", &old);
    assert_eq!(state().1, "unchanged", "only the modification time differs");
    fixture.write("src/auth/manager.py", old.replace("salt", "malt"));
    assert_eq!(state(), (Value::Bool(true), "changed".into()));
    let noted = ask(&[]);
    assert!(noted.err.contains("changed or deleted since indexing: src/auth/manager.py"), "{}", noted.err);
    fixture.remove("src/auth/manager.py");
    assert_eq!(state(), (Value::Bool(true), "gone".into()));
    assert!(ask(&["--show-scores"]).out.contains("File: deleted since it was indexed"));
}

#[test]
fn the_parts_of_a_score_add_up_to_the_final_score() {
    let fixture = indexed();
    for query in ["check a password", "hash_password", "retry with backoff", "timeout"] {
        let found = run(&fixture, &["mem", "search", query, "--show-scores", "--no-record"]);
        let boxes = found.out.split('┌').skip(1);
        let mut count = 0;
        for text in boxes {
            let number = |text: &str| (text.trim().parse::<f64>().expect("the text is a number") * 1e3).round() as i64;
            let total =
                text.split_once("Final Score:").expect("the output has a final score").1.split('│').next().map(number);
            let parts = text.lines().filter(|line| line.contains("├─ ") || line.contains("└─ "));
            let amounts = parts.filter_map(|line| {
                let amount = line.trim_end_matches([' ', '│']).rsplit(' ').next()?;
                amount.starts_with(['+', '-']).then(|| number(amount))
            });
            assert_eq!(total, Some(amounts.sum()), "{text}");
            count += 1;
        }
        assert!(
            count > 0 && found.out.contains("Stages: ") && found.out.contains("Index: generation 1"),
            "{}",
            found.out
        );
    }
}

#[test]
fn results_fit_terminals_of_three_widths_with_and_without_colours() {
    let fixture = indexed();
    let shown = |columns: &str, color: &str| {
        let arguments = [
            "mem",
            "search",
            "hash a password with salt",
            "--limit",
            "2",
            "--no-record",
            "--snippets",
            "--group",
            "chunk",
        ];
        let mut command = command(&fixture);
        command.env("COLUMNS", columns);
        let found = Run::from_command(command.args(arguments).args(["--color", color]));
        found.out.replace('\x1b', "␛")
    };
    let mut settings = settings(&fixture);
    settings.add_filter(r"m[01]\.\d{3}", "m[.sss]");
    settings.bind(|| {
        assert_snapshot!(shown("40", "never"), @r#"
        File                Name           Score
        …/manager.py:14     hash_password  [.sss]
             14 │ def hash_password(password):
             15 │     """Hash a password with s…
        src/…/manager.py:7  UserMa…e_user  [.sss]
              7 │ …e_user(self, name, password):
              8 │     """Check a password again…
        "#);
        assert_snapshot!(shown("80", "never"), @r#"
        File                Type      Name          Lines  Score  Commits  Last Modified
        …/manager.py:14     function  hash_…ssword  14-16  [.sss]  1        [time] ago
             14 │ def hash_password(password):
             15 │     """Hash a password with salt."""
        src/…/manager.py:7  method    UserM…e_user  7-11   [.sss]  2        [time] ago
              7 │ def authenticate_user(self, name, password):
              8 │     """Check a password against the stored hash."""
        "#);
        assert_snapshot!(shown("120", "never"), @r#"
        File                   | Type     | Name                          | Lines | Score | Commits | Last Modified
        src/auth/manager.py:14 | function | hash_password                 | 14-16 | [.sss] | 1       | [time] ago
             14 │ def hash_password(password):
             15 │     """Hash a password with salt."""
        src/auth/manager.py:7  | method   | UserManager.authenticate_user | 7-11  | [.sss] | 2       | [time] ago
              7 │ def authenticate_user(self, name, password):
              8 │     """Check a password against the stored hash."""
        "#);
        assert_snapshot!(shown("80", "always"), @r#"
        ␛[1mFile␛[0m                ␛[1mType␛[0m      ␛[1mName␛[0m          ␛[1mLines␛[0m  ␛[1mScore␛[0m  ␛[1mCommits␛[0m  ␛[1mLast Modified␛[0m
        ␛[36m…/manager.py:14␛[0m     function  hash_…ssword  14-16  ␛[32m[.sss]␛[0m  1        [time] ago
          ␛[2m   14 │␛[0m ␛[35mdef␛[0m ␛[1m␛[31mhash␛[0m_␛[1m␛[31mpassword␛[0m(␛[1m␛[31mpassword␛[0m):
          ␛[2m   15 │␛[0m     ␛[32m"""␛[0m␛[1m␛[31mHash␛[0m␛[32m a ␛[0m␛[1m␛[31mpassword␛[0m␛[32m ␛[0m␛[1m␛[31mwith␛[0m␛[32m ␛[0m␛[1m␛[31msalt␛[0m␛[32m."""␛[0m
        ␛[36msrc/…/manager.py:7␛[0m  method    UserM…e_user  7-11   ␛[32m[.sss]␛[0m  2        [time] ago
          ␛[2m    7 │␛[0m ␛[35mdef␛[0m authenticate_user(␛[35mself␛[0m, name, ␛[1m␛[31mpassword␛[0m):
          ␛[2m    8 │␛[0m     ␛[32m"""Check a ␛[0m␛[1m␛[31mpassword␛[0m␛[32m against the stored ␛[0m␛[1m␛[31mhash␛[0m␛[32m."""␛[0m
        "#);
    });
}
