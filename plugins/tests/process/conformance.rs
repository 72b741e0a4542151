//! Tests of the conformance checks: they find each fault, and no fault in programs that follow the protocol.

use std::fs;

use aurora_pipeline::DynamicType;
use aurora_plugins::conformance::{Conformance, check};
use aurora_plugins::process::{HelperDirectory, Process};
use tempfile::TempDir;

const PRELUDE: &str = r#"
import json, sys, time

def send(message):
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()

def hello():
    json.loads(sys.stdin.readline())
    send({"type": "hello", "protocol": "aurora-stage", "version": 1})

def batches():
    for line in sys.stdin:
        yield json.loads(line)

def result(batch, values=None):
    count = batch["chunks"]["count"]
    return {"type": "result", "id": batch["id"], "chunks": {"columns": {"owner": values or [None] * count}}}
"#;

fn conformance(command: &[&str], source: &str) -> Conformance {
    let root = TempDir::new().expect("a temporary directory");
    fs::write(root.path().join("stage.py"), source).expect("written");
    let helper = root.path().join("helper");
    aurora_plugins::python::write_helper(&helper).expect("written");
    let config = Process {
        command: command.iter().map(|&part| part.to_owned()).collect(),
        reads: vec!["file.path".to_owned(), "chunk.title".to_owned()],
        writes: [("owner".to_owned(), serde_json::from_str("\"string\"").expect("a type"))].into(),
        timeout: 5,
        ..Process::default()
    };
    check(&config, root.path(), Some(&HelperDirectory(helper)), &|_| DynamicType::String)
}

fn python(source: &str) -> Conformance {
    conformance(&["python3", "stage.py"], &format!("{PRELUDE}{source}"))
}

/// Asserts that the check whose name contains `name` is the only one that fails.
fn assert_fails(source: &str, name: &str, detail: &str) {
    let report = python(source);
    let failed: Vec<_> = report.checks.iter().filter(|check| !check.passed).collect();
    assert_eq!(failed.len(), 1, "{failed:?}");
    assert!(failed[0].name.contains(name) && failed[0].detail.contains(detail), "{failed:?}");
}

#[test]
fn programs_that_follow_the_protocol_pass() {
    let owner = "
from aurora_stage import stage

@stage
def owner(path):
    return 'payments' if path and path.startswith('pay/') else None
";
    for report in [
        conformance(&["python3", "stage.py"], owner),
        conformance(&[env!("CARGO_BIN_EXE_echo-stage")], ""),
        conformance(&[env!("CARGO_BIN_EXE_echo-stage"), "msgpack"], ""),
        python("hello()\nfor batch in batches(): send({'type': 'heartbeat'}); send(result(batch))"),
        python("hello()\nfor batch in batches(): send({'type': 'error', 'id': batch['id'], 'message': 'no'})"),
    ] {
        assert!(report.passed(), "{report:?}");
        assert!(report.throughput.is_some_and(|throughput| throughput.rows > 0.0));
    }
}

#[test]
fn each_fault_fails_its_check() {
    let answering = |condition: &str, otherwise: &str| {
        format!("hello()\nfor batch in batches():\n    if {condition}: {otherwise}\n    else: send(result(batch))\n")
    };
    let count = "batch['chunks']['count']";
    let titles = "batch['chunks']['columns']['title']";
    assert_fails("print('Welcome!')", "handshake", "is not a `hello`");
    assert_fails("hello_unknown = json.loads(sys.stdin.readline())['x-other']", "handshake", "exit code 1");
    assert_fails(&answering(&format!("{count} == 0"), "sys.exit(3)"), "without rows", "exit code 3");
    assert_fails(
        &answering(&format!("{count} == 1 and {titles}[0][:3] == 'src'"), "send(result(batch, [5]))"),
        "one row",
        "integer",
    );
    assert_fails(&answering(&format!("{titles}[:1] == [None]"), "{}['x']"), "without values", "exit code 1");
    assert_fails(
        &answering(&format!("'\\0' in str({titles}[:1][0:1] and {titles}[0])"), "sys.exit(2)"),
        "any characters",
        "exit code 2",
    );
    assert_fails(
        &answering(&format!("max(map(len, map(str, {titles})), default=0) > 10000"), "sys.exit(2)"),
        "very long",
        "exit code 2",
    );
    assert_fails(
        &answering(&format!("{count} > 100"), "send({'type': 'result', 'id': 1})"),
        "many messages",
        "not in flight",
    );
    assert_fails(
        "hello()\nfor batch in batches(): send(result(batch))\nsend({'type': 'heartbeat'})",
        "ends",
        "after the last",
    );
    assert_fails("hello()\nfor batch in batches(): send(result(batch))\ntime.sleep(60)", "ends", "5 seconds");
    assert_fails("hello()\nfor batch in batches(): send(result(batch))\nsys.exit(1)", "ends", "exit code 1");
}
