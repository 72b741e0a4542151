//! Lines that processes write to standard error. The lines are passed to the log of the stage. Their number and length
//! are limited.

use std::collections::VecDeque;
use std::io::{BufReader, Read};
use std::sync::{Mutex, PoisonError};

use aurora_pipeline::StageContext;

use crate::exchange::printable;

/// Maximum number of lines per stage in a run.
const MAX_LINES: u64 = 200;
/// Maximum length of a line, in bytes. Longer lines are cut off.
const MAX_LINE_BYTES: usize = 2_048;

/// Lines from all processes of a stage.
#[derive(Default)]
pub(super) struct StderrLines {
    state: Mutex<LineState>,
}

#[derive(Default)]
struct LineState {
    waiting: VecDeque<String>,
    taken: u64,
    dropped: u64,
}

impl StderrLines {
    /// Reads a stream to its end.
    pub(super) fn read(&self, stream: impl Read) {
        let mut stream = BufReader::new(stream);
        let (mut line, mut buffer) = (Vec::new(), [0; 4096]);
        loop {
            let read = match stream.read(&mut buffer) {
                Ok(0) | Err(_) => break,
                Ok(read) => read,
            };
            for byte in &buffer[..read] {
                if *byte == b'\n' {
                    self.push(&line);
                    line.clear();
                } else if line.len() < MAX_LINE_BYTES {
                    line.push(*byte);
                }
            }
        }
        if !line.is_empty() {
            self.push(&line);
        }
    }

    /// Passes the lines collected so far to the log of the stage.
    pub(super) fn deliver(&self, cx: &StageContext<'_>) {
        let lines = std::mem::take(&mut self.lock().waiting);
        lines.iter().for_each(|line| cx.log(line));
    }

    /// Passes the remaining lines to the log, followed by the number of lines beyond [`MAX_LINES`].
    pub(super) fn close(&self, cx: &StageContext<'_>) {
        self.deliver(cx);
        let dropped = std::mem::take(&mut self.lock().dropped);
        if dropped > 0 {
            cx.log(&format!("({dropped} further lines)"));
        }
    }

    fn push(&self, line: &[u8]) {
        let mut state = self.lock();
        if state.taken < MAX_LINES {
            state.taken += 1;
            state.waiting.push_back(printable(&String::from_utf8_lossy(line)));
        } else {
            state.dropped += 1;
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, LineState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
