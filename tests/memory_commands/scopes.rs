//! The scopes of entries, and the memory in which the entries of each scope are stored.

use crate::{Fixture, found, piped};

/// Creates a project with an entry of every scope. All entries contain the word "harbour".
fn harbour() -> Fixture {
    let fixture = Fixture::git();
    for (scope, id) in [("project", "p"), ("user", "u"), ("global", "g")] {
        // The texts differ, because results with equal texts would be shown as copies of one result.
        let text = format!(r#"{{"id": "note:{id}", "content": {{"text": "harbour of {scope}"}}}}"#);
        assert_eq!(piped(&fixture, &["mem", "add", "note", "-", "--scope", scope], &text).code, Some(0));
    }
    for session in ["a", "b"] {
        let arguments =
            ["mem", "turn", "add", "--session", session, "--speaker", "user", &format!("harbour of session {session}")];
        assert_eq!(fixture.aur(&arguments).out, format!("turn:{session}:1\n"));
    }
    fixture
}

#[test]
fn a_search_finds_its_scope_and_no_other_session() {
    let fixture = harbour();
    let seen = |arguments: &[&str]| {
        let mut ids = found(&fixture, &[&["harbour", "--source", "memory"], arguments].concat());
        ids.sort();
        ids
    };
    for (arguments, expected) in [
        (&[][..], &["note:g", "note:p", "note:u"][..]),
        (&["--session", "a"], &["note:g", "note:p", "note:u", "turn:a:1"]),
        (&["--session", "a", "--scope", "session"], &["turn:a:1"]),
        (&["--scope", "project"], &["note:p"]),
        (&["--scope", "user"], &["note:u", "turn:a:1", "turn:b:1"]),
        (&["--scope", "global"], &["note:g", "note:p", "note:u", "turn:a:1", "turn:b:1"]),
    ] {
        assert_eq!(seen(arguments), expected, "{arguments:?}");
    }
    let without = fixture.aur(&["mem", "search", "harbour", "--scope", "session"]);
    assert_eq!(without.code, Some(2));
    assert!(without.err.contains("--session"), "{without:?}");
}

#[test]
fn another_project_finds_entries_of_the_user_and_not_of_this_project() {
    let fixture = harbour();
    let elsewhere = tempfile::tempdir().expect("a temporary directory can be created");
    std::fs::create_dir(elsewhere.path().join(".git")).expect("the directory can be created");
    let mut command = fixture.command();
    command.current_dir(elsewhere.path()).args(["mem", "search", "harbour", "--source", "memory", "--format", "json"]);
    let run = crate::fixture::Run::from_command(&mut command);
    let ids: Vec<_> =
        run.json()["results"].as_array().expect("the value is a list").iter().map(|hit| hit["id"].clone()).collect();
    assert_eq!(ids.len(), 2, "{ids:?}");
    assert!(!ids.contains(&"note:p".into()), "{ids:?}");
}

#[test]
fn a_memory_made_by_somebody_else_is_refused() {
    let fixture = harbour();
    let stranger = Fixture::git();
    let copied = std::process::Command::new("cp")
        .args(["-r".as_ref(), fixture.path(".aurora").as_os_str(), stranger.root().as_os_str()])
        .status();
    assert!(copied.expect("cp runs").success());
    for arguments in [&["mem", "list"][..], &["mem", "add", "note", "-m", "x"]] {
        let refused = stranger.aur(arguments);
        assert_eq!(refused.code, Some(2), "{refused:?}");
        assert!(refused.err.contains("was not made by you"), "{refused:?}");
    }
    let searched = stranger.aur(&["mem", "search", "harbour"]);
    assert_eq!(searched.code, Some(0), "{searched:?}");
    assert!(
        searched.err.contains("memory could not be used") && searched.err.contains("was not made by you"),
        "{searched:?}"
    );
    // The user's own memory can be used without trusting anything.
    assert_eq!(stranger.aur(&["mem", "add", "note", "-m", "x", "--scope", "user"]).code, Some(0));
}

#[test]
fn older_turns_rank_lower_and_the_explanation_says_why() {
    let fixture = Fixture::git();
    for (time, text) in
        [("2000-01-01T00:00:00Z", "the harbour is closed"), ("2000-01-08T00:00:00Z", "the harbour is open")]
    {
        let arguments = ["mem", "turn", "add", "--session", "s", "--speaker", "user", "--time", time, text];
        assert_eq!(fixture.aur(&arguments).code, Some(0));
    }
    fixture.write(".aurora/config.toml", "[memory.decay]\nturn = 0.00001\n");
    let run = fixture.aur(&["mem", "search", "harbour", "--session", "s", "--format", "json"]).json();
    let ages: Vec<_> = run["results"]
        .as_array()
        .expect("the value is a list")
        .iter()
        .map(|hit| hit["explanation"]["rules"].clone())
        .collect();
    assert_eq!(ages.len(), 2);
    for rules in ages {
        let age = rules
            .as_array()
            .expect("the value is a list")
            .iter()
            .find(|rule| rule["rule"] == "age")
            .expect("the rule `age` has lowered the turn");
        assert!(age["reason"].as_str().is_some_and(|reason| reason.contains("exp(−0.00001")), "{age}");
        assert!(age["effect"].as_f64().is_some_and(|effect| effect < 0.0), "{age}");
    }
    fixture.write(".aurora/config.toml", "[memory.decay]\nturns = 0.1\nnote = 11\n");
    let wrong = fixture.aur(&["mem", "search", "harbour"]);
    assert_eq!(wrong.code, Some(2));
    assert!(wrong.err.contains("`memory.decay.turns`") && wrong.err.contains("`memory.decay.note`"), "{wrong:?}");
}

#[test]
fn a_turn_is_found_by_its_day_and_by_neighbouring_turns() {
    let fixture = Fixture::git();
    let say = |session: &str, text: &str| {
        let arguments = ["mem", "turn", "add", "--session", session, "--speaker", "user", "--scope", "user"];
        let time = ["--time", "2026-03-08T12:00:00Z"];
        assert_eq!(fixture.aur(&[&arguments[..], &time, &[text]].concat()).code, Some(0));
    };
    for text in ["which port has the staging server", "8443 since we moved", "thank you", "anything else?"] {
        say("s", text);
    }
    say("other", "no");
    let seen = |query: &str| {
        let mut ids = found(&fixture, &[query, "--source", "memory", "--mode", "sparse", "--scope", "user"]);
        ids.sort();
        ids
    };
    assert_eq!(seen("staging server"), ["turn:s:1", "turn:s:2"]);
    assert_eq!(seen("8443"), ["turn:s:1", "turn:s:2", "turn:s:3"]);
    assert_eq!(seen("8 March 2026").len(), 5);
    assert_eq!(fixture.aur(&["mem", "remove", "turn:s:1"]).code, Some(0));
    assert_eq!(seen("staging server"), [] as [&str; 0]);
    assert_eq!(fixture.aur(&["mem", "undo", "turn:s:1"]).code, Some(0));
    assert_eq!(seen("staging server"), ["turn:s:1", "turn:s:2"]);
}
