//! A user's memory as the program shows it.

use std::collections::BTreeMap;
use std::fs::{File, TryLockError};
use std::io::Write as _;
use std::process::{Command, Stdio};

use aurora_memory_policy::check_rule;
use aurora_memory_schema::{Kind, read_json};
use serde_json::{Map, Value};
use tempfile::TempDir;

use crate::fixture::{Run, hermetic, program};

/// The fields of a document; the others are what memory knows about an entry.
const FIELDS: [&str; 6] = ["id", "type", "content", "metadata", "governance", "conversation_log_reference"];

/// The memory of a user, who is in a directory outside of any project.
pub(crate) struct Store {
    directory: TempDir,
    home: TempDir,
}

impl Store {
    /// An empty one in memory, where there is a place for it.
    pub(crate) fn new() -> Self {
        let directory = || TempDir::new_in("/dev/shm").or_else(|_| TempDir::new()).expect("a directory");
        Self { directory: directory(), home: directory() }
    }

    /// An empty one where temporary files are, as a rule on a disk, so that a commit takes its time.
    pub(crate) fn on_disk() -> Self {
        Self { home: TempDir::new().expect("a directory"), ..Self::new() }
    }

    /// Whether some process is in a transaction.
    pub(crate) fn is_written(&self) -> bool {
        let lock = File::open(self.home.path().join(".aurora/memory/records.lock"));
        lock.is_ok_and(|lock| matches!(lock.try_lock(), Err(TryLockError::WouldBlock)))
    }

    /// The program, to be run with some arguments.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(program());
        hermetic(&mut command, self.home.path());
        command.args(arguments).current_dir(self.directory.path());
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// Runs the program, which has to succeed.
    pub(crate) fn done(&self, arguments: &[&str]) -> Run {
        let run = Run::from_command(&mut self.command(arguments));
        assert_eq!(run.code, Some(0), "{arguments:?}: {run:?}");
        run
    }

    /// The same with a text on standard input.
    pub(crate) fn done_with(&self, arguments: &[&str], input: &str) -> Run {
        let mut child = self.command(arguments).stdin(Stdio::piped()).spawn().expect("starts");
        child.stdin.take().expect("is piped").write_all(input.as_bytes()).expect("is read");
        let output = child.wait_with_output().expect("ends");
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        assert!(output.status.success(), "{arguments:?}: {}", text(&output.stderr));
        Run { code: output.status.code(), out: text(&output.stdout), err: text(&output.stderr) }
    }

    /// The document of an entry; `None` where there is none.
    pub(crate) fn document(&self, id: &str) -> Option<Value> {
        let run = Run::from_command(&mut self.command(&["mem", "show", id, "--format", "json"]));
        match run.code {
            Some(0) => Some(document(&run.json())),
            _ => {
                assert!(run.err.contains("no entry"), "{run:?}");
                None
            }
        }
    }

    /// The documents of all entries, each of which has to be a whole one.
    pub(crate) fn documents(&self) -> BTreeMap<String, Value> {
        let list = self.done(&["mem", "list", "--format", "json"]).json();
        let entries = list.as_array().expect("a list").iter().map(document);
        let documents: BTreeMap<String, Value> =
            entries.map(|document| (document["id"].as_str().expect("an id").to_owned(), document)).collect();
        for (id, document) in &documents {
            let kind = Kind::of_id(id).expect("an id with the prefix of a kind");
            let read = read_json(kind, id, &document.to_string(), check_rule);
            assert!(read.is_ok(), "{id} is no whole entry: {read:?}");
        }
        documents
    }

    /// Ids of the entries that a search for a word finds, in every scope and session.
    pub(crate) fn found(&self, word: &str) -> Vec<String> {
        let search = ["mem", "search", word, "--source", "memory", "--scope", "global", "--mode", "sparse"];
        let run = self.done(&[&search[..], &["--format", "json", "--no-record", "-n", "1000"]].concat());
        let results = run.json()["results"].as_array().expect("a list").clone();
        results.iter().map(|hit| hit["id"].as_str().expect("an id").to_owned()).collect()
    }
}

/// The document in a report of an entry.
fn document(report: &Value) -> Value {
    let fields = FIELDS.into_iter().filter_map(|field| Some((field.to_owned(), report.get(field)?.clone())));
    Value::Object(Map::from_iter(fields))
}
