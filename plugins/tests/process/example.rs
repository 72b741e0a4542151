//! Compares the example in the specification of the protocol with the actual messages of the host and the Python
//! module.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use aurora_pipeline::{Column, DynamicType, Services};
use aurora_plugins::process::{HelperDirectory, Process};
use aurora_plugins::testkit::{STAGE, StageTest};
use aurora_plugins::trust::Consents;
use serde_json::Value as Json;

use crate::rows::text;

const PATH: Column<String> = Column::new("file.path");

/// A program that runs the stage's program and records the messages in both directions.
const RECORDER: &str = "
import subprocess, sys
child = subprocess.Popen([sys.executable, 'owner.py'], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
with open('record', 'wb') as record:
    for line in sys.stdin.buffer:
        record.write(b'> ' + line)
        child.stdin.write(line)
        child.stdin.flush()
        answer = child.stdout.readline()
        record.write(b'< ' + answer)
        record.flush()
        sys.stdout.buffer.write(answer)
        sys.stdout.buffer.flush()
child.stdin.close()
child.wait()
";

#[test]
fn the_specification_shows_the_actual_messages() {
    let specification = fs::read_to_string("../docs/reference/stage-protocol.md").expect("the specification");
    let block = |language: &str| {
        let after = specification.split(&format!("```{language}\n")).nth(1).expect("a block");
        after.split("```").next().expect("its text")
    };
    let stage: String =
        block("toml").lines().filter(|line| !line.starts_with('[')).fold(String::new(), |mut all, line| {
            all.push_str(&line.replace("owner.py", "recorder.py"));
            all.push('\n');
            all
        });
    let stage = stage.replace("use = \"process\"\n", "");
    let root = tempfile::tempdir().expect("a temporary directory");
    fs::write(root.path().join("owner.py"), block("python")).expect("written");
    fs::write(root.path().join("recorder.py"), RECORDER).expect("written");

    run(root.path(), &stage);
    let record = fs::read_to_string(root.path().join("record")).expect("recorded");
    assert_eq!(messages(&record.replace(STAGE, "owner")), messages(block("text")));
}

fn run(root: &Path, stage: &str) {
    let helper = root.join("helper");
    aurora_plugins::python::write_helper(&helper).expect("written");
    let mut services = Services::new();
    services.insert(Arc::new(Consents::everything()));
    services.insert(Arc::new(HelperDirectory(helper)));
    let outcome = StageTest::new::<Process>(stage)
        .expect("configured")
        .root(root)
        .services(services)
        .column(PATH, vec!["pay/api.rs".to_owned(), "web/page.rs".to_owned()])
        .chunks([0, 0, 1])
        .dynamic("chunk.name", DynamicType::String, vec![text("charge"), None, text("render")])
        .run()
        .expect("the run completes");
    assert_eq!(outcome.values("owner"), [text("payments"), None, None]);
}

/// Returns the messages with their senders.
fn messages(text: &str) -> Vec<(&str, Json)> {
    let split = |line: &'_ str| line.split_at_checked(2).map(|(who, json)| (who.to_owned(), json.to_owned()));
    text.lines()
        .filter_map(split)
        .map(|(who, json)| {
            let who = if who == "> " { "host" } else { "program" };
            (who, serde_json::from_str(&json).expect("JSON"))
        })
        .collect()
}
