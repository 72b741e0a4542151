//! One running process, and the threads that read and write its pipes.
//!
//! The threads are never joined. A pipe stays open as long as any process holds it, even a process that has left the
//! process group of the stage, so joining could block.

use std::io::{self, Write as _};
use std::process::{Child as SystemProcess, ChildStderr, ChildStdin, ChildStdout};
use std::sync::Arc;
use std::thread::Builder;
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, bounded};
use serde::de::DeserializeOwned;

use super::codec::{Encoding, MessageReader};
use super::command::ResolvedCommand;
use super::config::Process;
use super::handshake;
use super::processes;
use super::stderr_lines::StderrLines;

/// Maximum time from the start of a process to its first answer, even if the stage's `timeout` is longer.
const MAX_START_TIME: Duration = Duration::from_secs(30);
/// Time that every process has from its start to its first answer, even if the stage's `timeout` is shorter.
const MIN_START_TIME: Duration = Duration::from_secs(15);
/// Time in which a process must exit after its input has been closed.
const GRACE: Duration = Duration::from_secs(2);
/// Maximum time to wait for the rest of the standard error output of a process that has ended.
const LOG_END_TIMEOUT: Duration = Duration::from_millis(200);
/// Interval at which a waiting worker checks whether the process has ended or the run is stopping.
const TICK: Duration = Duration::from_millis(50);
/// Interval of the checks while a worker only waits for the process to exit.
pub(super) const SHORT_TICK: Duration = Duration::from_millis(10);

/// The bytes of a message from a process; `None` at the end of the output, and an error for invalid output. Nothing
/// more is read after the end or an error.
type Incoming = io::Result<Option<Vec<u8>>>;

/// A running process that has answered the first message.
pub(super) struct Child {
    process: SystemProcess,
    cookie: String,
    pub(super) encoding: Encoding,
    pub(super) to: Sender<Vec<u8>>,
    pub(super) from: Receiver<Incoming>,
    /// Disconnected when the standard error output of the process has been read to its end.
    log_end: Receiver<()>,
}

/// Options that all processes of a stage have in common.
pub(super) struct StartOptions<'a> {
    pub(super) command: &'a ResolvedCommand,
    pub(super) config: &'a Process,
    pub(super) in_flight: usize,
    pub(super) stderr: &'a Arc<StderrLines>,
}

impl Child {
    /// Starts a process and performs the handshake. `hello` is the first message, encoded as JSON.
    ///
    /// # Errors
    /// Returns the reason why the process cannot be used, or [`None`] if `is_stopped` returned true.
    pub(super) fn start(
        options: &StartOptions<'_>,
        hello: Vec<u8>,
        is_stopped: &dyn Fn() -> bool,
    ) -> Result<Self, Option<String>> {
        let cookie = random_cookie().map_err(|error| Some(format!("there are no random numbers: {error}")))?;
        let spawned = options.command.command(&cookie).spawn();
        let mut process = spawned.map_err(|error| Some(format!("it cannot be started: {error}")))?;
        processes::limit_memory(&process, options.config.memory.0);
        let pipes = (process.stdin.take(), process.stdout.take(), process.stderr.take());
        let (Some(stdin), Some(stdout), Some(stderr)) = pipes else {
            processes::end(&mut process);
            return Err(Some("it has no pipes".to_owned()));
        };
        processes::enlarge(&stdin);
        processes::enlarge(&stdout);
        // The queue has room for the first message and all messages in flight.
        let (to, outgoing) = bounded(options.in_flight + 1);
        let (incoming, from) = bounded(options.in_flight);
        let (decide, encoding) = bounded(1);
        let (log_open, log_end) = bounded(0);
        let lines = Arc::clone(options.stderr);
        let threads = spawn("write", move || write(stdin, &outgoing))
            .and_then(|()| spawn("read", move || read(stdout, &incoming, &encoding)))
            .and_then(|()| spawn("log", move || log(stderr, &lines, &log_open)));
        let mut child = Self { process, cookie, encoding: Encoding::Jsonl, to, from, log_end };
        threads.map_err(|error| Some(format!("a thread cannot be started: {error}")))?;
        // If the process has already ended, this is detected when no answer arrives.
        let _ = child.to.try_send(hello);
        let longest = options.config.timeout().clamp(MIN_START_TIME, MAX_START_TIME);
        child.encoding = handshake::accept(&child.first(longest, is_stopped)?).map_err(Some)?;
        let _ = decide.send(child.encoding);
        Ok(child)
    }

    /// Waits for the first message of the process.
    fn first(&mut self, longest: Duration, is_stopped: &dyn Fn() -> bool) -> Result<Vec<u8>, Option<String>> {
        let deadline = Instant::now() + longest;
        loop {
            match self.receive_bytes().map_err(Some)? {
                Some(line) => return Ok(line),
                None if is_stopped() => return Err(None),
                None if Instant::now() >= deadline => {
                    return Err(Some(format!("no answer to `hello` within {} s", longest.as_secs())));
                }
                None => {}
            }
        }
    }

    /// Waits for the next message, at most for [`TICK`].
    ///
    /// # Errors
    /// Returns the reason why no more messages can be received, or why the message is invalid.
    pub(super) fn receive<T: DeserializeOwned>(&mut self) -> Result<Option<T>, String> {
        let Some(bytes) = self.receive_bytes()? else { return Ok(None) };
        self.encoding.decode(&bytes).map(Some).map_err(|error| format!("an invalid message: {error}"))
    }

    fn receive_bytes(&mut self) -> Result<Option<Vec<u8>>, String> {
        match self.from.recv_timeout(TICK) {
            Ok(Ok(Some(bytes))) => Ok(Some(bytes)),
            Ok(Ok(None)) => Err(self.explained("the process has closed its output")),
            Ok(Err(error)) => Err(error.to_string()),
            Err(_) => Ok(None),
        }
    }

    /// Describes how the process has ended; `None` if it is running. Reading the output does not show this reliably,
    /// because a child of the process may keep the output open after the end of the process.
    pub(super) fn ended(&mut self) -> Option<String> {
        processes::end_of(&mut self.process).map(|how| format!("the process has ended ({how})"))
    }

    /// Describes how the process has ended. If it is still running, returns `reason`.
    pub(super) fn explained(&mut self, reason: &str) -> String {
        // The end of the output is often visible shortly before the process has ended.
        let deadline = Instant::now() + Duration::from_millis(200);
        loop {
            match self.ended() {
                Some(end) => return end,
                None if Instant::now() < deadline => std::thread::sleep(Duration::from_millis(5)),
                None => return reason.to_owned(),
            }
        }
    }

    /// Closes the input of the process after all messages have been written.
    pub(super) fn close_input(&mut self) {
        // The writing thread closes the pipe when the sender has been dropped.
        self.to = bounded(0).0;
    }

    /// Closes the input and waits for the process to exit.
    pub(super) fn finish(mut self, is_stopped: &dyn Fn() -> bool) {
        self.close_input();
        let deadline = Instant::now() + GRACE;
        while Instant::now() < deadline && !is_stopped() && self.ended().is_none() {
            // Read the remaining output, so that the process does not block on a full pipe.
            if matches!(self.from.recv_timeout(SHORT_TICK), Err(RecvTimeoutError::Disconnected)) {
                std::thread::sleep(SHORT_TICK);
            }
        }
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        processes::end(&mut self.process);
        processes::kill_by_cookie(&self.cookie);
        // The last lines of standard error often contain the reason for the end of the process.
        let _ = self.log_end.recv_timeout(LOG_END_TIMEOUT);
    }
}

fn spawn(name: &str, work: impl FnOnce() + Send + 'static) -> io::Result<()> {
    Builder::new().name(format!("aurora-stage-{name}")).spawn(work).map(drop)
}

fn write(mut stdin: ChildStdin, outgoing: &Receiver<Vec<u8>>) {
    for message in outgoing {
        if stdin.write_all(&message).and_then(|()| stdin.flush()).is_err() {
            return;
        }
    }
}

/// Reads messages and forwards them. The first message is a line. The encoding of later messages is received from
/// `decided`.
fn read(stdout: ChildStdout, incoming: &Sender<Incoming>, decided: &Receiver<Encoding>) {
    let mut reader = MessageReader::new(stdout);
    if !forward(reader.next(Encoding::Jsonl), incoming) {
        return;
    }
    let Ok(encoding) = decided.recv() else { return };
    while forward(reader.next(encoding), incoming) {}
}

/// Forwards a message, the end of the output, or an error. Returns whether more messages may follow.
fn forward(message: Incoming, incoming: &Sender<Incoming>) -> bool {
    let is_last = !matches!(message, Ok(Some(_)));
    incoming.send(message).is_ok() && !is_last
}

/// Reads standard error to its end, and then drops `open`.
fn log(stderr: ChildStderr, lines: &StderrLines, open: &Sender<()>) {
    lines.read(stderr);
    let _ = open;
}

/// Creates a random cookie, which differs between processes and which other programs cannot guess.
///
/// # Errors
/// Fails if the system provides no random numbers.
fn random_cookie() -> Result<String, getrandom::Error> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes)?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}
