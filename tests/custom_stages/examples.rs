//! The examples in `plugins/examples`, used as described in their guide.

use std::path::Path;

use aurora_storage::MetaValue;

use crate::fixture::Fixture;
use crate::{digest, fresh_digest, repository, run, snapshot, text, values};

/// Creates a repository with one of the examples.
pub(crate) fn with_example(name: &str) -> Fixture {
    let fixture = repository();
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("plugins/examples").join(name);
    let read = |file: &str| std::fs::read_to_string(directory.join(file)).expect("the file can be read");
    fixture.write(&format!(".aurora/plugins/{name}.py"), read(&format!("{name}.py")));
    fixture.write(".aurora/pipeline.toml", read("pipeline.toml"));
    fixture
}

fn list(texts: &[&str]) -> Option<MetaValue> {
    Some(MetaValue::Strings(texts.iter().map(|&text| text.to_owned()).collect()))
}

#[test]
fn owners_come_from_codeowners() {
    let fixture = with_example("owner");
    let lines = std::fs::read_to_string(fixture.path(".aurora/plugins/owner.py"))
        .expect("the file can be read")
        .lines()
        .count();
    assert!(lines <= 20, "the guide promises at most twenty lines, the example has {lines}");
    fixture.write("CODEOWNERS", "# owners\n* @org/all\n/src/pay/ @org/payments @ada\n*.js @front\n");
    let summary = run(&fixture);
    assert!(summary.report.failures.is_empty(), "{:?}", summary.report.failures);
    let owners = values(&fixture, "owner");
    assert!(owners.contains(&("pay_0".to_owned(), list(&["payments", "ada"]))), "{owners:?}");
    assert!(owners.contains(&("web_0".to_owned(), list(&["front"]))), "{owners:?}");
    fixture.write("CODEOWNERS", "* @org/all\n");
    run(&fixture);
    assert!(values(&fixture, "owner").iter().all(|(_, value)| *value == list(&["all"])));
    assert_eq!(digest(&fixture), fresh_digest(&fixture));
}

#[test]
fn licences_come_from_headers() {
    let fixture = with_example("licence");
    fixture.write("src/l.py", "# SPDX-License-Identifier: MIT\ndef licensed():\n    return 1\n");
    run(&fixture);
    let licences = values(&fixture, "licence");
    assert!(licences.contains(&("licensed".to_owned(), text("MIT"))) && licences.contains(&("pay_0".to_owned(), None)));
    assert_eq!(digest(&fixture), fresh_digest(&fixture));
}

#[test]
fn todo_comments_are_counted() {
    let fixture = with_example("todos");
    fixture.write("src/t.py", "def noted():\n    # TODO: this; FIXME: that\n    return 1\n");
    run(&fixture);
    let todos = values(&fixture, "todos");
    assert!(todos.contains(&("noted".to_owned(), Some(MetaValue::Integer(2)))), "{todos:?}");
    assert!(todos.contains(&("pay_0".to_owned(), Some(MetaValue::Integer(0)))), "{todos:?}");
}

#[test]
fn protocol_buffers_are_a_language() {
    let fixture = with_example("protobuf");
    fixture.write(
        "api/pay.proto",
        "syntax = \"proto3\";\n\n// A payment by card.\nmessage Payment {\n  string card = 1;\n  enum State { OPEN = 0; }\n}\n\nservice Payments {\n  rpc Charge(Payment) returns (Payment) {}\n}\n",
    );
    let summary = run(&fixture);
    assert!(summary.report.failures.is_empty(), "{:?}", summary.report.failures);
    let snapshot = snapshot(fixture.root());
    let file = snapshot.file("api/pay.proto").expect("the index can be read").expect("the file is indexed");
    let chunks = file
        .chunks
        .into_iter()
        .map(|id| snapshot.whole_chunk(id).expect("the index can be read").expect("the record exists"));
    let found: Vec<(String, &str, u32, u32, String)> = chunks
        .map(|chunk| (chunk.qualified_name, chunk.chunk_type.as_str(), chunk.line_start, chunk.line_end, chunk.doc))
        .collect();
    let row = |name: &str, kind, first, last, doc: &str| (name.to_owned(), kind, first, last, doc.to_owned());
    assert_eq!(
        found[1..],
        [
            row("Payment", "struct", 4, 7, "A payment by card."),
            row("Payment.State", "enum", 6, 6, ""),
            row("Payments", "interface", 9, 11, ""),
            row("Payments.Charge", "method", 10, 10, ""),
        ]
    );
    assert_eq!(digest(&fixture), fresh_digest(&fixture));
}
