//! The exchange of messages between one worker and its process: messages in flight, time-outs, and restarts.
//!
//! If a process ends, does not answer, or violates the protocol, its unanswered messages are sent to a new process, one
//! at a time. The oldest message is usually the cause, so its rows are immediately divided into smaller messages. A
//! message that fails again is divided again, until the row that makes the program fail is alone in a message. If an
//! answer does not match its message, the rows are divided in the same way, but without a restart.

use std::collections::VecDeque;
use std::time::Instant;

use aurora_pipeline::{BatchView, StageContext, StageError, Worker};
use serde::{Deserialize, Serialize};

use super::child::{Child, StartOptions};
use super::codec::Encoding;
use super::config::Process;
use super::handshake::HostHello;
use super::heartbeats::Heartbeats;
use super::restarts::{Cause, Restarts};
use crate::declaration::Declaration;
use crate::exchange::{
    BatchOutcome, ColumnsResponse, Request, Response, RowNote, RowSet, rows_to_process, within_bytes,
};

/// Maximum size of the values in one message, in bytes. A file or chunk with larger values (see [`Declaration::unit`])
/// is sent in a separate message.
const MESSAGE_BYTES: usize = 1 << 20;
/// Number of messages into which a failed message is divided. With a larger number, fewer restarts are needed to find
/// the row, but more messages.
const PIECES: usize = 16;
/// Number of consecutive failed starts after which no worker of the stage starts the program again.
const MAX_FAILED_STARTS: u32 = 3;

/// A message with rows of a batch.
#[derive(Serialize)]
#[serde(tag = "type", rename = "batch")]
struct BatchMessage<F, C> {
    id: u64,
    files: F,
    chunks: C,
}

/// A message of a process after the handshake. The type covers all messages, so that the values of a large message are
/// parsed only once.
#[derive(Deserialize)]
pub(super) struct Answer {
    pub(super) r#type: AnswerType,
    pub(super) id: Option<u64>,
    /// Reason why the whole message could not be processed.
    #[serde(default)]
    pub(super) message: String,
    /// Whether all rows of the message fail without being sent again in smaller messages, for instance because a
    /// service does not answer. The next run retries them.
    #[serde(default)]
    pub(super) retry: bool,
    #[serde(default)]
    pub(super) files: ColumnsResponse,
    #[serde(default)]
    pub(super) chunks: ColumnsResponse,
    #[serde(default)]
    pub(super) errors: Vec<RowNote>,
    #[serde(default)]
    pub(super) drops: Vec<RowNote>,
}

#[derive(Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum AnswerType {
    Result,
    Error,
    Heartbeat,
}

/// Rows to be processed.
struct Task {
    rows: RowSet,
    /// Whether the task must be the only one in flight, because it may make the process fail.
    is_alone: bool,
}

/// The process of one worker, if it is running, and everything needed to start another process.
pub(super) struct Conversation<'s> {
    declaration: &'s Declaration,
    start: StartOptions<'s>,
    restarts: &'s Restarts,
    child: Option<Child>,
    has_started: bool,
    /// The reason why the last process must be replaced.
    cause: Cause,
    /// Number of messages that the current process has answered.
    answered: u64,
    heartbeats: Heartbeats,
    /// Length of the last message, in bytes.
    last_sent: usize,
    next_id: u64,
}

/// The reason why a process can no longer be used.
enum Fault {
    /// The run is stopping.
    Stopped,
    /// The process has ended or broken the protocol.
    Broken(String),
    /// The process does not answer.
    TimedOut(String),
}

impl Worker for Conversation<'_> {
    fn process(&mut self, batch: &mut BatchView<'_>, cx: &StageContext<'_>) -> Result<(), StageError> {
        let declaration = self.declaration;
        let mut outcome = BatchOutcome::new(declaration, batch.files(), batch.chunks());
        let Process { languages, rows, .. } = self.start.config;
        let rows = rows_to_process(batch, &mut outcome, languages, *rows, cx)?;
        let rows = within_bytes(rows, declaration.unit, MESSAGE_BYTES, batch, &declaration.reads)?;
        let units: usize = rows.iter().map(|rows| rows.units(declaration.unit).len()).sum();
        cx.count(&format!("{}.rows", cx.stage()), units as u64);
        self.exchange(batch, rows, &mut outcome, cx)?;
        outcome.write(batch, cx)
    }

    /// Closes the input of the process and waits for the process to exit.
    fn finish(&mut self, cx: &StageContext<'_>) -> Result<(), StageError> {
        if let Some(child) = self.child.take() {
            child.finish(&|| cx.cancelled());
        }
        self.start.stderr.deliver(cx);
        Ok(())
    }
}

/// The messages of one batch that are waiting or in flight.
struct Exchange<'c, 'd, 'b> {
    batch: &'c BatchView<'b>,
    outcome: &'c mut BatchOutcome<'d>,
    queue: VecDeque<Task>,
    in_flight: VecDeque<(u64, Task)>,
}

impl<'s> Conversation<'s> {
    pub(super) fn new(declaration: &'s Declaration, start: StartOptions<'s>, restarts: &'s Restarts) -> Self {
        Self {
            declaration,
            start,
            restarts,
            child: None,
            has_started: false,
            cause: Cause::Fault,
            answered: 0,
            heartbeats: Heartbeats::since(Instant::now()),
            last_sent: 0,
            next_id: 0,
        }
    }

    /// Sends rows to the process and adds the answers to `outcome`.
    ///
    /// # Errors
    /// Returns [`StageError::Stopped`] if the run is stopping.
    fn exchange(
        &mut self,
        batch: &BatchView<'_>,
        rows: Vec<RowSet>,
        outcome: &mut BatchOutcome<'_>,
        cx: &StageContext<'_>,
    ) -> Result<(), StageError> {
        let queue = rows.into_iter().map(|rows| Task { rows, is_alone: false }).collect();
        let mut exchange = Exchange { batch, outcome, queue, in_flight: VecDeque::new() };
        while !exchange.queue.is_empty() || !exchange.in_flight.is_empty() {
            let Some(mut child) = self.started(cx)? else {
                exchange.fail_remaining(&self.restarts.last_failure());
                break;
            };
            let ended = self.converse(&mut child, &mut exchange, cx);
            if ended.is_ok() {
                self.child = Some(child);
            } else {
                drop(child);
            }
            self.start.stderr.deliver(cx);
            match ended {
                Ok(()) => {}
                Err(Fault::Stopped) => return Err(StageError::Stopped),
                Err(Fault::Broken(reason)) => {
                    self.cause = exchange.recover(&reason, self.answered == 0);
                    self.restarts.note(&reason);
                }
                Err(Fault::TimedOut(reason)) => {
                    // Each attempt costs the whole time-out, so a message that was sent alone is assumed to be the
                    // cause, even if the process has answered other messages before.
                    exchange.recover(&reason, true);
                    self.cause = Cause::Fault;
                    self.restarts.note(&reason);
                }
            }
        }
        Ok(())
    }

    /// Returns the running process or starts a new one. Returns `None` if no more starts are allowed.
    fn started(&mut self, cx: &StageContext<'_>) -> Result<Option<Child>, StageError> {
        for _ in 0..MAX_FAILED_STARTS {
            if let Some(child) = self.child.take() {
                return Ok(Some(child));
            }
            if self.restarts.are_forbidden() || (self.has_started && !self.restarts.take(self.cause)) {
                return Ok(None);
            }
            self.has_started = true;
            self.cause = Cause::Fault;
            self.answered = 0;
            self.heartbeats = Heartbeats::since(Instant::now());
            let hello = HostHello::new(cx.stage(), self.start.config);
            let hello = Encoding::Jsonl.encode(&hello).unwrap_or_default();
            let started = Child::start(&self.start, hello, &|| cx.cancelled());
            self.start.stderr.deliver(cx);
            match started {
                Ok(child) => return Ok(Some(child)),
                Err(None) => return Err(StageError::Stopped),
                Err(Some(reason)) => self.restarts.note(&reason),
            }
        }
        self.restarts.forbid();
        Ok(None)
    }

    /// Exchanges messages until all of them are answered.
    ///
    /// # Errors
    /// Returns the reason why the process can no longer be used.
    fn converse(
        &mut self,
        child: &mut Child,
        exchange: &mut Exchange<'_, '_, '_>,
        cx: &StageContext<'_>,
    ) -> Result<(), Fault> {
        let (mut progress, mut end) = (Instant::now(), None);
        loop {
            if cx.cancelled() {
                return Err(Fault::Stopped);
            }
            while exchange.may_send(self.start.in_flight) {
                if let Some(message) = self.encode(child, exchange)? {
                    // The queue has room for all messages in flight, so sending only fails if the process has ended.
                    if child.to.try_send(message).is_err() {
                        return Err(Fault::Broken(child.explained("the process does not read its input")));
                    }
                    progress = Instant::now();
                }
            }
            if exchange.in_flight.is_empty() {
                return Ok(());
            }
            match child.receive().map_err(Fault::Broken)? {
                Some(answer) => {
                    self.take(answer, exchange)?;
                    progress = Instant::now();
                }
                None if progress.elapsed() > self.start.config.timeout() => {
                    return Err(Fault::TimedOut(format!("no answer within {} s", self.start.config.timeout)));
                }
                None => {
                    // A child of the process may hold the output open after the process has ended.
                    if let Some(end) = end {
                        return Err(Fault::Broken(end));
                    }
                    end = child.ended();
                    self.start.stderr.deliver(cx);
                }
            }
        }
    }

    /// Handles an answer or a heartbeat.
    ///
    /// # Errors
    /// Returns a description of the protocol violation.
    fn take(&mut self, answer: Answer, exchange: &mut Exchange<'_, '_, '_>) -> Result<(), Fault> {
        if answer.r#type == AnswerType::Heartbeat {
            return self.heartbeats.take(Instant::now()).map_err(Fault::Broken);
        }
        exchange.take(answer).map_err(Fault::Broken)?;
        self.answered += 1;
        self.heartbeats = Heartbeats::since(Instant::now());
        Ok(())
    }

    /// Encodes the next message and records it as in flight. If the message cannot be encoded, its task is divided or
    /// fails.
    fn encode(&mut self, child: &Child, exchange: &mut Exchange<'_, '_, '_>) -> Result<Option<Vec<u8>>, Fault> {
        let Some(task) = exchange.queue.pop_front() else { return Ok(None) };
        let id = self.next_id;
        self.next_id += 1;
        let request = Request::new(exchange.batch, &task.rows, &self.declaration.reads)
            .map_err(|error| Fault::Broken(error.to_string()))?;
        let expected = self.last_sent + self.last_sent / 8;
        let (files, chunks) = (request.files_table(), request.chunks_table());
        let encoded = child.encoding.encode_expecting(expected, &BatchMessage { id, files, chunks });
        drop(request);
        match encoded {
            Ok(bytes) => {
                self.last_sent = bytes.len();
                exchange.in_flight.push_back((id, task));
                Ok(Some(bytes))
            }
            Err(reason) => {
                exchange.divide(task, &reason);
                Ok(None)
            }
        }
    }
}

impl Exchange<'_, '_, '_> {
    /// Whether the next task may be sent now. `most` is the maximum number of tasks in flight.
    fn may_send(&self, most: usize) -> bool {
        let Some(next) = self.queue.front() else { return false };
        let is_alone = next.is_alone || self.in_flight.iter().any(|(_, task)| task.is_alone);
        if is_alone { self.in_flight.is_empty() } else { self.in_flight.len() < most }
    }

    /// Handles the answer to a message. If the answer does not match the message, the rows are sent again in smaller
    /// messages.
    ///
    /// # Errors
    /// Returns a description of the protocol violation.
    fn take(&mut self, answer: Answer) -> Result<(), String> {
        let Answer { r#type, id, message, retry, files, chunks, errors, drops } = answer;
        let id = id.ok_or_else(|| "an answer without `id`".to_owned())?;
        let at = self.in_flight.iter().position(|(sent, _)| *sent == id);
        let Some((_, task)) = at.and_then(|at| self.in_flight.remove(at)) else {
            return Err(format!("an answer to message {id}, which is not in flight"));
        };
        if r#type == AnswerType::Error && retry {
            self.outcome.fail(task.rows.units(self.outcome.unit()), &message);
            return Ok(());
        }
        if r#type == AnswerType::Error {
            self.divide(task, &message);
            return Ok(());
        }
        let response = Response { files, chunks, errors, drops };
        if let Err(reason) = self.outcome.take(&task.rows, response, self.batch.chunk_files()) {
            self.divide(task, &reason);
        }
        Ok(())
    }

    /// Queues the unanswered tasks of a failed process for a new process, and returns the kind of failure. If the
    /// oldest task has several units, it is divided. A single unit fails if it was sent alone as the first message to
    /// the process (`was_first`). Otherwise another row may have broken the process, so the unit is sent again, alone.
    fn recover(&mut self, reason: &str, was_first: bool) -> Cause {
        let mut tasks: VecDeque<Task> = self.in_flight.drain(..).map(|(_, task)| task).collect();
        let Some(oldest) = tasks.pop_front() else { return Cause::Fault };
        for task in tasks.into_iter().rev() {
            self.queue.push_front(Task { is_alone: true, ..task });
        }
        let cause = if oldest.is_alone { Cause::Isolation } else { Cause::Fault };
        let is_single = oldest.rows.units(self.outcome.unit()).len() == 1;
        if is_single && !(oldest.is_alone && was_first) {
            self.queue.push_front(Task { is_alone: true, ..oldest });
        } else {
            self.divide(oldest, reason);
        }
        cause
    }

    /// Replaces a failed task with smaller ones. If the task has a single unit, that unit fails.
    fn divide(&mut self, task: Task, reason: &str) {
        let unit = self.outcome.unit();
        match task.rows.pieces(unit, PIECES, self.batch.chunk_files()) {
            Some(pieces) => {
                for rows in pieces.into_iter().rev() {
                    self.queue.push_front(Task { rows, is_alone: true });
                }
            }
            None => self.outcome.fail(task.rows.units(unit), reason),
        }
    }

    /// Fails the units of all remaining tasks.
    fn fail_remaining(&mut self, last_failure: &str) {
        let tasks: Vec<Task> = self.in_flight.drain(..).map(|(_, task)| task).chain(self.queue.drain(..)).collect();
        let reason = format!("gave up on the program: {last_failure}");
        for task in tasks {
            self.outcome.fail(task.rows.units(self.outcome.unit()), &reason);
        }
    }
}
