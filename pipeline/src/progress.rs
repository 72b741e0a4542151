//! The progress of a run as an observer receives it, and the counters from which it is computed.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::report::StageReport;

/// Receives the progress of a run. The methods are never called on a worker thread.
pub trait Observer: Sync {
    /// Called with the state of the run at every [`Observer::interval`], and once at the end of the run.
    fn on_progress(&self, progress: &Progress);

    /// Called for each line that a stage has logged.
    fn on_log(&self, stage: &str, line: &str) {
        let _ = (stage, line);
    }

    /// Time between two calls; `None` for a single call at the end of the run.
    fn interval(&self) -> Option<Duration> {
        Some(Duration::from_millis(100))
    }
}

/// An observer that ignores everything.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silent;

impl Observer for Silent {
    fn on_progress(&self, _: &Progress) {}

    fn interval(&self) -> Option<Duration> {
        None
    }
}

/// The state of a run at one moment.
#[derive(Clone, Debug)]
pub struct Progress {
    /// Number of files of the run; `None` until the source has determined it.
    pub files_total: Option<u64>,
    /// Number of files that have reached the end of the pipeline or were dropped.
    pub files_done: u64,
    /// Number of chunks that have reached the end of the pipeline.
    pub chunks: u64,
    /// Memory used by batches in flight, in bytes.
    pub bytes: u64,
    /// The stages in the order of the plan.
    pub stages: Vec<StageLoad>,
    /// Time since the run began.
    pub elapsed: Duration,
}

/// The load of one stage at one moment.
#[derive(Clone, Debug)]
pub struct StageLoad {
    /// Name of the stage.
    pub name: String,
    /// Number of workers of the stage.
    pub workers: usize,
    /// Number of workers that are processing a batch.
    pub busy: usize,
    /// Number of batches in the queue of the stage.
    pub queued: usize,
    /// Number of batches that the stage has processed.
    pub batches: u64,
}

/// Counters of one stage, updated by its workers.
#[derive(Default)]
pub(crate) struct StageMeter {
    pub(crate) workers: usize,
    pub(crate) single_worker: bool,
    pub(crate) batches: AtomicU64,
    pub(crate) files_in: AtomicU64,
    pub(crate) files_out: AtomicU64,
    pub(crate) chunks_out: AtomicU64,
    pub(crate) at_work: AtomicUsize,
    pub(crate) queued: AtomicUsize,
    pub(crate) busy: Stopwatch,
    pub(crate) cpu: Stopwatch,
    pub(crate) starved: Stopwatch,
    pub(crate) blocked: Stopwatch,
    pub(crate) memory_wait: Stopwatch,
    /// Start of the first piece of work and end of the last one.
    pub(crate) active: Mutex<Option<(Instant, Instant)>>,
}

impl StageMeter {
    /// Counts one batch.
    pub(crate) fn count(&self, files_in: usize, files_out: usize, chunks_out: usize) {
        self.batches.fetch_add(1, Ordering::Relaxed);
        self.files_in.fetch_add(files_in as u64, Ordering::Relaxed);
        self.files_out.fetch_add(files_out as u64, Ordering::Relaxed);
        self.chunks_out.fetch_add(chunks_out as u64, Ordering::Relaxed);
    }

    /// Creates the stage's entry in the report of a run that started at `started` and took `elapsed`.
    pub(crate) fn report(&self, name: &str, started: Instant, elapsed: Duration) -> StageReport {
        let busy = self.busy.total();
        let active = *self.active.lock().unwrap_or_else(PoisonError::into_inner);
        let since_start = |time: Instant| time.saturating_duration_since(started);
        let available = elapsed.as_secs_f64() * self.workers as f64;
        StageReport {
            name: name.to_owned(),
            workers: self.workers,
            single_worker: self.single_worker,
            batches: self.batches.load(Ordering::Relaxed),
            files_in: self.files_in.load(Ordering::Relaxed),
            files_out: self.files_out.load(Ordering::Relaxed),
            chunks_out: self.chunks_out.load(Ordering::Relaxed),
            first: active.map_or(Duration::ZERO, |(first, _)| since_start(first)),
            last: active.map_or(Duration::ZERO, |(_, last)| since_start(last)),
            busy,
            cpu: self.cpu.total(),
            input_empty: self.starved.total(),
            output_full: self.blocked.total(),
            memory_wait: self.memory_wait.total(),
            utilisation: if available > 0.0 { (busy.as_secs_f64() / available).min(1.0) } else { 0.0 },
        }
    }

    /// Runs one piece of work and measures its time.
    pub(crate) fn at_work<R>(&self, work: impl FnOnce() -> R) -> R {
        self.at_work.fetch_add(1, Ordering::Relaxed);
        let since = Instant::now();
        let result = work();
        self.busy.add(since.elapsed());
        self.was_active(since);
        self.at_work.fetch_sub(1, Ordering::Relaxed);
        result
    }

    /// Records that the stage was active from `since` until now.
    pub(crate) fn was_active(&self, since: Instant) {
        let mut active = self.active.lock().unwrap_or_else(PoisonError::into_inner);
        let first = active.map_or(since, |(first, _)| first.min(since));
        *active = Some((first, Instant::now()));
    }
}

/// A sum of durations that several threads can add to.
#[derive(Default)]
pub(crate) struct Stopwatch {
    nanos: AtomicU64,
}

impl Stopwatch {
    pub(crate) fn add(&self, time: Duration) {
        self.nanos.fetch_add(u64::try_from(time.as_nanos()).unwrap_or(u64::MAX), Ordering::Relaxed);
    }

    pub(crate) fn total(&self) -> Duration {
        Duration::from_nanos(self.nanos.load(Ordering::Relaxed))
    }
}
