//! How rows are divided into messages, and what a program may say in between.

use std::fs;
use std::sync::Arc;

use aurora_pipeline::{Column, Services, Value};
use aurora_plugins::process::Process;
use aurora_plugins::testkit::StageTest;
use aurora_plugins::trust::Consents;
use tempfile::TempDir;

use crate::rows::{Rows, text};

const PATH: Column<String> = Column::new("file.path");
const TEXT: Column<String> = Column::new("chunk.text");

/// The value of each row is the number of rows in its message and the length of its text.
const COUNTER: &str = "
import json, sys
def say(message):
    sys.stdout.write(json.dumps(message) + '\\n')
    sys.stdout.flush()
json.loads(sys.stdin.readline())
say({'type': 'hello', 'protocol': 'aurora-stage', 'version': 1})
for line in sys.stdin:
    message = json.loads(line)
    texts = message['chunks']['columns']['text']
    values = ['%d rows, %d bytes' % (len(texts), len(text)) for text in texts]
    say({'type': 'result', 'id': message['id'], 'chunks': {'columns': {'owner': values}}})
";

#[test]
fn messages_are_divided_by_bytes() {
    let root = TempDir::new().expect("a temporary directory");
    fs::write(root.path().join("stage.py"), COUNTER).expect("written");
    let lengths = [400_000, 400_000, 400_000, 10, 3_000_000, 10, 10, 1_048_560, 10];
    let mut services = Services::new();
    services.insert(Arc::new(Consents::everything()));
    let config = "command = ['python3', 'stage.py']\nreads = ['chunk.text']\nwrites = { owner = 'string' }";
    let outcome = StageTest::of::<Process>(config)
        .expect("a valid configuration")
        .root(root.path())
        .services(services)
        .column(PATH, vec!["a.rs".to_owned()])
        .chunks([0; 9])
        .column(TEXT, lengths.map(|length| "\n".repeat(length)).to_vec())
        .run()
        .expect("the run goes to its end");
    let rows = [2, 2, 2, 2, 1, 2, 2, 1, 1];
    let expected = rows.iter().zip(lengths).map(|(rows, length)| text(&format!("{rows} rows, {length} bytes")));
    assert_eq!(outcome.values("owner"), expected.collect::<Vec<Option<Value>>>());
    assert!(outcome.report().failures.is_empty());
}

#[test]
fn a_row_may_take_longer_than_the_time_out_with_heartbeats() {
    let rows = Rows::new(&["a.rs"], &[0, 0]);
    let outcome = rows.python(
        "reads = ['chunk.title']\nwrites = { owner = 'string' }\ntimeout = 2",
        "
def owner(title):
    import time
    from aurora_stage import heartbeat
    if title == 'title 0':
        for _ in range(50):
            time.sleep(0.1)
            heartbeat()
    return title
",
    );
    assert_eq!(outcome.values("owner"), ["title 0", "title 1"].map(text));
    assert!(outcome.report().failures.is_empty());
}
