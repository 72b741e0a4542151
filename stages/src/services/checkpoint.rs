//! Ends a pass over the tree early, so that its finished work is published.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Maximum time that the batches in flight may take, as a share of the interval. After the checkpoint, the pass
/// continues until these batches are processed.
const MAX_DRAIN_SHARE: f64 = 0.25;

/// Decides when the source stops emitting files. Files that were emitted before are still processed and published.
#[derive(Debug, Default)]
pub(crate) struct Checkpoint {
    /// Minimum time that the pass works on changed files. If the interval is not set, the pass processes all files.
    interval: OnceLock<Duration>,
    /// Time at which the first changed file was found. The pass must not end before this time, because a pass without
    /// progress would be repeated endlessly.
    progress: OnceLock<Instant>,
    /// Number of bytes that the pipeline had finished when progress was first measured.
    done_before: OnceLock<u64>,
    is_reached: AtomicBool,
}

impl Checkpoint {
    /// Allows the pass to end after working for `interval`, unless the remaining work takes less than `interval`.
    pub(crate) fn set(&self, interval: Duration) {
        self.interval.get_or_init(|| interval);
    }

    /// Records that the pass found a changed file. Only the first call has an effect.
    pub(crate) fn note_progress(&self) {
        self.progress.get_or_init(Instant::now);
    }

    /// Returns the time at which the first changed file was found.
    pub(crate) fn first_progress(&self) -> Option<Instant> {
        self.progress.get().copied()
    }

    /// Whether the source has to stop. `done` is the number of bytes that the pipeline has finished, and `left` is the
    /// number of bytes that the source has not emitted yet.
    pub(crate) fn is_due(&self, done: u64, left: u64) -> bool {
        let Some((interval, worked)) = self.worked() else { return false };
        // The first call of `time_for` records the starting point, so it must precede the comparison of times.
        let time_left = self.time_for(left, worked, done);
        let is_due = worked >= interval && time_left >= interval.as_secs_f64();
        self.is_reached.fetch_or(is_due, Ordering::Relaxed);
        is_due
    }

    /// Whether the source has to wait before it emits more files. `done` is the number of bytes that the pipeline has
    /// finished, and `in_flight` is the number of bytes in flight. Without this backpressure, the source could emit the
    /// whole tree before the first checkpoint, and a slow pipeline would publish nothing before its end.
    pub(crate) fn is_too_early(&self, done: u64, in_flight: u64) -> bool {
        self.worked().is_some_and(|(interval, worked)| {
            self.time_for(in_flight, worked, done) > interval.as_secs_f64() * MAX_DRAIN_SHARE
        })
    }

    /// Returns the interval and the time since the first changed file was found.
    fn worked(&self) -> Option<(Duration, Duration)> {
        Some((*self.interval.get()?, self.first_progress()?.elapsed()))
    }

    /// Estimates the number of seconds that processing `bytes` takes, from the rate of the pass so far.
    fn time_for(&self, bytes: u64, worked: Duration, done: u64) -> f64 {
        let done_before = *self.done_before.get_or_init(|| done);
        worked.as_secs_f64() * bytes as f64 / done.saturating_sub(done_before).max(1) as f64
    }

    /// Whether the source stopped at a checkpoint before it had emitted all files.
    pub(crate) fn is_reached(&self) -> bool {
        self.is_reached.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finished_bytes_and_not_emitted_bytes_end_a_pass() {
        let checkpoint = Checkpoint::default();
        checkpoint.set(Duration::from_millis(20));
        assert!(!checkpoint.is_due(0, 100) && !checkpoint.is_too_early(0, 100), "no changed file yet");
        checkpoint.note_progress();
        std::thread::sleep(Duration::from_millis(40));
        assert!(!checkpoint.is_due(10, 0), "nothing is left");
        assert!(!checkpoint.is_due(1_010, 1) && !checkpoint.is_reached(), "the rest takes less than the interval");
        assert!(!checkpoint.is_too_early(1_010, 1), "the work in flight takes a moment");
        assert!(checkpoint.is_too_early(1_010, 1_000), "the work in flight takes as long as all work before it");
        assert!(checkpoint.is_due(1_010, 1_000) && checkpoint.is_reached());
    }

    #[test]
    fn the_rate_is_measured_from_the_first_call() {
        let checkpoint = Checkpoint::default();
        checkpoint.set(Duration::from_millis(50));
        checkpoint.note_progress();
        let _ = checkpoint.is_due(0, 1_000);
        std::thread::sleep(Duration::from_millis(60));
        assert!(!checkpoint.is_due(1_000_000, 1), "nearly everything is done");
    }

    #[test]
    fn a_pass_without_an_interval_runs_to_its_end() {
        let checkpoint = Checkpoint::default();
        checkpoint.note_progress();
        assert!(!checkpoint.is_due(1, u64::MAX) && !checkpoint.is_too_early(1, u64::MAX) && !checkpoint.is_reached());
    }
}
