//! The memory of a user, which tests access by running the program.

use std::collections::BTreeMap;
use std::fs::{File, TryLockError};
use std::io::Write as _;
use std::process::{Command, Stdio};

use aurora_memory_policy::check_rule;
use aurora_memory_schema::{Kind, read_json};
use serde_json::{Map, Value};
use tempfile::TempDir;

use crate::fixture::{Run, hermetic, program};

/// The fields that make up a document. The other fields of a report describe the history of an entry.
const FIELDS: [&str; 6] = ["id", "type", "content", "metadata", "governance", "conversation_log_reference"];

/// The memory of a user whose working directory is outside of any project.
pub(crate) struct Store {
    directory: TempDir,
    home: TempDir,
}

impl Store {
    /// Creates an empty memory of a user, on an in-memory file system if there is one.
    pub(crate) fn new() -> Self {
        let directory =
            || TempDir::new_in("/dev/shm").or_else(|_| TempDir::new()).expect("the directory can be created");
        Self { directory: directory(), home: directory() }
    }

    /// Creates an empty memory of a user in the directory of temporary files, which is usually on a disk. There, a
    /// commit takes some time.
    pub(crate) fn on_disk() -> Self {
        Self { home: TempDir::new().expect("a temporary directory can be created"), ..Self::new() }
    }

    /// Whether a process is in a write transaction at this moment.
    pub(crate) fn is_written(&self) -> bool {
        let lock = File::open(self.home.path().join(".aurora/memory/records.lock"));
        lock.is_ok_and(|lock| matches!(lock.try_lock(), Err(TryLockError::WouldBlock)))
    }

    /// Returns a command that runs the program with some arguments.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(program());
        hermetic(&mut command, self.home.path());
        command.args(arguments).current_dir(self.directory.path());
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// Runs the program and asserts that it succeeds.
    pub(crate) fn run_ok(&self, arguments: &[&str]) -> Run {
        let run = Run::from_command(&mut self.command(arguments));
        assert_eq!(run.code, Some(0), "{arguments:?}: {run:?}");
        run
    }

    /// Runs the program with a text on standard input, and asserts that it succeeds.
    pub(crate) fn run_ok_with_input(&self, arguments: &[&str], input: &str) -> Run {
        let mut child = self.command(arguments).stdin(Stdio::piped()).spawn().expect("the program starts");
        child
            .stdin
            .take()
            .expect("the stream is piped")
            .write_all(input.as_bytes())
            .expect("the program reads its input");
        let output = child.wait_with_output().expect("the program ends");
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        assert!(output.status.success(), "{arguments:?}: {}", text(&output.stderr));
        Run { code: output.status.code(), out: text(&output.stdout), err: text(&output.stderr) }
    }

    /// Returns the document of an entry, or `None` if the entry does not exist.
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

    /// Returns the documents of all entries. Asserts that each document is complete.
    pub(crate) fn documents(&self) -> BTreeMap<String, Value> {
        let list = self.run_ok(&["mem", "list", "--format", "json"]).json();
        let entries = list.as_array().expect("the value is a list").iter().map(document);
        let documents: BTreeMap<String, Value> = entries
            .map(|document| (document["id"].as_str().expect("the value is a string").to_owned(), document))
            .collect();
        for (id, document) in &documents {
            let kind = Kind::from_id(id).expect("the id begins with the prefix of a kind");
            let read = read_json(kind, id, &document.to_string(), check_rule);
            assert!(read.is_ok(), "{id} is not a complete entry: {read:?}");
        }
        documents
    }

    /// Returns the ids of the entries that a search for a word finds, in all scopes and sessions.
    pub(crate) fn search(&self, word: &str) -> Vec<String> {
        let search = ["mem", "search", word, "--source", "memory", "--scope", "global", "--mode", "sparse"];
        let run = self.run_ok(&[&search[..], &["--format", "json", "--no-record", "-n", "1000"]].concat());
        let results = run.json()["results"].as_array().expect("the value is a list").clone();
        results.iter().map(|hit| hit["id"].as_str().expect("the value is a string").to_owned()).collect()
    }
}

/// Extracts the document from a report about an entry.
fn document(report: &Value) -> Value {
    let fields = FIELDS.into_iter().filter_map(|field| Some((field.to_owned(), report.get(field)?.clone())));
    Value::Object(Map::from_iter(fields))
}
