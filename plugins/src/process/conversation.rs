//! The exchange of one worker with its process: several messages in flight, time-outs, restarts.
//!
//! When a process ends, does not answer, or breaks the protocol, its unanswered messages are sent again to a new process, one
//! at a time. The oldest of them is the one that a program usually works on, so it is divided at once, and divided further
//! as long as it fails, until the row that makes it fail is alone. An answer that does not fit its message fails without a
//! restart: its rows are sent again in the same way.

use std::collections::VecDeque;
use std::time::Instant;

use aurora_pipeline::{BatchView, StageContext, StageError};
use serde::ser::SerializeStruct;
use serde::{Deserialize, Serialize, Serializer};

use super::child::{Child, Incoming, StartOptions, TICK};
use super::config::Process;
use super::heartbeats::Heartbeats;
use super::restarts::{Cause, Restarts};
use crate::declaration::Declaration;
use crate::exchange::{BatchOutcome, ColumnsResponse, Request, Response, RowNote, RowSet};

/// Messages that one which fails is divided into: with more, fewer restarts find the row, and more messages are sent.
const PIECES: usize = 16;
/// Starts without success, one after the other, after which the program is given up.
const MAX_FAILED_STARTS: u32 = 3;

/// A message with rows.
struct BatchMessage<'b> {
    id: u64,
    rows: Request<'b>,
}

impl Serialize for BatchMessage<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut message = serializer.serialize_struct("BatchMessage", 4)?;
        message.serialize_field("type", "batch")?;
        message.serialize_field("id", &self.id)?;
        message.serialize_field("files", &self.rows.files_table())?;
        message.serialize_field("chunks", &self.rows.chunks_table())?;
        message.end()
    }
}

/// What a process says after the handshake. One type for all messages, so that the values of a large one are read only once.
#[derive(Deserialize)]
pub(super) struct Answer {
    pub(super) r#type: AnswerType,
    pub(super) id: Option<u64>,
    /// Why a message as a whole could not be processed.
    #[serde(default)]
    pub(super) message: String,
    /// The rows of that message need not be tried one by one: a service does not answer, for instance.
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

/// Rows on their way.
struct Task {
    rows: RowSet,
    /// Nothing else is in flight with it: it may be what makes the process fail.
    is_alone: bool,
}

/// The process of one worker, if it has one, and what it needs to start another.
pub(super) struct Conversation<'s> {
    pub(super) config: &'s Process,
    pub(super) declaration: &'s Declaration,
    pub(super) start: StartOptions<'s>,
    restarts: &'s Restarts,
    child: Option<Child>,
    has_started: bool,
    /// Why the last process is replaced.
    cause: Cause,
    /// Messages that the process has answered.
    answered: u64,
    heartbeats: Heartbeats,
    /// Length of the last message, in bytes.
    last_sent: usize,
    next_id: u64,
}

/// Why a process cannot be used any more.
enum Fault {
    /// The run is stopping.
    Stopped,
    /// It has ended or breaks the protocol.
    Broken(String),
    /// It does not answer.
    TimedOut(String),
}

/// What a worker does with one batch.
struct Exchange<'c, 'd, 'b> {
    batch: &'c BatchView<'b>,
    outcome: &'c mut BatchOutcome<'d>,
    queue: VecDeque<Task>,
    in_flight: VecDeque<(u64, Task)>,
}

impl<'s> Conversation<'s> {
    pub(super) fn new(
        config: &'s Process,
        declaration: &'s Declaration,
        start: StartOptions<'s>,
        restarts: &'s Restarts,
    ) -> Self {
        Self {
            config,
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

    /// Sends rows to the process and takes its answers.
    ///
    /// # Errors
    /// [`StageError::Stopped`] when the run is stopping.
    pub(super) fn exchange(
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
                exchange.give_up(&self.restarts.last_failure());
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
                    // Each search costs a time-out, so a message that is alone counts as found wherever it was in order.
                    exchange.recover(&reason, true);
                    self.cause = Cause::Fault;
                    self.restarts.note(&reason);
                }
            }
        }
        Ok(())
    }

    /// Lets the process end.
    pub(super) fn finish(&mut self, cx: &StageContext<'_>) {
        if let Some(child) = self.child.take() {
            child.finish(&|| cx.cancelled());
        }
        self.start.stderr.deliver(cx);
    }

    /// The running process, or a new one; `None` if it cannot be started any more.
    fn started(&mut self, cx: &StageContext<'_>) -> Result<Option<Child>, StageError> {
        for _ in 0..MAX_FAILED_STARTS {
            if let Some(child) = self.child.take() {
                return Ok(Some(child));
            }
            if self.restarts.is_given_up() || (self.has_started && !self.restarts.take(self.cause)) {
                return Ok(None);
            }
            self.has_started = true;
            self.cause = Cause::Fault;
            self.answered = 0;
            self.heartbeats = Heartbeats::since(Instant::now());
            let started = Child::start(&self.start, &|| cx.cancelled());
            self.start.stderr.deliver(cx);
            match started {
                Ok(child) => return Ok(Some(child)),
                Err(None) => return Err(StageError::Stopped),
                Err(Some(reason)) => self.restarts.note(&reason),
            }
        }
        self.restarts.give_up();
        Ok(None)
    }

    /// Exchanges messages until everything is answered.
    ///
    /// # Errors
    /// Why the process cannot be used any more.
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
            while exchange.may_send(self.config.in_flight) {
                if let Some(message) = self.encode(child, exchange)? {
                    // The queue has room for everything that may be in flight, so only a process that has ended refuses.
                    if child.to.try_send(message).is_err() {
                        return Err(Fault::Broken(child.explained("the process does not read its input")));
                    }
                    progress = Instant::now();
                }
            }
            if exchange.in_flight.is_empty() {
                return Ok(());
            }
            match child.from.recv_timeout(TICK).ok() {
                Some(Incoming::Message(bytes)) => {
                    let answer = child.encoding.decode(&bytes).map_err(|error| Fault::Broken(invalid(&error)))?;
                    self.take(answer, exchange)?;
                    progress = Instant::now();
                }
                Some(Incoming::End) => {
                    return Err(Fault::Broken(child.explained("the process has closed its output")));
                }
                Some(Incoming::Invalid(reason)) => return Err(Fault::Broken(reason)),
                None if progress.elapsed() > self.config.timeout() => {
                    return Err(Fault::TimedOut(format!("no answer within {} seconds", self.config.timeout)));
                }
                None => {
                    // A process that it has started may keep its output open.
                    if let Some(end) = end {
                        return Err(Fault::Broken(end));
                    }
                    end = child.ended();
                    self.start.stderr.deliver(cx);
                }
            }
        }
    }

    /// Takes an answer.
    ///
    /// # Errors
    /// How it breaks the protocol.
    fn take(&mut self, answer: Answer, exchange: &mut Exchange<'_, '_, '_>) -> Result<(), Fault> {
        if answer.r#type == AnswerType::Heartbeat {
            return self.heartbeats.take(Instant::now()).map_err(Fault::Broken);
        }
        exchange.take(answer).map_err(Fault::Broken)?;
        self.answered += 1;
        self.heartbeats = Heartbeats::since(Instant::now());
        Ok(())
    }

    /// The next message; its rows are in flight from now on. Rows that cannot be encoded fail.
    fn encode(&mut self, child: &Child, exchange: &mut Exchange<'_, '_, '_>) -> Result<Option<Vec<u8>>, Fault> {
        let Some(task) = exchange.queue.pop_front() else { return Ok(None) };
        let id = self.next_id;
        self.next_id += 1;
        let request = Request::new(exchange.batch, &task.rows, &self.declaration.reads)
            .map_err(|error| Fault::Broken(error.to_string()))?;
        let expected = self.last_sent + self.last_sent / 8;
        let message = child.encoding.encode_expecting(expected, &BatchMessage { id, rows: request });
        match message {
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
    /// Whether the next task may be sent beside those that are in flight.
    fn may_send(&self, most: usize) -> bool {
        let Some(next) = self.queue.front() else { return false };
        let is_alone = next.is_alone || self.in_flight.iter().any(|(_, task)| task.is_alone);
        if is_alone { self.in_flight.is_empty() } else { self.in_flight.len() < most }
    }

    /// Takes an answer to a message. The rows of an answer that does not fit its message are sent again.
    ///
    /// # Errors
    /// How it breaks the protocol.
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

    /// Makes the tasks of a process that has failed ready for another one. A row that is alone has failed if it was the first
    /// that the process got (`was_first`); otherwise another row may have broken the process, and it is tried once more.
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

    /// Replaces a task that has failed by smaller ones; a single unit fails.
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

    /// Lets everything that is left fail.
    fn give_up(&mut self, last_failure: &str) {
        let tasks: Vec<Task> = self.in_flight.drain(..).map(|(_, task)| task).chain(self.queue.drain(..)).collect();
        let reason = format!("the program was given up: {last_failure}");
        for task in tasks {
            self.outcome.fail(task.rows.units(self.outcome.unit()), &reason);
        }
    }
}

fn invalid(error: &str) -> String {
    format!("an invalid message: {error}")
}
