//! Checks that a program conforms to the protocol, for `aur plugin test`.
//!
//! The program receives generated rows. It may report any of them as an error, but it must answer every message, and
//! every answer must be valid.

use std::collections::VecDeque;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use aurora_pipeline::{DynamicType, Entity};
use serde_json::{Map, Value, json};

use super::child::{Child, SHORT_TICK, StartOptions};
use super::codec::Encoding;
use super::command::{HelperDirectory, ResolvedCommand};
use super::config::Process;
use super::conversation::{Answer, AnswerType};
use super::handshake::HostHello;
use super::stderr_lines::StderrLines;
use crate::declaration::{Declaration, RowUnit};
use crate::exchange::{BatchOutcome, Response, RowSet, printable};

/// Number of rows in the check with many messages.
const MANY_ROWS: usize = 10_000;
/// Id of the first message in the check with many messages.
const FIRST_MANY_ID: u64 = 1_000;
/// Length of a very long text, in bytes.
const LONG_TEXT: usize = 1 << 20;
/// A key that no version of the protocol defines.
const UNKNOWN_KEY: &str = "x-unknown";
const NOT_READ: &str = "it does not read its input";
/// Time that a program has to exit after the end of its input.
const GRACE: Duration = Duration::from_secs(5);

/// The result of checking one property of the protocol.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Check {
    /// Name of the check, as a fixed phrase.
    pub name: &'static str,
    /// Whether the program has the property.
    pub passed: bool,
    /// Description of the failure. If the check has passed, a remark or an empty string.
    pub detail: String,
}

/// Throughput of the program in the check with many messages.
#[derive(Clone, Copy, Debug)]
pub struct Throughput {
    /// Number of rows per second.
    pub rows: f64,
    /// Bytes of messages to the program per second.
    pub bytes: f64,
}

/// The results of all checks, and the throughput.
#[derive(Clone, Debug, Default)]
pub struct Conformance {
    /// The checks, in the order in which they were made.
    pub checks: Vec<Check>,
    /// Throughput; `None` if the program did not answer all messages correctly.
    pub throughput: Option<Throughput>,
}

impl Conformance {
    /// Whether every check has passed.
    pub fn passed(&self) -> bool {
        self.checks.iter().all(|check| check.passed)
    }

    fn add(&mut self, name: &'static str, result: Result<String, String>) {
        let passed = result.is_ok();
        let (Ok(detail) | Err(detail)) = result;
        self.checks.push(Check { name, passed, detail });
    }
}

/// A function that returns the type of a column that the program reads.
pub type ColumnKinds<'a> = &'a dyn Fn(&str) -> DynamicType;

/// Checks the program of a stage in the project at `root`. `kinds` returns the type of each column that the program
/// reads.
///
/// This function runs the program. The caller must make sure that the user has allowed the program.
pub fn check(config: &Process, root: &Path, helper: Option<&HelperDirectory>, kinds: ColumnKinds<'_>) -> Conformance {
    let mut report = Conformance::default();
    let command = match ResolvedCommand::new(config, root, helper) {
        Ok(command) => command,
        Err(error) => {
            report.add("the program starts", Err(error.to_string()));
            return report;
        }
    };
    let stderr = Arc::new(StderrLines::default());
    let start = StartOptions { command: &command, config, in_flight: config.in_flight, stderr: &stderr };
    let tester = Tester { config, declaration: config.declaration(), start, kinds };
    let child = match tester.start() {
        Ok(child) => child,
        Err(reason) => {
            report.add("it answers the handshake, and ignores unknown keys in it", Err(reason));
            return report;
        }
    };
    report.add("it answers the handshake, and ignores unknown keys in it", Ok(String::new()));
    tester.run(child, &mut report);
    report
}

/// Returns the first message, with an additional unknown key.
fn hello(config: &Process) -> Vec<u8> {
    let mut hello = serde_json::to_value(HostHello::new("conformance", config)).unwrap_or_default();
    hello[UNKNOWN_KEY] = json!({ "a": [1] });
    Encoding::Jsonl.encode(&hello).unwrap_or_default()
}

struct Tester<'a> {
    config: &'a Process,
    declaration: Declaration,
    start: StartOptions<'a>,
    kinds: ColumnKinds<'a>,
}

/// The kind of values in a message.
#[derive(Clone, Copy)]
enum Cells {
    Plain,
    Null,
    Characters,
    Long,
}

impl Tester<'_> {
    fn run(&self, child: Child, report: &mut Conformance) {
        let mut child = Some(child);
        let messages = [
            ("it answers a message without rows", 0, Cells::Plain),
            ("it answers a message with one row", 1, Cells::Plain),
            ("it answers a message with several rows", 3, Cells::Plain),
            ("it answers rows without values", 3, Cells::Null),
            ("it answers texts with any characters", 3, Cells::Characters),
            ("it answers very long texts", 1, Cells::Long),
        ];
        for (name, rows, cells) in messages {
            report.add(name, self.with_child(&mut child, |child| self.check_one(child, rows, cells)));
        }
        let many = self.with_child(&mut child, |child| self.check_many(child));
        report.throughput = many.as_ref().ok().copied();
        report.add("it answers every one of many messages", many.map(|_| String::new()));
        report.add("it ends when its input ends, and writes nothing more", self.check_end(&mut child));
    }

    fn start(&self) -> Result<Child, String> {
        Child::start(&self.start, hello(self.config), &|| false).map_err(Option::unwrap_or_default)
    }

    /// Runs `work` with the running process, or with a new one if there is no process. If `work` fails, the process is
    /// ended.
    fn with_child<T>(
        &self,
        child: &mut Option<Child>,
        work: impl FnOnce(&mut Child) -> Result<T, String>,
    ) -> Result<T, String> {
        let mut current = child.take().map_or_else(|| self.start(), Ok)?;
        let result = work(&mut current);
        if result.is_ok() {
            *child = Some(current);
        }
        result
    }

    /// Sends a message and checks the answer. Returns a description of the row errors in the answer.
    fn check_one(&self, child: &mut Child, rows: usize, cells: Cells) -> Result<String, String> {
        self.send(child, rows as u64, rows, cells)?;
        let answer = self.answer(child)?;
        if answer.id != Some(rows as u64) {
            return Err(format!("the answer has the id {:?} instead of {rows}", answer.id));
        }
        self.accept(rows, answer)
    }

    /// Sends many messages, with as many in flight as the configuration allows, and checks the answers.
    fn check_many(&self, child: &mut Child) -> Result<Throughput, String> {
        let size = self.config.rows.clamp(1, 256);
        // Messages are created before the measurement. Creating them takes longer than in a run, and this time must not
        // reduce the throughput of the program.
        let mut waiting = (0..MANY_ROWS.div_ceil(size))
            .map(|at| self.encoded_message(child, at, size))
            .collect::<Result<VecDeque<_>, _>>()?;
        let bytes: usize = waiting.iter().map(|(.., message)| message.len()).sum();
        let started = Instant::now();
        let mut open: Vec<(u64, usize)> = Vec::new();
        while !waiting.is_empty() || !open.is_empty() {
            while open.len() < self.config.in_flight {
                let Some((id, rows, message)) = waiting.pop_front() else { break };
                child.to.try_send(message).map_err(|_| NOT_READ.to_owned())?;
                open.push((id, rows));
            }
            let answer = self.answer(child)?;
            let at = open.iter().position(|(id, _)| answer.id == Some(*id));
            let Some(at) = at else {
                return Err(format!("an answer to message {:?}, which is not in flight", answer.id));
            };
            let (_, rows) = open.remove(at);
            self.accept(rows, answer)?;
        }
        let seconds = started.elapsed().as_secs_f64().max(1e-9);
        Ok(Throughput { rows: MANY_ROWS as f64 / seconds, bytes: bytes as f64 / seconds })
    }

    /// Returns the id, the number of rows, and the bytes of message number `at`.
    fn encoded_message(&self, child: &Child, at: usize, size: usize) -> Result<(u64, usize, Vec<u8>), String> {
        let (id, rows) = (FIRST_MANY_ID + at as u64, size.min(MANY_ROWS - at * size));
        Ok((id, rows, child.encoding.encode(&self.message(id, rows, Cells::Plain))?))
    }

    /// Closes the input of the program and checks that the program ends.
    fn check_end(&self, child: &mut Option<Child>) -> Result<String, String> {
        let mut child = child.take().map_or_else(|| self.start(), Ok)?;
        child.close_input();
        let deadline = Instant::now() + GRACE;
        loop {
            match child.from.recv_timeout(SHORT_TICK) {
                Ok(Ok(Some(_))) => return Err("it wrote a message after the last answer".to_owned()),
                Ok(Err(error)) => return Err(error.to_string()),
                Ok(Ok(None)) | Err(_) => std::thread::sleep(SHORT_TICK),
            }
            if let Some(end) = child.ended() {
                return if end.ends_with("(exit code 0)") { Ok(String::new()) } else { Err(end) };
            }
            if Instant::now() >= deadline {
                return Err(format!("it is still running {} seconds after the end of its input", GRACE.as_secs()));
            }
        }
    }

    fn send(&self, child: &Child, id: u64, rows: usize, cells: Cells) -> Result<(), String> {
        let message = child.encoding.encode(&self.message(id, rows, cells))?;
        child.to.try_send(message).map_err(|_| NOT_READ.to_owned())
    }

    /// Waits for the next message that is not a heartbeat.
    fn answer(&self, child: &mut Child) -> Result<Answer, String> {
        let deadline = Instant::now() + self.config.timeout();
        loop {
            match child.receive::<Answer>()? {
                Some(answer) if answer.r#type != AnswerType::Heartbeat => return Ok(answer),
                None if Instant::now() >= deadline => {
                    return Err(format!("no answer within {} s", self.config.timeout));
                }
                _ => {}
            }
        }
    }

    /// Checks an answer in the same way as in a run.
    fn accept(&self, rows: usize, answer: Answer) -> Result<String, String> {
        if answer.r#type == AnswerType::Error {
            return Ok(format!("it reported an error: {}", printable(&answer.message)));
        }
        let response =
            Response { files: answer.files, chunks: answer.chunks, errors: answer.errors, drops: answer.drops };
        let reported = response.errors.len();
        let remark = response.errors.first().map(|note| printable(&note.message));
        let (set, chunk_files) = self.rows(rows);
        let mut outcome = BatchOutcome::new(&self.declaration, set.files.len(), set.chunks.len());
        outcome.take(&set, response, &chunk_files)?;
        match outcome.invalid {
            Some(fault) => Err(fault),
            None => {
                Ok(remark.map_or_else(String::new, |remark| format!("{reported} rows reported as errors: {remark}")))
            }
        }
    }

    /// Creates a set with this number of units: files with one chunk each, or chunks of one file.
    fn rows(&self, rows: usize) -> (RowSet, Vec<u32>) {
        let units: Vec<u32> = (0..rows as u32).collect();
        match self.declaration.unit {
            RowUnit::File => (RowSet { files: units.clone(), chunks: units.clone() }, units),
            RowUnit::Chunk => {
                let files = if rows == 0 { Vec::new() } else { vec![0] };
                (RowSet { files, chunks: units }, vec![0; rows])
            }
        }
    }

    fn message(&self, id: u64, rows: usize, cells: Cells) -> Value {
        let (set, chunk_files) = self.rows(rows);
        json!({
            "type": "batch",
            "id": id,
            "files": { "count": set.files.len(), "columns": self.columns(Entity::File, set.files.len(), cells) },
            "chunks": {
                "count": set.chunks.len(),
                "file": chunk_files,
                "columns": self.columns(Entity::Chunk, set.chunks.len(), cells),
            },
            UNKNOWN_KEY: [{ "a": null }],
        })
    }

    fn columns(&self, entity: Entity, rows: usize, cells: Cells) -> Map<String, Value> {
        let names = self.declaration.reads.iter().filter(|name| Entity::from_column(name) == Some(entity));
        let columns = names.map(|name| {
            let short = name.split_once('.').map_or(name.as_str(), |(_, short)| short);
            let values = (0..rows).map(|row| cell((self.kinds)(name), row, cells)).collect();
            (short.to_owned(), Value::Array(values))
        });
        columns.collect()
    }
}

fn cell(kind: DynamicType, row: usize, cells: Cells) -> Value {
    let text = || match cells {
        Cells::Characters => ["\u{0}\t\r\n\"\\", "\u{2028}\u{feff}\u{1f980}\u{10ffff}", ""][row % 3].to_owned(),
        Cells::Long => "line of text\n".repeat(LONG_TEXT / 13),
        Cells::Plain | Cells::Null => format!("src/module_{row}/file_{row}.rs"),
    };
    match (cells, kind) {
        (Cells::Null, _) => Value::Null,
        (_, DynamicType::Bool) => json!(row.is_multiple_of(2)),
        (_, DynamicType::Integer) => json!(row),
        (_, DynamicType::Float) => json!(row as f64 + 0.5),
        (_, DynamicType::String) => json!(text()),
        (_, DynamicType::Strings) => json!([text()]),
        (_, DynamicType::Vector) => json!([0.5, row]),
        (_, DynamicType::Json) => json!({ "text": text() }),
    }
}
