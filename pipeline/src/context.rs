//! What a stage may tell and ask while it runs.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Instant;

use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::budget::Budget;
use crate::progress::StageMeter;
use crate::report::{RunError, Tallies};
use crate::stage::Fingerprint;

/// A switch that asks a run to stop; clones share it. What is in flight is still brought to its end, unless a stage gives
/// it up.
#[derive(Clone, Debug, Default)]
pub struct CancelToken {
    asked: Arc<AtomicBool>,
}

impl CancelToken {
    /// A switch which is off.
    pub fn new() -> Self {
        Self::default()
    }

    /// Asks the run to stop.
    pub fn cancel(&self) {
        self.asked.store(true, Ordering::Relaxed);
    }

    /// Whether the run was asked to stop.
    pub fn is_cancelled(&self) -> bool {
        self.asked.load(Ordering::Relaxed)
    }

    /// The switch itself, for code that knows nothing of runs: `true` once it was asked to stop.
    pub fn flag(&self) -> &AtomicBool {
        &self.asked
    }
}

/// What all stages of one run share.
pub(crate) struct RunState {
    pub(crate) cancel: CancelToken,
    pub(crate) jobs: usize,
    pub(crate) batch_files: usize,
    pub(crate) budget: Budget,
    pub(crate) fingerprints: Vec<Fingerprint>,
    pub(crate) meters: Vec<StageMeter>,
    pub(crate) tallies: Mutex<Tallies>,
    pub(crate) started: Instant,
    pub(crate) next_sequence: AtomicU64,
    pub(crate) files_total: OnceLock<u64>,
    pub(crate) files_done: AtomicU64,
    pub(crate) chunks_done: AtomicU64,
    pub(crate) failed: AtomicBool,
    pub(crate) error: Mutex<Option<RunError>>,
    pool: OnceLock<Option<ThreadPool>>,
}

impl RunState {
    pub(crate) fn new(cancel: CancelToken, jobs: usize, batch_files: usize, memory: u64) -> Self {
        Self {
            cancel,
            jobs,
            batch_files,
            budget: Budget::new(memory),
            fingerprints: Vec::new(),
            meters: Vec::new(),
            tallies: Mutex::default(),
            started: Instant::now(),
            next_sequence: AtomicU64::new(0),
            files_total: OnceLock::new(),
            files_done: AtomicU64::new(0),
            chunks_done: AtomicU64::new(0),
            failed: AtomicBool::new(false),
            error: Mutex::new(None),
            pool: OnceLock::new(),
        }
    }

    /// Ends the run; the first error is the one that is reported.
    pub(crate) fn fail(&self, error: RunError) {
        self.error.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
        self.failed.store(true, Ordering::Release);
    }

    pub(crate) fn has_failed(&self) -> bool {
        self.failed.load(Ordering::Acquire)
    }

    /// Whether the source should stop.
    pub(crate) fn stopping(&self) -> bool {
        self.has_failed() || self.cancel.is_cancelled()
    }
}

/// A stage's line to the run: reports, counters, progress, cancellation, threads.
pub struct StageContext<'a> {
    pub(crate) stage: &'a str,
    pub(crate) run: &'a RunState,
}

impl StageContext<'_> {
    /// The stage's name in the pipeline.
    pub fn stage(&self) -> &str {
        self.stage
    }

    /// Reports a file which was left out, and why. The reason is a fixed phrase; files are counted by it, and the
    /// first few paths of each are kept.
    pub fn skip(&self, path: &str, reason: &str) {
        self.tell(|tallies| tallies.skipped.add(reason, path));
    }

    /// Reports something that went less well than it should have.
    pub fn warn(&self, path: &str, reason: &str) {
        self.tell(|tallies| tallies.warnings.add(reason, path));
    }

    /// Reports a file which could not be worked on; the run goes on.
    pub fn error(&self, path: &str, reason: &str) {
        self.tell(|tallies| tallies.errors.add(reason, path));
    }

    /// Adds to a counter of the run report.
    pub fn count(&self, name: &str, n: u64) {
        self.tell(|tallies| match tallies.counters.get_mut(name) {
            Some(counter) => *counter += n,
            None => drop(tallies.counters.insert(name.to_owned(), n)),
        });
    }

    /// Whether the run is to stop, by request or because a stage failed. A source then stops emitting; a transform
    /// finishes its batch or gives it up with [`StageError::Stopped`](crate::StageError::Stopped), and the run ends as
    /// if the batch had never been emitted; a sink finishes what it was given.
    pub fn cancelled(&self) -> bool {
        self.run.stopping()
    }

    /// Says how many files the run will see. The first figure holds.
    pub fn set_total_files(&self, n: u64) {
        self.run.files_total.get_or_init(|| n);
    }

    /// Counts files which are done without having travelled in a batch. Files in batches are counted by the
    /// executor, when their batch is through or they are dropped from it.
    pub fn files_done(&self, n: u64) {
        self.run.files_done.fetch_add(n, Ordering::Relaxed);
    }

    /// The number of threads which the run was given.
    pub fn jobs(&self) -> usize {
        self.run.jobs
    }

    /// The number of files which a source should put in a batch.
    pub fn batch_files(&self) -> usize {
        self.run.batch_files
    }

    /// The fingerprints of all stages, in the order of the plan.
    pub fn fingerprints(&self) -> &[Fingerprint] {
        &self.run.fingerprints
    }

    /// Runs `work` where rayon's parallel iterators use the run's own pool of [`StageContext::jobs`] threads.
    pub fn install<R: Send>(&self, work: impl FnOnce() -> R + Send) -> R {
        let pool = self.run.pool.get_or_init(|| {
            ThreadPoolBuilder::new()
                .num_threads(self.run.jobs)
                .thread_name(|index| format!("aurora-rayon-{index}"))
                .build()
                .ok()
        });
        match pool {
            Some(pool) => pool.install(work),
            None => work(),
        }
    }

    fn tell(&self, record: impl FnOnce(&mut Tallies)) {
        record(&mut self.run.tallies.lock().unwrap_or_else(PoisonError::into_inner));
    }
}
