//! Processes that write to a memory die at each step of writing.

use serde_json::Value;

use crate::store::Store;

/// Environment variable with the number of the step at which the program dies.
const POINT: &str = "AURORA_DIE_AT_POINT";

const NOTE: &str = r#"{"id": "note:a", "content": {"text": "An old text about endurance"}}"#;
const EDITED: &str = r#"{"content": {"text": "A new text about endurance"}}"#;

fn text(document: Option<Value>) -> Option<String> {
    Some(document?["content"]["text"].as_str()?.to_owned())
}

/// Kills a command at each of its steps in turn. Each time, the note must be in its old or its new state, a search must
/// find the note if and only if the note exists, and the next command must succeed.
fn die_at_every_step(prepare: &[(&[&str], &str)], arguments: &[&str], input: &str) {
    let run = |point: Option<usize>| {
        let store = Store::new();
        prepare.iter().for_each(|(arguments, input)| drop(store.run_ok_with_input(arguments, input)));
        // The turn makes the search index out of date. The search then updates the index.
        store.run_ok(&["mem", "turn", "add", "--session", "s", "--speaker", "user", "About endurance"]);
        store.search("endurance");
        let before = store.document("note:a");
        let mut command = store.command(arguments);
        command.stdin(std::process::Stdio::piped());
        if let Some(point) = point {
            command.env(POINT, point.to_string());
        }
        let mut child = command.spawn().expect("the program starts");
        let _ = std::io::Write::write_all(&mut child.stdin.take().expect("the stream is piped"), input.as_bytes());
        let lived = child.wait_with_output().expect("the program ends").status.success();
        (store, before, lived)
    };
    let (store, before, lived) = run(None);
    assert!(lived, "{arguments:?}");
    let after = store.document("note:a");
    let mut outcomes = Vec::new();
    for point in 1.. {
        let (store, _, lived) = run(Some(point));
        let found = store.document("note:a");
        if lived {
            assert_eq!(found, after);
            break;
        }
        assert!(found == before || found == after, "{arguments:?} at step {point}: {found:?}");
        let in_search = store.search("endurance").contains(&"note:a".to_owned());
        assert_eq!(in_search, found.is_some(), "{arguments:?} at step {point}");
        outcomes.push(text(found.clone()));
        store.run_ok_with_input(
            &["mem", "add", "note", "-", "--scope", "user"],
            r#"{"content": {"text": "The next one"}}"#,
        );
        assert_eq!(store.document("note:a"), found);
    }
    assert!(outcomes.len() >= 2, "{arguments:?} has {} steps", outcomes.len());
}

#[test]
fn a_write_that_dies_at_any_step_happens_as_a_whole_or_not_at_all() {
    let add: (&[&str], &str) = (&["mem", "add", "note", "-", "--scope", "user"], NOTE);
    die_at_every_step(&[], add.0, add.1);
    die_at_every_step(&[add], &["mem", "edit", "note:a", "-"], EDITED);
    die_at_every_step(&[add], &["mem", "tag", "note:a", "tested"], "");
    die_at_every_step(&[add], &["mem", "remove", "note:a"], "");
    die_at_every_step(&[add, (&["mem", "edit", "note:a", "-"], EDITED)], &["mem", "undo", "note:a"], "");
}

#[test]
fn a_search_that_dies_at_any_step_loses_nothing() {
    for point in 1.. {
        let store = Store::new();
        store.run_ok_with_input(&["mem", "add", "note", "-", "--scope", "user"], NOTE);
        let mut command = store.command(&["mem", "search", "endurance", "--source", "memory", "--mode", "sparse"]);
        let lived = command.env(POINT, point.to_string()).output().expect("the command runs").status.success();
        assert_eq!(store.search("endurance"), ["note:a"], "step {point}");
        if lived {
            assert!(point > 4, "a search has {point} steps");
            break;
        }
    }
}
