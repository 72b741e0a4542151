//! Log lines of stages that have not been passed to the observer yet.

use std::sync::{Mutex, PoisonError};

use crate::progress::Observer;

/// Maximum number of lines that can wait for the observer, which is called several times a second. Additional lines are
/// counted and dropped.
const MAX_WAITING_LINES: usize = 10_000;

/// Collects lines from all threads for the one thread that calls the observer.
#[derive(Default)]
pub(crate) struct StageLog {
    waiting: Mutex<Waiting>,
}

#[derive(Default)]
struct Waiting {
    /// Pairs of a stage name and a line.
    lines: Vec<(String, String)>,
    dropped: u64,
}

impl StageLog {
    pub(crate) fn push(&self, stage: &str, line: &str) {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        if waiting.lines.len() < MAX_WAITING_LINES {
            waiting.lines.push((stage.to_owned(), line.to_owned()));
        } else {
            waiting.dropped += 1;
        }
    }

    /// Passes the collected lines to the observer.
    pub(crate) fn deliver(&self, observer: &dyn Observer) {
        let Waiting { lines, dropped } =
            std::mem::take(&mut *self.waiting.lock().unwrap_or_else(PoisonError::into_inner));
        for (stage, line) in &lines {
            observer.on_log(stage, line);
        }
        if let (Some((stage, _)), 1..) = (lines.last(), dropped) {
            observer.on_log(stage, &format!("({dropped} further lines of all stages were dropped)"));
        }
    }
}
