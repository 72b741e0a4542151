//! Several processes write to a memory at the same time.

use std::collections::BTreeSet;

use crate::store::Store;

/// Runs several processes at the same time, and returns the output of each.
fn run_at_once(store: &Store, count: usize, arguments: impl Fn(usize) -> Vec<String>) -> Vec<String> {
    let start = |number: usize| {
        let arguments = arguments(number);
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        store.command(&arguments).spawn().expect("the program starts")
    };
    let children: Vec<_> = (0..count).map(start).collect();
    let end = |child: std::process::Child| {
        let output = child.wait_with_output().expect("the program ends");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).expect("the text is UTF-8").trim().to_owned()
    };
    children.into_iter().map(end).collect()
}

fn owned(arguments: &[&str]) -> Vec<String> {
    arguments.iter().map(|argument| (*argument).to_owned()).collect()
}

#[test]
fn concurrent_turns_get_different_ids() {
    // The memory does not exist yet, so the processes also create it.
    let store = Store::new();
    let text = |number: usize| format!("Turn {number} asks about concurrency");
    let turn = |number| owned(&["mem", "turn", "add", "--session", "s1", "--speaker", "user", &text(number)]);
    let ids = run_at_once(&store, 16, turn);
    let expected: BTreeSet<String> = (1..=16).map(|number| format!("turn:s1:{number}")).collect();
    assert_eq!(ids.iter().cloned().collect::<BTreeSet<_>>(), expected);
    let documents = store.documents();
    for (number, id) in ids.iter().enumerate() {
        assert_eq!(documents[id]["content"]["text"], text(number), "{id}");
    }
    assert_eq!(store.search("concurrency").into_iter().collect::<BTreeSet<_>>(), expected);
}

#[test]
fn concurrent_tags_are_all_stored() {
    let store = Store::new();
    store.run_ok_with_input(
        &["mem", "add", "note", "-", "--scope", "user"],
        r#"{"id": "note:a", "content": {"text": "A"}}"#,
    );
    run_at_once(&store, 8, |number| owned(&["mem", "tag", "note:a", &format!("tag-{number}")]));
    let document = store.document("note:a").expect("the entry exists");
    let tags = document["governance"]["compliance_tags"].as_array().expect("the value is a list");
    let tags: BTreeSet<&str> = tags.iter().filter_map(|tag| tag.as_str()).collect();
    assert_eq!(tags, ["tag-0", "tag-1", "tag-2", "tag-3", "tag-4", "tag-5", "tag-6", "tag-7"].into());
}

#[test]
fn searches_during_writes_find_acknowledged_entries() {
    let store = Store::new();
    std::thread::scope(|scope| {
        for writer in 0..3 {
            let store = &store;
            scope.spawn(move || {
                for number in 0..6 {
                    let text = format!("Writer {writer} asks about word{writer}x{number}");
                    let turn = ["mem", "turn", "add", "--session", &format!("s{writer}"), "--speaker", "user", &text];
                    let id = store.run_ok(&turn).out.trim().to_owned();
                    assert!(store.search(&format!("word{writer}x{number}")).contains(&id), "{id}");
                }
            });
        }
    });
    assert_eq!(store.documents().len(), 18);
}
