//! Records shown chunks in the background, so that no answer waits for the disk.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

use aurora_query::Searcher;

/// Time for which the recorder collects shown chunks before it writes them in one batch.
const COLLECT_TIME: Duration = Duration::from_millis(200);
/// Maximum number of keys in the queue. If the disk cannot keep up and the queue is full, new keys are dropped.
const MAX_QUEUED_KEYS: usize = 1 << 16;

/// Writes the access history on a background thread, which the first call of [`Self::record`] starts. Dropping the
/// recorder writes the queued keys.
#[derive(Default)]
pub(crate) struct Recorder {
    shared: Arc<Shared>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

#[derive(Default)]
struct Shared {
    queue: Mutex<Queue>,
    changed: Condvar,
}

#[derive(Default)]
struct Queue {
    /// Keys of chunks, each with the time at which it was shown, in Unix seconds.
    shown: Vec<(String, i64)>,
    /// The searcher that showed the last of these chunks.
    searcher: Option<Arc<Searcher>>,
    is_closing: bool,
}

impl Recorder {
    /// Queues chunks that `searcher` has shown at `now`.
    pub(crate) fn record<'k>(&self, searcher: Arc<Searcher>, keys: impl Iterator<Item = &'k str>, now: i64) {
        let mut queue = self.shared.queue();
        let room = MAX_QUEUED_KEYS.saturating_sub(queue.shown.len());
        queue.shown.extend(keys.take(room).map(|key| (key.to_owned(), now)));
        queue.searcher = Some(searcher);
        drop(queue);
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
        self.shared.queue().is_closing = true;
        self.shared.changed.notify_one();
        if let Some(thread) = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take() {
            // A panic of the thread has already been reported.
            let _ = thread.join();
        }
    }
}

impl Shared {
    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes queued keys until the queue is empty and the recorder is closing.
    fn write_all(&self) {
        loop {
            let idle = |queue: &mut Queue| queue.shown.is_empty() && !queue.is_closing;
            let queue = self.changed.wait_while(self.queue(), idle).unwrap_or_else(PoisonError::into_inner);
            let open = |queue: &mut Queue| !queue.is_closing;
            let collected = self.changed.wait_timeout_while(queue, COLLECT_TIME, open);
            let (mut queue, _) = collected.unwrap_or_else(PoisonError::into_inner);
            let shown = std::mem::take(&mut queue.shown);
            let (searcher, is_closing) = (queue.searcher.take(), queue.is_closing);
            drop(queue);
            if let Some(log) = searcher.as_ref().and_then(|searcher| searcher.access().ok()) {
                let shown: Vec<(&str, i64)> = shown.iter().map(|(key, time)| (key.as_str(), *time)).collect();
                if let Err(error) = log.record(&shown) {
                    tracing::debug!("shown chunks were not recorded: {error}");
                }
            }
            if is_closing {
                return;
            }
        }
    }
}
