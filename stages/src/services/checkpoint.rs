//! Ending a pass over the tree early, so that what it has finished is published.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Decides when the source stops emitting files. Everything that was emitted is processed and published.
#[derive(Debug, Default)]
pub(crate) struct Checkpoint {
    /// Minimum time that the pass works on changed files; without one it goes on to its end.
    interval: OnceLock<Duration>,
    /// When the first changed file was found. A pass that ended before that would be repeated without end.
    progress: OnceLock<Instant>,
    /// Bytes that the source had emitted by then.
    emitted_before: OnceLock<u64>,
    is_reached: AtomicBool,
}

impl Checkpoint {
    /// Lets the pass end after it has worked for this time, unless less than that is left to do.
    pub(crate) fn set(&self, interval: Duration) {
        self.interval.get_or_init(|| interval);
    }

    /// Records that a file goes on to later stages.
    pub(crate) fn note_progress(&self) {
        self.progress.get_or_init(Instant::now);
    }

    /// When the first changed file was found.
    pub(crate) fn first_progress(&self) -> Option<Instant> {
        self.progress.get().copied()
    }

    /// Whether the source has to stop, given the bytes that it has emitted and those that are left.
    pub(crate) fn is_due(&self, emitted: u64, left: u64) -> bool {
        let (Some(&interval), Some(progress)) = (self.interval.get(), self.first_progress()) else { return false };
        let emitted_before = *self.emitted_before.get_or_init(|| emitted);
        let (worked, done) = (progress.elapsed(), emitted.saturating_sub(emitted_before).max(1));
        let is_due = worked >= interval && worked.as_secs_f64() * left as f64 / done as f64 >= interval.as_secs_f64();
        self.is_reached.fetch_or(is_due, Ordering::Relaxed);
        is_due
    }

    /// Whether the source has stopped before it had emitted everything.
    pub(crate) fn is_reached(&self) -> bool {
        self.is_reached.load(Ordering::Relaxed)
    }
}
