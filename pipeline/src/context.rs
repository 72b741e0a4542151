//! The context of a running stage: reports, counters, progress, cancellation and threads.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Instant;

use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::budget::MemoryBudget;
use crate::fingerprint::Fingerprint;
use crate::probe::{Probe, StageEvent};
use crate::progress::StageMeter;
use crate::report::{RunError, RunReport};
use crate::stage_log::StageLog;

/// Maximum number of different counters in a run.
const MAX_COUNTERS: usize = 10_000;
/// Maximum number of failures without a row that a run records. If there are more, the first ones in alphabetical order
/// are recorded.
const MAX_FAILED_PLACES: usize = 1_000;

/// A flag that asks a run to stop. Clones share the flag. Batches in flight are still processed, unless a stage drops
/// them.
#[derive(Clone, Debug, Default)]
pub struct CancelToken {
    cancelled: Arc<AtomicBool>,
}

impl CancelToken {
    /// Creates a token that is not cancelled.
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

    /// The flag as an atomic, for code that does not depend on this crate. It is `true` after cancellation.
    pub fn flag(&self) -> &AtomicBool {
        &self.cancelled
    }
}

/// State shared by all workers of a run.
pub(crate) struct RunState {
    pub(crate) cancel: CancelToken,
    pub(crate) jobs: usize,
    pub(crate) batch_files: usize,
    pub(crate) budget: MemoryBudget,
    pub(crate) fingerprints: Vec<Fingerprint>,
    pub(crate) meters: Vec<StageMeter>,
    /// The fields of the report to which stages add. The other fields are set at the end of the run.
    pub(crate) report: Mutex<RunReport>,
    pub(crate) started: Instant,
    pub(crate) next_sequence: AtomicU64,
    pub(crate) files_total: OnceLock<u64>,
    pub(crate) files_done: AtomicU64,
    pub(crate) chunks_done: AtomicU64,
    pub(crate) failed: AtomicBool,
    pub(crate) error: Mutex<Option<RunError>>,
    /// Names of the stages whose stored output from the last run may be reused.
    pub(crate) current: BTreeSet<String>,
    /// Text that each stage saved in the last run, by stage name.
    pub(crate) kept: BTreeMap<String, String>,
    pub(crate) log: StageLog,
    pub(crate) probe: Option<Arc<dyn Probe>>,
    pub(crate) pool: OnceLock<Option<ThreadPool>>,
}

impl RunState {
    /// Records a fatal error, which ends the run. If several errors occur, the run reports the first.
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

/// A stage's interface to its run: reports, saved state, and information about the run.
pub struct StageContext<'a> {
    pub(crate) stage: &'a str,
    pub(crate) run: &'a RunState,
}

impl StageContext<'_> {
    /// The stage's name in the pipeline.
    pub fn stage(&self) -> &str {
        self.stage
    }

    /// Reports that a file is not indexed. The run report counts files by reason and lists the first few paths of each
    /// reason, so the reason should be a fixed phrase.
    pub fn skip(&self, path: &str, reason: &str) {
        self.tell(StageEvent::Skipped { path, reason });
        self.record(|report| report.skipped.add(reason, path));
    }

    /// Reports a problem with a file. The file is still processed.
    pub fn warn(&self, path: &str, reason: &str) {
        self.tell(StageEvent::Warning { path, reason });
        self.record(|report| report.warnings.add(reason, path));
    }

    /// Reports a file that could not be processed. The run continues.
    pub fn error(&self, path: &str, reason: &str) {
        self.tell(StageEvent::Error { path, reason });
        self.record(|report| report.errors.add(reason, path));
    }

    /// Reports a failure that does not concern a row of a batch, such as a failed listing of documents. If a row could
    /// not be processed, call [`BatchView::fail`](crate::BatchView::fail) instead, so that a later run processes the
    /// row again.
    pub fn failed(&self, path: &str, reason: &str) {
        self.report_failure(path, reason);
        self.record(|report| {
            let place = (self.stage.to_owned(), path.to_owned(), reason.to_owned());
            report.failed_places.insert(place);
            if report.failed_places.len() > MAX_FAILED_PLACES {
                report.failed_places.pop_last();
            }
        });
    }

    /// Counts a failure in the run report.
    pub(crate) fn report_failure(&self, path: &str, reason: &str) {
        self.tell(StageEvent::Failed { path, reason });
        self.record(|report| report.failures.entry(self.stage.to_owned()).or_default().add(reason, path));
    }

    /// Passes a line of the stage's log to the observer of the run.
    pub fn log(&self, line: &str) {
        self.run.log.push(self.stage, line);
    }

    /// Whether the stored output of this stage can be reused, because this run would compute the same output from the
    /// same input. The caller of the run lists such stages in [`RunOptions::current`](crate::RunOptions::current).
    pub fn is_current(&self) -> bool {
        self.run.current.contains(self.stage)
    }

    /// The text that the stage saved in the last run with [`StageContext::keep`].
    pub fn kept(&self) -> Option<&str> {
        self.run.kept.get(self.stage).map(String::as_str)
    }

    /// Saves a text for the next run. The next run receives the text only if everything that this run stores still
    /// exists.
    pub fn keep(&self, text: &str) {
        self.record(|report| drop(report.kept.insert(self.stage.to_owned(), text.to_owned())));
    }

    /// Adds `n` to a counter of the run report.
    pub fn count(&self, name: &str, n: u64) {
        self.tell(StageEvent::Counted { name, n });
        self.record(|report| {
            // The number of counters is limited, because a custom stage may derive counter names from its data.
            let has_room = report.counters.len() < MAX_COUNTERS;
            if let Some(counter) = report.counters.get_mut(name) {
                *counter += n;
            } else if has_room {
                report.counters.insert(name.to_owned(), n);
            }
        });
    }

    /// Whether the run is stopping because it was cancelled or a stage failed. The source should then stop emitting
    /// batches. A transform finishes its batch, or drops it by returning
    /// [`StageError::Stopped`](crate::StageError::Stopped); the run then ends as if that batch had never been emitted.
    /// A sink finishes its batches.
    pub fn cancelled(&self) -> bool {
        self.run.stopping()
    }

    /// Sets the total number of files of the run. Only the first call has an effect.
    pub fn set_total_files(&self, n: u64) {
        self.run.files_total.get_or_init(|| n);
    }

    /// Counts finished files that were never in a batch. The executor counts the files of a batch itself, either at the
    /// end of the pipeline or when a stage drops them from the batch.
    pub fn files_done(&self, n: u64) {
        self.run.files_done.fetch_add(n, Ordering::Relaxed);
    }

    /// The number of threads of the run.
    pub fn jobs(&self) -> usize {
        self.run.jobs
    }

    /// The number of workers of the stage that has the most.
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

    /// Runs `work` in the run's rayon thread pool, which has [`StageContext::jobs`] threads.
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

    fn record(&self, change: impl FnOnce(&mut RunReport)) {
        change(&mut self.run.report.lock().unwrap_or_else(PoisonError::into_inner));
    }
}
