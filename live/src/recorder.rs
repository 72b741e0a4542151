//! Records shown chunks in the background, so that no answer waits for the disk.

use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};

use aurora_query::Searcher;

/// Time for which the recorder collects shown chunks before it writes them in one batch.
const COLLECT_TIME: Duration = Duration::from_millis(200);
/// Maximum number of answers in the queue. If the disk cannot keep up and the queue is full, new answers are dropped.
const MAX_QUEUED_ANSWERS: usize = 1 << 10;

/// Writes the access history on a background thread, which the first call of [`Self::record`] starts. Dropping the
/// recorder writes the queued keys.
#[derive(Default)]
pub(crate) struct Recorder(Mutex<Option<Worker>>);

struct Worker {
    queue: SyncSender<Shown>,
    thread: JoinHandle<()>,
}

/// The chunks of an answer.
struct Shown {
    keys: Vec<String>,
    /// The time of the answer, in Unix seconds.
    time: i64,
    searcher: Arc<Searcher>,
}

impl Recorder {
    /// Queues chunks that `searcher` has shown at `now`.
    pub(crate) fn record<'k>(&self, searcher: &Arc<Searcher>, keys: impl Iterator<Item = &'k str>, now: i64) {
        let mut worker = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if worker.is_none() {
            let (queue, shown) = sync_channel(MAX_QUEUED_ANSWERS);
            let thread = Builder::new().name("aurora-record".to_owned()).spawn(move || write_all(&shown));
            *worker = thread.ok().map(|thread| Worker { queue, thread });
        }
        if let Some(worker) = &*worker {
            let shown = Shown { keys: keys.map(str::to_owned).collect(), time: now, searcher: Arc::clone(searcher) };
            // A full queue drops the answer.
            let _ = worker.queue.try_send(shown);
        }
    }
}

impl Drop for Recorder {
    fn drop(&mut self) {
        if let Some(Worker { queue, thread }) = self.0.get_mut().unwrap_or_else(PoisonError::into_inner).take() {
            drop(queue);
            // A panic of the thread has already been reported.
            let _ = thread.join();
        }
    }
}

/// Writes queued keys until the recorder is dropped and the queue is empty.
fn write_all(queue: &Receiver<Shown>) {
    while let Ok(first) = queue.recv() {
        let end = Instant::now() + COLLECT_TIME;
        let mut shown = vec![first];
        while shown.len() < MAX_QUEUED_ANSWERS
            && let Ok(next) = queue.recv_timeout(end.saturating_duration_since(Instant::now()))
        {
            shown.push(next);
        }
        let keys: Vec<(&str, i64)> =
            shown.iter().flat_map(|answer| answer.keys.iter().map(|key| (key.as_str(), answer.time))).collect();
        if let Some(log) = shown.last().and_then(|last| last.searcher.access().ok())
            && let Err(error) = log.record(&keys)
        {
            tracing::debug!("shown chunks were not recorded: {error}");
        }
    }
}
