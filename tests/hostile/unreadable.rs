//! Unreadable files are not treated as deleted: their chunks are kept, and the run reports the files.

use crate::process::Outcome;
use crate::sandbox::Sandbox;
use crate::{Attack, INDEX, assert_withstands, ensure};

const STATS: &[&str] = &["mem", "stats", "--format", "json"];
/// A search for the function in `shut/inside.py`.
const KEPT: &[&str] = &["mem", "search", "kept_inside", "--format", "json", "--mode", "sparse", "--no-record"];

/// Adds nested directories, which a test can make unreadable, and indexes the sandbox.
fn with_directory(sandbox: &Sandbox) {
    for number in 0..30 {
        sandbox.write(format!("wide/d{number}/e/m{number}.py"), format!("def wide_{number}():\n    return {number}\n"));
    }
    sandbox.write("shut/inside.py", "def kept_inside():\n    return 1\n");
    sandbox.write("shut/deeper/still.py", "def kept_deeper():\n    return 2\n");
    let run = sandbox.run(sandbox.as_nobody(&mut sandbox.aur(INDEX)));
    assert_eq!(run.code, Some(0), "{}", run.summary());
}

/// Returns the number of chunks in the output of `aur mem stats`.
fn chunks(outcome: &Outcome) -> Option<u64> {
    let stats = outcome.json();
    stats["chunks"].as_u64().or_else(|| stats["chunks"]["total"].as_u64())
}

/// Returns a command that runs as an ordinary user, whom permissions restrict.
fn nobody(arguments: &'static [&'static str]) -> impl Fn(&Sandbox) -> std::process::Command {
    move |sandbox| {
        let mut command = sandbox.aur(arguments);
        sandbox.as_nobody(&mut command);
        command
    }
}

/// A function that changes a sandbox.
type Change = for<'s> fn(&'s Sandbox) -> &'s Sandbox;

/// Creates an attack with three index runs: the first before `shut` makes a path unreadable, the second afterwards, and
/// the third after `open` makes the path readable again.
fn unreadable(name: &str, mentioned: &'static str, shut: Change, open: Change) -> Attack {
    Attack::on_indexed(name, with_directory)
        .changing_sources()
        .run_with(nobody(STATS))
        .run_with(move |sandbox| {
            shut(sandbox);
            nobody(INDEX)(sandbox)
        })
        .run_with(nobody(STATS))
        .run_with(nobody(KEPT))
        .run_with(move |sandbox| {
            open(sandbox);
            nobody(INDEX)(sandbox)
        })
        .run_with(nobody(STATS))
        .expect(move |_, outcomes| {
            let [before, run, after, found, again, end] = outcomes else { return Err("expected: six runs".to_owned()) };
            let summary = run.json();
            ensure(chunks(before).is_some(), "the statistics can be read")?;
            ensure(chunks(before) == chunks(after), "the chunks of unreadable files stay")?;
            ensure(found.out.contains("shut/inside.py"), "unreadable files are still found")?;
            ensure(summary["complete"] == false, "the run is not complete")?;
            ensure(run.code == Some(1), "exit code 1")?;
            ensure(summary["errors"].to_string().contains(mentioned), "the report names the unreadable path")?;
            ensure(
                again.code == Some(0) && again.json()["complete"] == true,
                "the run is complete when everything can be read again",
            )?;
            ensure(chunks(before) == chunks(end), "no chunk was lost")
        })
}

#[test]
fn chunks_of_unreadable_files_are_kept() {
    assert_withstands([
        unreadable("a directory without rights", "shut", |s| s.mode("shut", 0o000), |s| s.mode("shut", 0o755)),
        unreadable("a directory that cannot be listed", "shut", |s| s.mode("shut", 0o311), |s| s.mode("shut", 0o755)),
        unreadable("a directory that cannot be entered", "shut", |s| s.mode("shut", 0o644), |s| s.mode("shut", 0o755)),
        unreadable(
            "a directory in one that has changed",
            "deeper",
            |s| {
                s.write("shut/added.py", "def added():\n    return 3\n").write("shut/added.py", "");
                s.remove("shut/added.py").mode("shut/deeper", 0o000)
            },
            |s| s.mode("shut/deeper", 0o755),
        ),
        unreadable(
            "a file without rights",
            "inside.py",
            |s| {
                s.write("shut/inside.py", "def kept_inside():\n    return 1  # changed\n").mode("shut/inside.py", 0o000)
            },
            |s| s.mode("shut/inside.py", 0o644),
        ),
    ]);
}

#[test]
fn too_few_file_descriptors_remove_no_chunks() {
    let attacks = [6, 8, 10, 12, 16, 20, 24].into_iter().map(|limit| {
        Attack::on_indexed(format!("ulimit -n {limit}"), with_directory)
            .run(STATS)
            .run_with(move |sandbox| sandbox.aur_after(&format!("ulimit -n {limit}"), INDEX))
            .run(STATS)
            .run(INDEX)
            .run(STATS)
            .expect(|_, outcomes| {
                let [before, run, after, again, end] = outcomes else { return Err("expected: five runs".to_owned()) };
                ensure(chunks(before).is_some() && chunks(before) == chunks(after), "no chunk is removed")?;
                let is_whole = run.code == Some(0)
                    && run.json()["complete"] == true
                    && run.json()["errors"] == serde_json::json!([]);
                ensure(is_whole || matches!(run.code, Some(1 | 2)), "success only without errors")?;
                ensure(again.code == Some(0) && chunks(before) == chunks(end), "the next run is complete")
            })
    });
    assert_withstands(attacks);
}

#[test]
fn a_first_run_with_too_few_file_descriptors_builds_no_empty_index() {
    let attacks = [6, 8, 12, 16].into_iter().map(|limit| {
        Attack::on_fresh(format!("a first run with ulimit -n {limit}"), |_| {})
            .run_with(move |sandbox| sandbox.aur_after(&format!("ulimit -n {limit}"), INDEX))
            .run(INDEX)
            .run(STATS)
            .expect(|_, outcomes| {
                let [run, again, stats] = outcomes else { return Err("expected: three runs".to_owned()) };
                let is_whole =
                    run.code == Some(0) && run.json()["complete"] == true && run.json()["files"]["indexed"] == 4;
                ensure(is_whole || matches!(run.code, Some(1 | 2)), "success only if every file was read")?;
                ensure(
                    again.code == Some(0) && chunks(stats).is_some_and(|chunks| chunks > 3),
                    "the next run is complete",
                )
            })
    });
    assert_withstands(attacks);
}

#[test]
fn chunks_of_unreadable_reasoning_and_conversations_are_kept() {
    const LOG: &str = "# Conversation: Kept\nDate: 2025-12-13\nQuery: how to keep\n\n## Phase 1: Assess\nkept_inside\n";
    let run = |name: &str, directory: &'static str| {
        Attack::on_indexed(name, |sandbox| {
            sandbox.write("../home/.aurora/logs/conversations/2025/12/kept.md", LOG);
            with_directory(sandbox);
        })
        .changing_sources()
        .run_with(nobody(STATS))
        .run_with(move |sandbox| {
            sandbox.mode(directory, 0o000);
            nobody(INDEX)(sandbox)
        })
        .run_with(nobody(STATS))
        .expect(|_, outcomes| {
            ensure(chunks(&outcomes[0]) == chunks(&outcomes[2]), "the chunks of unreadable files stay")?;
            ensure(outcomes[1].code == Some(1) && outcomes[1].json()["complete"] == false, "exit code 1, not complete")
        })
    };
    assert_withstands([
        run("reasoning without rights", ".aurora/reasoning"),
        run("conversations without rights", "../home/.aurora/logs/conversations"),
        run("a year of conversations without rights", "../home/.aurora/logs/conversations/2025"),
    ]);
}

#[test]
fn an_unreadable_root_is_an_error() {
    assert_withstands([Attack::on_indexed("a root that cannot be listed", with_directory)
        .changing_sources()
        .run_with(|sandbox| {
            sandbox.mode("", 0o311);
            nobody(INDEX)(sandbox)
        })
        .run_with(|sandbox| {
            sandbox.mode("", 0o755);
            nobody(KEPT)(sandbox)
        })
        .expect(|_, outcomes| {
            ensure(matches!(outcomes[0].code, Some(1 | 2)), "the run fails or is not complete")?;
            ensure(outcomes[1].out.contains("shut/inside.py"), "the indexed files are still found")
        })]);
}

#[test]
fn indexing_a_read_only_project_is_an_error() {
    assert_withstands([
        Attack::on_fresh("a root that cannot be written", |sandbox| {
            sandbox.mode("", 0o555);
        })
        .run_with(nobody(INDEX))
        .expect(|_, outcomes| ensure(outcomes[0].code == Some(2), "exit code 2")),
        Attack::on_indexed("an index that cannot be written", |sandbox| {
            with_directory(sandbox);
            sandbox.mode(".aurora/index", 0o555).mode(".aurora", 0o555);
        })
        .run_with(nobody(KEPT))
        .expect(|_, outcomes| ensure(outcomes[0].out.contains("shut/inside.py"), "the index can be searched")),
    ]);
}
