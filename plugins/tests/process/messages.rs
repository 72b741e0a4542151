//! Tests of the division of rows into messages, and of heartbeats.

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

/// A program that returns for each row the number of rows in its message and the length of its text.
const COUNTER: &str = "
import json, sys
def say(message):
    sys.stdout.write(json.dumps(message) + '\\n')
    sys.stdout.flush()
hello = json.loads(sys.stdin.readline())
say({'type': 'hello', 'protocol': 'aurora-stage', 'version': 1})
for line in sys.stdin:
    message = json.loads(line)
    texts = message['chunks']['columns']['text']
    values = ['%d rows, %d bytes' % (len(texts), len(text)) for text in texts]
    files = message['chunks']['file']
    firsts = [values[files.index(file)] for file in range(message['files']['count'])]
    answer = {'files': {'columns': {'owner': firsts}}, 'chunks': {'columns': {'owner': values}}}
    answer = {key: value for key, value in answer.items() if key[:-1] + '.owner' in hello['writes']}
    say(dict(answer, type='result', id=message['id']))
";

#[test]
fn chunks_are_divided_by_bytes() {
    let lengths = [400_000, 400_000, 400_000, 10, 3_000_000, 10, 10, 1_048_560, 10];
    let rows = [2, 2, 2, 2, 1, 2, 2, 1, 1];
    check("owner", &[0; 9], &lengths, &rows);
}

#[test]
fn files_are_divided_by_bytes_with_all_their_chunks() {
    let lengths = [400_000, 400_000, 400_000, 10, 3_000_000, 10];
    // The second file has 800,000 bytes and the fourth has 3,000,010 bytes.
    let rows = [1, 3, 3, 3, 2, 2];
    check("file.owner", &[0, 1, 1, 2, 3, 3], &lengths, &rows);
}

/// Checks the number of rows per message. `rows` contains, for each chunk, the number of chunks in its message. The
/// value of a file is the value of its first chunk.
#[track_caller]
fn check(column: &str, chunks: &[u32], lengths: &[usize], rows: &[usize]) {
    let root = TempDir::new().expect("a temporary directory");
    fs::write(root.path().join("stage.py"), COUNTER).expect("written");
    let mut services = Services::new();
    services.insert(Arc::new(Consents::everything()));
    let config = format!(
        "command = ['python3', 'stage.py']\nreads = ['file.path', 'chunk.text']\nwrites = {{ '{column}' = 'string' }}"
    );
    let paths: Vec<String> = (0..=chunks[chunks.len() - 1]).map(|file| format!("{file}.rs")).collect();
    let outcome = StageTest::new::<Process>(&config)
        .expect("a valid configuration")
        .root(root.path())
        .services(services)
        .column(PATH, paths)
        .chunks(chunks.iter().copied())
        .column(TEXT, lengths.iter().map(|length| "\n".repeat(*length)).collect())
        .run()
        .expect("the run completes");
    let is_unit = |at: &usize| column == "owner" || *at == 0 || chunks[at - 1] != chunks[*at];
    let value = |at: usize| text(&format!("{} rows, {} bytes", rows[at], lengths[at]));
    let expected: Vec<Option<Value>> = (0..chunks.len()).filter(is_unit).map(value).collect();
    assert_eq!(outcome.values(column), expected);
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
