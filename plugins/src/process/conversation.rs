//! The exchange of one worker with its process: several messages in flight, time-outs, restarts.
//!
//! When a process ends, does not answer, or breaks the protocol, its unanswered messages are sent again to a new process, one
//! at a time; a message that fails alone is divided until the row that makes it fail is alone too.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Instant;

use aurora_pipeline::{BatchView, StageContext, StageError};
use serde::ser::SerializeStruct;
use serde::{Deserialize, Serialize, Serializer};

use super::child::{Child, Incoming, StartOptions, TICK};
use super::config::Process;
use crate::declaration::Declaration;
use crate::exchange::{BatchOutcome, ColumnsResponse, Request, Response, RowNote, RowSet};

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
struct Answer {
    r#type: AnswerType,
    id: Option<u64>,
    /// Why a message as a whole could not be processed.
    #[serde(default)]
    message: String,
    #[serde(default)]
    files: ColumnsResponse,
    #[serde(default)]
    chunks: ColumnsResponse,
    #[serde(default)]
    errors: Vec<RowNote>,
    #[serde(default)]
    drops: Vec<RowNote>,
}

#[derive(Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum AnswerType {
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
    /// Starts that all workers of the stage have left.
    pub(super) starts_left: &'s AtomicU32,
    child: Option<Child>,
    next_id: u64,
}

/// What a worker does with one batch.
struct Exchange<'c, 'd, 'b> {
    batch: &'c BatchView<'b>,
    outcome: &'c mut BatchOutcome<'d>,
    queue: VecDeque<Task>,
    in_flight: VecDeque<(u64, Task)>,
    /// Why the process failed last.
    last_failure: String,
}

impl<'s> Conversation<'s> {
    pub(super) fn new(
        config: &'s Process,
        declaration: &'s Declaration,
        start: StartOptions<'s>,
        starts_left: &'s AtomicU32,
    ) -> Self {
        Self { config, declaration, start, starts_left, child: None, next_id: 0 }
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
        let mut exchange = Exchange {
            batch,
            outcome,
            queue,
            in_flight: VecDeque::new(),
            last_failure: "it was never started".to_owned(),
        };
        while !exchange.queue.is_empty() || !exchange.in_flight.is_empty() {
            if cx.cancelled() {
                self.child = None;
                return Err(StageError::Stopped);
            }
            self.start.stderr.deliver(cx);
            let Some(mut child) = self.started(&mut exchange, cx)? else {
                exchange.give_up(cx);
                return Ok(());
            };
            match self.converse(&mut child, &mut exchange, cx) {
                Ok(()) => self.child = Some(child),
                Err(None) => return Err(StageError::Stopped),
                Err(Some(reason)) => {
                    drop(child);
                    exchange.recover(&reason);
                }
            }
        }
        self.start.stderr.deliver(cx);
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
    fn started(
        &mut self,
        exchange: &mut Exchange<'_, '_, '_>,
        cx: &StageContext<'_>,
    ) -> Result<Option<Child>, StageError> {
        loop {
            if let Some(child) = self.child.take() {
                return Ok(Some(child));
            }
            let left = self.starts_left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1));
            if left.is_err() {
                return Ok(None);
            }
            match Child::start(&self.start, &|| cx.cancelled()) {
                Ok(child) => self.child = Some(child),
                Err(None) => return Err(StageError::Stopped),
                Err(Some(reason)) => exchange.last_failure = reason,
            }
            self.start.stderr.deliver(cx);
        }
    }

    /// Exchanges messages until everything is answered.
    ///
    /// # Errors
    /// Why the process cannot go on; `None` when the run is stopping.
    fn converse(
        &mut self,
        child: &mut Child,
        exchange: &mut Exchange<'_, '_, '_>,
        cx: &StageContext<'_>,
    ) -> Result<(), Option<String>> {
        let mut progress = Instant::now();
        loop {
            while exchange.may_send(self.config.in_flight) {
                if let Some(message) = self.encode(child, exchange)? {
                    // The queue has room for everything that may be in flight, so only a process that has ended refuses.
                    if child.to.try_send(message).is_err() {
                        return Err(Some(child.explained("the process does not read its input".to_owned())));
                    }
                    progress = Instant::now();
                }
            }
            if exchange.in_flight.is_empty() {
                return Ok(());
            }
            match child.from.recv_timeout(TICK).ok() {
                Some(Incoming::Message(bytes)) => {
                    exchange.take(child.encoding.decode(&bytes).map_err(|error| Some(invalid(&error)))?)?;
                    progress = Instant::now();
                }
                Some(Incoming::End(reason)) => return Err(Some(child.explained(reason))),
                None if cx.cancelled() => return Err(None),
                None if progress.elapsed() > self.config.timeout() => {
                    return Err(Some(format!("no answer within {} seconds", self.config.timeout)));
                }
                None => self.start.stderr.deliver(cx),
            }
        }
    }

    /// The next message; its rows are in flight from now on. Rows that cannot be encoded fail.
    fn encode(
        &mut self,
        child: &Child,
        exchange: &mut Exchange<'_, '_, '_>,
    ) -> Result<Option<Vec<u8>>, Option<String>> {
        let Some(task) = exchange.queue.pop_front() else { return Ok(None) };
        let id = self.next_id;
        self.next_id += 1;
        let request = Request::new(exchange.batch, &task.rows, &self.declaration.reads)
            .map_err(|error| Some(error.to_string()))?;
        let message = child.encoding.encode(&BatchMessage { id, rows: request });
        match message {
            Ok(bytes) => {
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

    /// Takes an answer.
    ///
    /// # Errors
    /// How it breaks the protocol.
    fn take(&mut self, answer: Answer) -> Result<(), Option<String>> {
        let Answer { r#type, id, message, files, chunks, errors, drops } = answer;
        if r#type == AnswerType::Heartbeat {
            return Ok(());
        }
        let id = id.ok_or_else(|| Some("an answer without `id`".to_owned()))?;
        let at = self.in_flight.iter().position(|(sent, _)| *sent == id);
        let Some((_, task)) = at.and_then(|at| self.in_flight.remove(at)) else {
            return Err(Some(format!("an answer to message {id}, which is not in flight")));
        };
        if r#type == AnswerType::Error {
            self.divide(task, &message);
            return Ok(());
        }
        let response = Response { files, chunks, errors, drops };
        let taken = self.outcome.take(&task.rows, response, self.batch.chunk_files());
        taken.map_err(|reason| {
            self.in_flight.push_front((id, task));
            Some(reason)
        })
    }

    /// Makes the tasks of a process that has failed ready for another one.
    fn recover(&mut self, reason: &str) {
        self.last_failure = reason.to_owned();
        let mut tasks: Vec<Task> = self.in_flight.drain(..).map(|(_, task)| task).collect();
        if tasks.len() == 1 {
            if let Some(task) = tasks.pop() {
                self.divide(task, reason);
            }
            return;
        }
        for task in tasks.into_iter().rev() {
            self.queue.push_front(Task { is_alone: true, ..task });
        }
    }

    /// Replaces a task that has failed by two halves; a single unit fails.
    fn divide(&mut self, task: Task, reason: &str) {
        let unit = self.outcome.unit();
        match task.rows.halves(unit, self.batch.chunk_files()) {
            Some(halves) => {
                for rows in halves.into_iter().rev() {
                    self.queue.push_front(Task { rows, is_alone: true });
                }
            }
            None => task.rows.units(unit).iter().for_each(|row| self.outcome.fail(*row, reason)),
        }
    }

    /// Reports everything that is left as not done.
    fn give_up(&mut self, cx: &StageContext<'_>) {
        let tasks = self.in_flight.drain(..).map(|(_, task)| task).chain(self.queue.drain(..));
        let rows: usize = tasks.map(|task| task.rows.units(self.outcome.unit()).len()).sum();
        cx.incomplete(rows as u64, &format!("the program was given up: {}", self.last_failure));
    }
}

fn invalid(error: &str) -> String {
    format!("an invalid message: {error}")
}
