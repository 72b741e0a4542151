//! Documents that a program in the pipeline supplies.

use std::collections::BTreeMap;

use crate::examples::with_example;
use crate::fixture::Fixture;
use crate::{digest, fresh_digest, run, snapshot};

fn ticket(id: &str, title: &str) -> String {
    format!("{{\"id\": \"{id}\", \"title\": \"{title}\", \"text\": \"It fails for {title}.\"}}\n")
}

fn closed(id: &str) -> String {
    format!("{{\"id\": \"{id}\", \"closed\": true}}\n")
}

/// Returns the paths of documents, with the names of their chunks.
fn documents(fixture: &Fixture) -> BTreeMap<String, Vec<String>> {
    let snapshot = snapshot(fixture.root());
    let files =
        snapshot.files().map(|file| file.expect("the index can be read")).filter(|file| file.path.starts_with('@'));
    let name = |id| snapshot.whole_chunk(id).expect("the index can be read").expect("the record exists").name;
    files.map(|file| (file.path, file.chunks.into_iter().map(name).collect())).collect()
}

fn titles(pairs: &[(&str, &str)]) -> BTreeMap<String, Vec<String>> {
    pairs.iter().map(|(id, title)| (format!("@tickets/{id}.md"), vec![(*title).to_owned()])).collect()
}

#[test]
fn documents_are_added_changed_and_removed() {
    let fixture = with_example("tickets");
    let mut export = ticket("A-1", "Cards") + &ticket("A-2", "Refunds");
    fixture.write("tickets.jsonl", &export);
    let summary = run(&fixture);
    assert!(summary.report.failures.is_empty(), "{:?}", summary.report.failures);
    assert_eq!(documents(&fixture), titles(&[("A-1", "Cards"), ("A-2", "Refunds")]));
    assert!(run(&fixture).nothing_changed, "the program reported no change");

    export += &(ticket("A-2", "Refunds twice") + &ticket("A-3", "Invoices") + &closed("A-1"));
    fixture.write("tickets.jsonl", &export);
    let summary = run(&fixture);
    assert_eq!((summary.files.indexed, summary.files.deleted), (2, 1));
    let expected = titles(&[("A-2", "Refunds twice"), ("A-3", "Invoices")]);
    assert_eq!(documents(&fixture), expected);
    assert_eq!(digest(&fixture), fresh_digest(&fixture));

    fixture.write("src/new.py", "def new():\n    return 1\n");
    run(&fixture);
    assert_eq!(documents(&fixture), expected, "a change of another file keeps the documents");
    assert_eq!(digest(&fixture), fresh_digest(&fixture));

    let pipeline = std::fs::read_to_string(fixture.path(".aurora/pipeline.toml")).expect("the file can be read");
    fixture.write(".aurora/pipeline.toml", pipeline.replace("command", "language = \"text\"\ncommand"));
    run(&fixture);
    assert_eq!(documents(&fixture).len(), 2);
    assert_eq!(digest(&fixture), fresh_digest(&fixture), "all documents are listed again");
    fixture.write(".aurora/pipeline.toml", "extends = \"default\"\n");
    run(&fixture);
    assert!(documents(&fixture).is_empty());
}

#[test]
fn documents_are_kept_if_listing_fails() {
    let fixture = with_example("tickets");
    fixture.write("tickets.jsonl", ticket("A-1", "Cards"));
    run(&fixture);
    fixture.write("tickets.jsonl", "no JSON\n");
    fixture.write(".aurora/plugins/tickets.py", "import sys\nsys.exit(1)\n");
    let summary = run(&fixture);
    assert_eq!(documents(&fixture), titles(&[("A-1", "Cards")]), "a failed listing deletes no documents");
    let (reason, _) = summary.report.failures["tickets"].iter().next().expect("the failure has a reason");
    assert_eq!(reason, "the process has ended (exit code 1)");
}

#[test]
fn a_failed_listing_keeps_the_state_of_the_previous_run() {
    let fixture = with_example("tickets");
    fixture.write("tickets.jsonl", ticket("A-1", "Cards"));
    run(&fixture);
    fixture.write("tickets.jsonl", format!("{}no JSON\n", ticket("A-1", "Cards")));
    assert_eq!(run(&fixture).report.failures["tickets"].total(), 1);
    fixture.write("tickets.jsonl", ticket("A-1", "Cards") + &ticket("A-2", "Refunds"));
    let summary = run(&fixture);
    assert_eq!(documents(&fixture), titles(&[("A-1", "Cards"), ("A-2", "Refunds")]));
    assert_eq!((summary.files.indexed, summary.lines), (1, 3), "the failed run kept the state of the first run");
    assert_eq!(digest(&fixture), fresh_digest(&fixture));
}

#[test]
fn paths_of_documents_stay_in_their_directory() {
    let fixture = with_example("tickets");
    fixture.write(
        ".aurora/plugins/tickets.py",
        "from aurora_stage import documents\n@documents\ndef all():\n    for path in ['../a.md', '/etc/b.md', 'a//b.md', 'ok.md', 'ok.md', 'x\\x1b.md']:\n        yield {'path': path, 'text': '# T'}\n",
    );
    let summary = run(&fixture);
    assert_eq!(documents(&fixture).into_keys().collect::<Vec<_>>(), ["@tickets/ok.md"]);
    assert_eq!(summary.report.failures["tickets"].total(), 5);
}

#[test]
fn a_surrogate_in_a_document_or_state_is_an_error() {
    let fixture = with_example("tickets");
    fixture.write("tickets.jsonl", ticket("A-1", "Cards"));
    run(&fixture);
    for (text, state, reason) in [
        ("\\ud800", "new", "ValueError: the document 'A-1.md' has a surrogate, which is not a valid character"),
        ("plain", "\\ud800", "ValueError: the state has a surrogate, which is not a valid character"),
    ] {
        let program = format!(
            "from aurora_stage import documents\n\n@documents\ndef all():\n    yield {{'path': 'A-1.md', 'text': '# {text}'}}\n    return '{state}'\n"
        );
        fixture.write(".aurora/plugins/tickets.py", program);
        let summary = run(&fixture);
        let failures = &summary.report.failures["tickets"];
        assert!(failures.iter().any(|(failure, _)| failure.contains(reason)), "{failures:?}");
        if text != "plain" {
            assert_eq!(documents(&fixture), titles(&[("A-1", "Cards")]), "the document of the last run is kept");
        }
    }
}
