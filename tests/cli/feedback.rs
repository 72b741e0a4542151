//! `aur mem feedback`, and the access history of a chunk, which survives rebuilding the index.

use insta::assert_snapshot;
use serde_json::Value;

use crate::fixture::Fixture;
use crate::{MANAGER, indexed, run, settings};

/// Returns the id and the access history of the first result for `hash_password`.
fn history(fixture: &Fixture) -> (String, Value) {
    let found = run(fixture, &["mem", "search", "hash_password", "--limit", "1", "--format", "json", "--no-record"]);
    let hit = found.json()["results"][0].clone();
    (hit["id"].as_str().unwrap_or_default().to_owned(), hit["access"].clone())
}

#[test]
fn verdicts_are_counted_and_shown() {
    let fixture = indexed();
    settings(&fixture).bind(|| {
        let good = run(&fixture, &["mem", "feedback", "good", "code:src/auth/manager.py:hash_password"]);
        assert_eq!((good.code, good.err.as_str()), (Some(0), ""), "{good:?}");
        assert_snapshot!(good.out, @"code:src/auth/manager.py:hash_password: activation +0.20 by feedback");
        // A line of a method denotes the method, not the class around it. Two locations in one chunk count once.
        let place = ["src/auth/manager.py:8", "./src/auth/manager.py:7-8"];
        let bad = run(&fixture, &["mem", "feedback", "bad", "--partial", place[0], place[1]]);
        assert_snapshot!(bad.out, @"code:src/auth/manager.py:UserManager.authenticate_user: activation -0.05 by feedback");
    });
    let (_, access) = history(&fixture);
    assert_eq!((&access["count"], &access["feedback"]["good"]), (&0.into(), &1.into()), "{access}");
    let explained = run(&fixture, &["mem", "search", "hash_password", "--limit", "1", "--show-scores"]);
    assert!(explained.out.contains("marked good 1x"), "{}", explained.out);
    let json = run(&fixture, &["mem", "feedback", "bad", "src/auth/manager.py:15", "--format", "json"]).json();
    assert_eq!(json["chunks"][0]["learned"], 0.1, "{json}");
    assert_eq!(json["verdict"], "bad");
}

#[test]
fn an_unknown_id_is_refused_and_nothing_is_recorded() {
    let fixture = indexed();
    let known = "code:src/auth/manager.py:hash_password";
    settings(&fixture).bind(|| {
        let refused = |id: &str| {
            let run = run(&fixture, &["mem", "feedback", "good", known, id]);
            assert_eq!((run.code, run.out.as_str()), (Some(2), ""), "{run:?}");
            run.err
        };
        assert_snapshot!(refused("code:src/auth/manager.py:hash_pasword"), @r"
        Error: no chunk has the id code:src/auth/manager.py:hash_pasword; nothing was recorded
          Help: did you mean code:src/auth/manager.py:hash_password?
        ");
        assert_snapshot!(refused("src/auth/manger.py:3"), @r"
        Error: no chunk has the id src/auth/manger.py:3; nothing was recorded
          Help: did you mean code:src/auth/manager.py:manager.py or code:src/auth/manager.py:UserManager or code:src/auth/manager.py:hash_password?
        ");
        assert_snapshot!(refused("src/http/retry.go:400"), @r"
        Error: no chunk of src/http/retry.go contains line 400; nothing was recorded
          Help: results show the lines of every chunk; the file may have changed since it was indexed
        ");
        assert_snapshot!(refused("RetryWithBackoff"), @r"
        Error: no chunk has the id RetryWithBackoff; nothing was recorded
          Help: did you mean code:src/http/retry.go:RetryWithBackoff?
        ");
        assert_snapshot!(refused("nothing at all"), @r"
        Error: no chunk has the id nothing at all; nothing was recorded
          Help: give the `id` of a result from the JSON output, or PATH:LINE
        ");
    });
    assert_eq!(history(&fixture).1["feedback"], Value::Null);
}

#[test]
fn history_survives_edits_moves_and_rebuilds() {
    let fixture = indexed();
    let index = |arguments: &[&str]| {
        let run = run(&fixture, &[&["mem", "index", "--quiet"], arguments].concat());
        assert_eq!(run.code, Some(0), "{run:?}");
    };
    run(&fixture, &["mem", "search", "hash_password", "--limit", "1"]);
    run(&fixture, &["mem", "feedback", "good", "code:src/auth/manager.py:hash_password"]);
    let (id, before) = history(&fixture);
    assert_eq!((id.as_str(), &before["count"]), ("code:src/auth/manager.py:hash_password", &1.into()));

    fixture.write("src/auth/manager.py", format!("import os\n\n{}", MANAGER.replace("if not name", "if name is None")));
    index(&[]);
    assert_eq!(history(&fixture), (id, before.clone()), "after an edit elsewhere in the file");

    fixture.commit("edited");
    fixture.run_git(&["mv", "src/auth", "src/access"]);
    index(&[]);
    let moved = ("code:src/access/manager.py:hash_password".to_owned(), before);
    assert_eq!(history(&fixture), moved, "after the move of its directory");

    index(&["--force"]);
    assert_eq!(history(&fixture), moved, "after a forced run");
    std::fs::remove_dir_all(fixture.path(".aurora/index")).expect("the directory can be removed");
    index(&[]);
    assert_eq!(history(&fixture), moved, "after the index was deleted");

    let file = std::fs::read(fixture.path("src/access/manager.py")).expect("the file can be read");
    fixture.remove("src/access/manager.py");
    index(&[]);
    fixture.write("src/access/manager.py", file);
    index(&[]);
    assert_eq!(history(&fixture), moved, "after the file was missing for one run");
}
