//! Remembers what was shown without an answer waiting for the disk.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

use aurora_project::Searcher;

/// How long what was shown is collected, to be written at once.
const COLLECTED: Duration = Duration::from_millis(200);
/// Most keys that wait. What is shown beyond them is not counted: the disk cannot follow.
const MOST: usize = 1 << 16;

/// Writes into the access history on a thread of its own, which the first record starts. Dropped, it writes what waits.
#[derive(Default)]
pub(crate) struct Recorder {
    shared: Arc<Shared>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

#[derive(Default)]
struct Shared {
    waiting: Mutex<Waiting>,
    changed: Condvar,
}

#[derive(Default)]
struct Waiting {
    /// Keys of chunks, each with the time at which it was shown, in Unix seconds.
    shown: Vec<(String, i64)>,
    /// What has shown the last of them.
    searcher: Option<Arc<Searcher>>,
    is_closing: bool,
}

impl Recorder {
    /// Remembers chunks that `searcher` has shown at `now`.
    pub(crate) fn record<'k>(&self, searcher: Arc<Searcher>, keys: impl Iterator<Item = &'k str>, now: i64) {
        let mut waiting = self.shared.waiting();
        let room = MOST.saturating_sub(waiting.shown.len());
        waiting.shown.extend(keys.take(room).map(|key| (key.to_owned(), now)));
        waiting.searcher = Some(searcher);
        drop(waiting);
        self.shared.changed.notify_one();
        let mut thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner);
        if thread.is_none() {
            let shared = Arc::clone(&self.shared);
            *thread = Builder::new().name("aurora-record".to_owned()).spawn(move || shared.write_all()).ok();
        }
    }
}

impl Drop for Recorder {
    fn drop(&mut self) {
        self.shared.waiting().is_closing = true;
        self.shared.changed.notify_one();
        if let Some(thread) = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take() {
            // A panic in it has been reported already.
            let _ = thread.join();
        }
    }
}

impl Shared {
    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes what waits until nothing does and the recorder is closing.
    fn write_all(&self) {
        loop {
            let idle = |waiting: &mut Waiting| waiting.shown.is_empty() && !waiting.is_closing;
            let waiting = self.changed.wait_while(self.waiting(), idle).unwrap_or_else(PoisonError::into_inner);
            let open = |waiting: &mut Waiting| !waiting.is_closing;
            let collected = self.changed.wait_timeout_while(waiting, COLLECTED, open);
            let (mut waiting, _) = collected.unwrap_or_else(PoisonError::into_inner);
            let shown = std::mem::take(&mut waiting.shown);
            let (searcher, is_closing) = (waiting.searcher.take(), waiting.is_closing);
            drop(waiting);
            if let Some(log) = searcher.as_ref().and_then(|searcher| searcher.access().ok()) {
                let shown: Vec<(&str, i64)> = shown.iter().map(|(key, time)| (key.as_str(), *time)).collect();
                if let Err(error) = log.record(&shown) {
                    tracing::debug!("what was shown is not recorded: {error}");
                }
            }
            if is_closing {
                return;
            }
        }
    }
}
