//! The context of a running stage: reports, counters, progress, cancellation, threads.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Instant;

use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::budget::MemoryBudget;
use crate::fingerprint::Fingerprint;
use crate::probe::{Probe, StageEvent};
use crate::progress::StageMeter;
use crate::report::{RunError, RunTallies};
use crate::stage_log::StageLog;

/// Maximum number of counters in a run.
const MAX_COUNTERS: usize = 10_000;
/// Maximum number of failures without a row that a run keeps: the first ones in alphabetical order.
const MAX_FAILED_PLACES: usize = 1_000;

/// Asks a run to stop; clones share the flag. Batches in flight are still processed, unless a stage drops them.
#[derive(Clone, Debug, Default)]
pub struct CancelToken {
    cancelled: Arc<AtomicBool>,
}

impl CancelToken {
    /// A token that is not cancelled.
    pub fn new() -> Self {
        Self::default()
    }

    /// Asks the run to stop.
    pub fn cancel(&self) {
        self.cancelled.store(true, Ordering::Relaxed);
    }

    /// Whether the run was asked to stop.
    pub fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Relaxed)
    }

    /// The flag itself, for code that does not depend on this crate: `true` after cancellation.
    pub fn flag(&self) -> &AtomicBool {
        &self.cancelled
    }
}

/// State that all workers of one run share.
pub(crate) struct RunState {
    pub(crate) cancel: CancelToken,
    pub(crate) jobs: usize,
    pub(crate) batch_files: usize,
    pub(crate) budget: MemoryBudget,
    pub(crate) fingerprints: Vec<Fingerprint>,
    pub(crate) meters: Vec<StageMeter>,
    pub(crate) tallies: Mutex<RunTallies>,
    pub(crate) started: Instant,
    pub(crate) next_sequence: AtomicU64,
    pub(crate) files_total: OnceLock<u64>,
    pub(crate) files_done: AtomicU64,
    pub(crate) chunks_done: AtomicU64,
    pub(crate) failed: AtomicBool,
    pub(crate) error: Mutex<Option<RunError>>,
    /// Names of the stages whose stored output was made with the configuration of this run.
    pub(crate) current: BTreeSet<String>,
    /// State that stages kept in the last run, by stage name.
    pub(crate) kept: BTreeMap<String, String>,
    pub(crate) log: StageLog,
    pub(crate) probe: Option<Arc<dyn Probe>>,
    pool: OnceLock<Option<ThreadPool>>,
}

impl RunState {
    pub(crate) fn new(cancel: CancelToken, jobs: usize, batch_files: usize, memory: u64) -> Self {
        Self {
            cancel,
            jobs,
            batch_files,
            budget: MemoryBudget::new(memory),
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
            current: BTreeSet::new(),
            kept: BTreeMap::new(),
            log: StageLog::default(),
            probe: None,
            pool: OnceLock::new(),
        }
    }

    /// Ends the run. The run reports the first error.
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

/// The interface of a stage to its run: reports, state, and information about the run.
pub struct StageContext<'a> {
    pub(crate) stage: &'a str,
    pub(crate) run: &'a RunState,
}

impl StageContext<'_> {
    /// The stage's name in the pipeline.
    pub fn stage(&self) -> &str {
        self.stage
    }

    /// Reports a file that is not indexed, with the reason. Files are counted by reason, which should be a fixed
    /// phrase, and the first few paths of each reason are kept.
    pub fn skip(&self, path: &str, reason: &str) {
        self.tell(StageEvent::Skipped { path, reason });
        self.record(|tallies| tallies.skipped.add(reason, path));
    }

    /// Reports a problem with a file that is still processed.
    pub fn warn(&self, path: &str, reason: &str) {
        self.tell(StageEvent::Warning { path, reason });
        self.record(|tallies| tallies.warnings.add(reason, path));
    }

    /// Reports a file that could not be processed. The run continues.
    pub fn error(&self, path: &str, reason: &str) {
        self.tell(StageEvent::Error { path, reason });
        self.record(|tallies| tallies.errors.add(reason, path));
    }

    /// Reports a failure that does not concern a row of a batch, such as a failed listing of documents. Report a row
    /// that could not be processed with [`BatchView::fail`](crate::BatchView::fail), so that a later run tries it
    /// again.
    pub fn failed(&self, path: &str, reason: &str) {
        self.report_failure(path, reason);
        self.record(|tallies| {
            let place = (self.stage.to_owned(), path.to_owned(), reason.to_owned());
            tallies.failed_places.insert(place);
            if tallies.failed_places.len() > MAX_FAILED_PLACES {
                tallies.failed_places.pop_last();
            }
        });
    }

    /// Counts a failure in the report of the run.
    pub(crate) fn report_failure(&self, path: &str, reason: &str) {
        self.tell(StageEvent::Failed { path, reason });
        self.record(|tallies| tallies.failures.entry(self.stage.to_owned()).or_default().add(reason, path));
    }

    /// Passes a line of the stage's own log to the observer of the run.
    pub fn log(&self, line: &str) {
        self.run.log.push(self.stage, line);
    }

    /// Whether the stored output of this stage can be used again: this run would make the same output from the same
    /// input. The program decides this, see [`RunOptions::current`](crate::RunOptions::current).
    pub fn is_current(&self) -> bool {
        self.run.current.contains(self.stage)
    }

    /// The text that the stage kept in the last run, see [`StageContext::keep`].
    pub fn kept(&self) -> Option<&str> {
        self.run.kept.get(self.stage).map(String::as_str)
    }

    /// Keeps a text for the next run. The next run gets the text only if everything that this run stores is still
    /// there.
    pub fn keep(&self, text: &str) {
        self.record(|tallies| drop(tallies.kept.insert(self.stage.to_owned(), text.to_owned())));
    }

    /// Adds to a counter of the run report.
    pub fn count(&self, name: &str, n: u64) {
        self.tell(StageEvent::Counted { name, n });
        self.record(|tallies| {
            // A custom stage may derive the names of its counters from its data.
            let has_room = tallies.counters.len() < MAX_COUNTERS;
            if let Some(counter) = tallies.counters.get_mut(name) {
                *counter += n;
            } else if has_room {
                tallies.counters.insert(name.to_owned(), n);
            }
        });
    }

    /// Whether the run is stopping, because it was cancelled or a stage failed. A source then stops emitting. A transform
    /// finishes its batch, or drops it with [`StageError::Stopped`](crate::StageError::Stopped): the run ends as if that
    /// batch had never been emitted. A sink finishes its batches.
    pub fn cancelled(&self) -> bool {
        self.run.stopping()
    }

    /// Sets the total number of files of the run. Later calls have no effect.
    pub fn set_total_files(&self, n: u64) {
        self.run.files_total.get_or_init(|| n);
    }

    /// Counts files that are done but were never in a batch. The executor counts the files of a batch when the batch
    /// reaches the end of the pipeline, or when a stage drops the files from the batch.
    pub fn files_done(&self, n: u64) {
        self.run.files_done.fetch_add(n, Ordering::Relaxed);
    }

    /// The number of threads of the run.
    pub fn jobs(&self) -> usize {
        self.run.jobs
    }

    /// The largest number of workers that any stage has.
    pub fn max_workers(&self) -> usize {
        self.run.meters.iter().map(|meter| meter.workers).max().unwrap_or(1)
    }

    /// The number of files that a source should put into a batch.
    pub fn batch_files(&self) -> usize {
        self.run.batch_files
    }

    /// The fingerprints of all stages, in the order of the plan.
    pub fn fingerprints(&self) -> &[Fingerprint] {
        &self.run.fingerprints
    }

    /// Runs `work` in the rayon pool of the run, which has [`StageContext::jobs`] threads.
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

    fn tell(&self, event: StageEvent<'_>) {
        self.run.probe.iter().for_each(|probe| probe.on_event(self.stage, event));
    }

    fn record(&self, change: impl FnOnce(&mut RunTallies)) {
        change(&mut self.run.tallies.lock().unwrap_or_else(PoisonError::into_inner));
    }
}
