//! Searches that update the index before they answer.

use std::fs::File;
use std::io::Write;
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::fixture::{Fixture, Run};
use crate::{GUIDE, MANAGER, indexed};

/// Time limit of an update in milliseconds, long enough on any machine.
const LONG: &str = "60000";

/// Returns a command for a search that has enough time to update the index.
fn search(fixture: &Fixture, arguments: &[&str]) -> Command {
    let mut command = fixture.command();
    command.env("AURORA_SEARCH_REFRESH", LONG).args(["mem", "search", "--mode", "sparse"]).args(arguments);
    command
}

fn json(command: &mut Command) -> Value {
    let run = Run::from_command(command.args(["--format", "json"]));
    assert_eq!(run.code, Some(0), "{run:?}");
    run.json()
}

fn ask(fixture: &Fixture, query: &str) -> Value {
    json(&mut search(fixture, &[query]))
}

/// Returns the names of the results.
fn names(found: &Value) -> Vec<&str> {
    found["results"].as_array().expect("the value is a list").iter().filter_map(|hit| hit["name"].as_str()).collect()
}

/// Returns the notes without durations.
fn notes(found: &Value) -> Vec<String> {
    let notes = found["notes"].as_array().expect("the value is a list").iter().filter_map(Value::as_str);
    notes.map(|note| note.split(" (").next().unwrap_or_default().to_owned()).collect()
}

/// Returns the notes about an update of the index.
fn update_notes(found: &Value) -> Vec<String> {
    notes(found).into_iter().filter(|note| note.contains("index ")).collect()
}

/// Adds a function that the index does not contain yet.
fn edit(fixture: &Fixture) {
    fixture.write("src/auth/manager.py", format!("{MANAGER}\n\ndef forget_everything():\n    return None\n"));
}

/// Notes of a search for a function that the index does not contain.
const OLD: [&str; 1] = ["No keyword matches found"];

/// Asserts that a search answers from the old generation. If `note` is given, it must be the only note about an update;
/// otherwise there must be none.
fn assert_old(found: &Value, note: Option<&str>) {
    assert!(!names(found).contains(&"forget_everything"), "{found}");
    assert_eq!(update_notes(found), Vec::from_iter(note), "{found}");
}

#[test]
fn a_search_finds_edits_and_reports_the_update() {
    let fixture = indexed();
    assert_eq!(notes(&ask(&fixture, "forget_everything")), OLD);
    edit(&fixture);
    fixture.remove("scratch.js");
    let found = ask(&fixture, "forget_everything");
    assert_eq!(
        (names(&found)[0], notes(&found)),
        ("forget_everything", vec!["Updated the index first: 2 files changed".to_owned()])
    );
    assert_eq!(found["index"]["generation"], 2);
    let gone = ask(&fixture, "untrackedHelper");
    assert!(!names(&gone).contains(&"untrackedHelper") && gone["index"]["generation"] == 2, "{gone}");
    let table = Run::from_command(search(&fixture, &["forget_everything"]).env("COLUMNS", "100"));
    assert!(table.err.is_empty() && table.out.contains("forget_everything"), "{table:?}");
    fixture.write("more.py", "def remember_more():\n    pass\n");
    let table = Run::from_command(&mut search(&fixture, &["remember_more"]));
    assert!(table.err.starts_with("Note: Updated the index first: 1 file changed ("), "{table:?}");
}

#[test]
fn updates_before_searches_can_be_turned_off() {
    let fixture = indexed();
    edit(&fixture);
    assert_old(&json(&mut search(&fixture, &["forget_everything", "--no-refresh"])), None);
    assert_old(&json(search(&fixture, &["forget_everything"]).env("AURORA_SEARCH_REFRESH", "0")), None);
    fixture.write(".aurora/config.toml", "[search]\nrefresh = 0\n");
    assert_old(&json(search(&fixture, &["forget_everything"]).env_remove("AURORA_SEARCH_REFRESH")), None);
    // `--no-index` prevents building an index, not updating one.
    let found = json(&mut search(&fixture, &["forget_everything", "--no-index"]));
    assert_eq!(names(&found)[0], "forget_everything");
}

#[test]
fn a_time_limit_out_of_range_is_refused() {
    let fixture = indexed();
    let run = Run::from_command(search(&fixture, &["hash"]).env("AURORA_SEARCH_REFRESH", "60001"));
    assert_eq!(run.code, Some(2));
    assert!(run.err.contains("`search.refresh` must be a whole number between 0 and 60000, not 60001"), "{run:?}");
}

#[test]
fn a_search_does_not_wait_for_a_writer() {
    let fixture = indexed();
    edit(&fixture);
    let lock = File::options().write(true).open(fixture.path(".aurora/writer.lock")).expect("the file can be opened");
    lock.try_lock().expect("no other process is writing");
    let note = "The index is older than the tree: 1 file changed; another process is updating it";
    assert_old(&ask(&fixture, "forget_everything"), Some(note));
    drop(lock);
    assert_eq!(names(&ask(&fixture, "forget_everything"))[0], "forget_everything");
}

#[test]
fn a_search_does_not_reindex_for_a_changed_pipeline() {
    let fixture = indexed();
    fixture.write(".aurora/pipeline.toml", "extends = \"default\"\n[stage.incremental-check]\nredact = false\n");
    assert_old(&ask(&fixture, "forget_everything"), None);
    edit(&fixture);
    let note = "The index is older than the tree: 1 file changed; it was built by another pipeline or version of `aur`, \
                so only `aur mem index` updates it";
    assert_old(&ask(&fixture, "forget_everything"), Some(note));
    assert_eq!(fixture.aur(&["mem", "index", "-q"]).code, Some(0));
    assert_eq!(names(&ask(&fixture, "forget_everything"))[0], "forget_everything");
}

#[test]
fn a_failing_update_does_not_fail_the_search() {
    let fixture = indexed();
    edit(&fixture);
    fixture.write(".aurora/pipeline.toml", "extends = \"nothing\"\n");
    let note = "The index was not updated first: the pipeline has errors; `aur pipeline check` shows them";
    let found = ask(&fixture, "hash_password");
    assert_eq!((names(&found)[0], update_notes(&found)), ("hash_password", vec![note.to_owned()]));
}

#[test]
fn searches_do_not_update_an_imported_index() {
    let fixture = indexed();
    let artefact = fixture.home().join("index.aur");
    let artefact = artefact.to_str().expect("the path is UTF-8");
    assert_eq!(fixture.aur(&["mem", "export", artefact]).code, Some(0));
    let checkout = fixture.duplicate();
    assert_eq!(checkout.aur(&["mem", "import", artefact]).code, Some(0));
    edit(&checkout);
    assert_old(&ask(&checkout, "forget_everything"), None);
    assert_eq!(checkout.aur(&["mem", "compact"]).code, Some(0));
    assert_old(&ask(&checkout, "forget_everything"), None);
    assert_eq!(checkout.aur(&["mem", "index", "-q"]).code, Some(0));
    checkout.write("more.py", "def remember_more():\n    pass\n");
    assert_eq!(names(&ask(&checkout, "remember_more"))[0], "remember_more");
}

#[test]
fn searches_do_not_remove_chunks_of_an_index_without_sources() {
    let fixture = indexed();
    for file in ["src/auth/manager.py", "src/http/retry.go", "docs/guide.md", "scratch.js"] {
        fixture.remove(file);
    }
    let found = ask(&fixture, "hash_password");
    assert_eq!((names(&found)[0], update_notes(&found).len()), ("hash_password", 0), "{found}");
}

#[cfg(unix)]
#[test]
fn searches_do_not_run_programs_of_a_pipeline() {
    let fixture = indexed();
    let stage = "extends = \"default\"\n[stage.owner]\nuse = \"process\"\ncommand = [\"false\"]\nreads = [\"file.path\"]\n\
                 writes = { owner = \"string\" }\n";
    fixture.write(".aurora/pipeline.toml", stage);
    edit(&fixture);
    let note = "The index is older than the tree: 1 file changed; it was built by another pipeline or version of `aur`, \
                so only `aur mem index` updates it";
    assert_old(&ask(&fixture, "forget_everything"), Some(note));
}

#[test]
fn files_lose_their_git_state_when_the_repository_is_removed() {
    let fixture = indexed();
    let status = |found: &Value| {
        let hits = found["results"].as_array().expect("the value is a list").iter();
        let statuses = hits.filter(|hit| hit["name"] == "untrackedHelper").map(|hit| hit["git"]["status"].clone());
        Vec::from_iter(statuses)
    };
    assert_eq!(status(&ask(&fixture, "untrackedHelper")), ["untracked"]);
    std::fs::remove_dir_all(fixture.path(".git")).expect("the directory can be removed");
    let found = ask(&fixture, "untrackedHelper");
    assert_eq!((status(&found), &found["index"]["generation"]), (vec!["none".into()], &Value::from(2)), "{found}");
    // Nothing is left to update, so the next search keeps the generation.
    let again = ask(&fixture, "untrackedHelper");
    assert_eq!(again["index"]["generation"], 2, "{again}");
    let digest = || fixture.aur(&["mem", "verify", "--digest"]).out;
    let updated = digest();
    assert_eq!(fixture.aur(&["mem", "index", "--force", "-q"]).code, Some(0));
    assert_eq!(updated, digest());
}

#[test]
fn queries_from_standard_input_use_one_generation() {
    let fixture = indexed();
    edit(&fixture);
    let mut asked = search(&fixture, &["--stdin", "--format", "jsonl"]);
    let mut child = asked.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("the program starts");
    let queries = b"forget_everything\nforget_everything\n";
    child.stdin.take().expect("the stream is piped").write_all(queries).expect("the program reads");
    let output = child.wait_with_output().expect("the program ends");
    let lines = String::from_utf8(output.stdout).expect("the text is UTF-8");
    let answers: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).expect("the text is JSON")).collect();
    assert_eq!(answers.iter().map(|found| names(found)[0]).collect::<Vec<_>>(), ["forget_everything"; 2]);
    assert_eq!(answers.iter().map(|found| update_notes(found).len()).collect::<Vec<_>>(), [1, 0]);
}

#[test]
fn concurrent_searches_all_answer() {
    let fixture = indexed();
    for round in 0..3 {
        fixture.write("docs/guide.md", format!("{GUIDE}\n## Round {round}\n\nAnd again.\n"));
        let started = (0..4).map(|_| {
            let mut asked = search(&fixture, &["Configuration", "--format", "json", "--no-record"]);
            asked.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the program starts")
        });
        for child in Vec::from_iter(started) {
            let output = child.wait_with_output().expect("the program ends");
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
            let found: Value = serde_json::from_slice(&output.stdout).expect("the text is JSON");
            assert!(names(&found).contains(&"Configuration"), "{found}");
        }
        let name = format!("Round {round}");
        assert!(names(&ask(&fixture, &name)).contains(&name.as_str()));
    }
    assert_eq!(fixture.aur(&["mem", "verify"]).code, Some(0));
}

/// File with the result of the last check of the tree. A search writes the file if it finds the tree unchanged.
const CHECK: &str = ".aurora/tree.check";

/// Repeats a search until it stores the check, which requires that every file is older than one tick of the clock.
fn search_until_checked(fixture: &Fixture) -> Vec<u8> {
    let check = fixture.path(CHECK);
    for _ in 0..1_000 {
        let found = ask(fixture, "forget_everything");
        assert!(update_notes(&found).is_empty(), "{found}");
        if let Ok(stored) = std::fs::read(&check) {
            return stored;
        }
    }
    panic!("no check was stored");
}

#[test]
fn every_change_is_found_after_searches_without_changes() {
    let fixture = indexed();
    let restore_times = |path: &str, change: &dyn Fn()| {
        let file = fixture.path(path);
        let before = std::fs::metadata(&file)
            .expect("the metadata can be read")
            .modified()
            .expect("the modification time is available");
        change();
        File::options()
            .write(true)
            .open(&file)
            .expect("the file can be opened")
            .set_modified(before)
            .expect("the modification time can be set");
    };
    let edits: [(&str, &dyn Fn(), &str); 8] = [
        ("added", &|| _ = fixture.write("src/fresh.py", "def added_function():\n    pass\n"), "added_function"),
        ("edited", &|| _ = fixture.write("src/fresh.py", "def edited_function():\n    pass\n"), "edited_function"),
        (
            "edited with the same size and modification time",
            &|| {
                restore_times("src/fresh.py", &|| {
                    fixture.write("src/fresh.py", "def edITed_function():\n    pass\n");
                });
            },
            "edITed_function",
        ),
        (
            "renamed",
            &|| {
                std::fs::rename(fixture.path("src/fresh.py"), fixture.path("src/renamed.py"))
                    .expect("the path can be renamed")
            },
            "edITed_function",
        ),
        ("ignored", &|| _ = fixture.write(".ignore", "renamed.py\n"), ""),
        ("no longer ignored", &|| _ = fixture.remove(".ignore"), "edITed_function"),
        ("deleted", &|| _ = fixture.remove("src/renamed.py"), ""),
        (
            "in a new directory",
            &|| _ = fixture.write("src/new/deep/file.py", "def deep_function():\n    pass\n"),
            "deep_function",
        ),
    ];
    let mut generation = 1;
    for (what, edit, name) in edits {
        let stored = search_until_checked(&fixture);
        let unchanged = ask(&fixture, "forget_everything");
        assert_eq!((&unchanged["index"]["generation"], update_notes(&unchanged).len()), (&Value::from(generation), 0));
        // The check is still stored, so the next search does not compare every file with the index. It must find the
        // change nevertheless.
        assert_eq!(std::fs::read(fixture.path(CHECK)).expect("the file can be read"), stored, "{what}");
        edit();
        let query = if name.is_empty() { "edITed_function" } else { name };
        let found = ask(&fixture, query);
        generation += 1;
        assert_eq!(found["index"]["generation"], generation, "{what}: {found}");
        assert_eq!(names(&found).contains(&query), !name.is_empty(), "{what}: {found}");
        std::fs::remove_file(fixture.path(CHECK)).expect("the file can be removed");
    }
}

#[test]
fn a_linked_work_tree_that_becomes_a_directory_is_found() {
    let fixture = indexed();
    let added = crate::fixture::git(fixture.root()).args(["worktree", "add", "--quiet", "linked"]).status();
    assert!(added.expect("git runs").success());
    fixture.write("linked/inside.py", "def inside_linked():\n    pass\n");
    for _ in 0..20 {
        assert!(!names(&ask(&fixture, "inside_linked")).contains(&"inside_linked"));
    }
    std::fs::remove_file(fixture.path("linked/.git")).expect("the file can be removed");
    let found = ask(&fixture, "inside_linked");
    assert!(names(&found).contains(&"inside_linked"), "{found}");
}
