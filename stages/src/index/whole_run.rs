//! Monotonic progress for a run with several passes over the tree.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use aurora_pipeline::{Observer, Progress};

use super::options::IndexObserver;
use crate::git_signal::WalkProgress;

/// Reports the progress of several passes to an observer as a single run.
///
/// Each pass visits all files, but skips completed files quickly. The number of completed files is therefore the
/// maximum of all passes.
pub struct WholeRun<'o> {
    observer: &'o dyn IndexObserver,
    begun: Instant,
    reported: Mutex<Reported>,
}

/// The progress that was reported to the observer.
#[derive(Default)]
struct Reported {
    files_total: Option<u64>,
    files_done: u64,
    chunks: u64,
    /// Number of chunks that earlier passes reported.
    chunks_before: u64,
    commits_done: u64,
    commits_total: u64,
}

impl<'o> WholeRun<'o> {
    /// Starts the clock of the run.
    pub fn new(observer: &'o dyn IndexObserver) -> Self {
        Self { observer, begun: Instant::now(), reported: Mutex::default() }
    }

    /// Begins another pass. If `adds_chunks` is true, the chunks of the new pass are added to the chunks of earlier
    /// passes.
    pub fn next_pass(&self, adds_chunks: bool) {
        let mut reported = self.reported.lock().unwrap_or_else(PoisonError::into_inner);
        reported.chunks_before = if adds_chunks { reported.chunks } else { 0 };
    }
}

impl Observer for WholeRun<'_> {
    fn on_progress(&self, progress: &Progress) {
        let mut reported = self.reported.lock().unwrap_or_else(PoisonError::into_inner);
        // Keep the first total, so that a file that appears during the run does not lower the share of completed files.
        reported.files_total = reported.files_total.or(progress.files_total);
        let max_done = reported.files_total.unwrap_or(u64::MAX);
        reported.files_done = reported.files_done.max(progress.files_done).min(max_done);
        reported.chunks = reported.chunks.max(reported.chunks_before.saturating_add(progress.chunks));
        let run_progress = Progress {
            files_total: reported.files_total,
            files_done: reported.files_done,
            chunks: reported.chunks,
            elapsed: self.begun.elapsed(),
            ..progress.clone()
        };
        self.observer.run_observer().on_progress(&run_progress);
    }

    fn on_log(&self, stage: &str, line: &str) {
        self.observer.run_observer().on_log(stage, line);
    }

    fn interval(&self) -> Option<Duration> {
        self.observer.run_observer().interval()
    }
}

impl IndexObserver for WholeRun<'_> {
    fn on_history(&self, walk: WalkProgress) {
        let mut reported = self.reported.lock().unwrap_or_else(PoisonError::into_inner);
        reported.commits_total = reported.commits_total.max(walk.total);
        reported.commits_done = reported.commits_done.max(walk.done);
        self.observer.on_history(WalkProgress { done: reported.commits_done, total: reported.commits_total });
    }

    fn run_observer(&self) -> &dyn Observer {
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Default)]
    struct Seen(Mutex<Vec<(u64, Option<u64>, u64)>>);

    impl Observer for Seen {
        fn on_progress(&self, progress: &Progress) {
            let now = (progress.files_done, progress.files_total, progress.chunks);
            self.0.lock().expect("unpoisoned").push(now);
        }
    }

    impl IndexObserver for Seen {
        fn run_observer(&self) -> &dyn Observer {
            self
        }
    }

    #[test]
    fn progress_does_not_restart_in_the_second_pass() {
        let seen = Seen::default();
        let run = WholeRun::new(&seen);
        let report_progress = |files_total, files_done, chunks| {
            let (stages, elapsed) = (Vec::new(), Duration::ZERO);
            run.on_progress(&Progress { files_total, files_done, chunks, bytes: 0, stages, elapsed });
        };
        report_progress(None, 0, 0);
        report_progress(Some(10), 6, 60);
        run.next_pass(true);
        report_progress(None, 0, 0);
        report_progress(Some(11), 3, 0);
        report_progress(Some(11), 11, 50);
        run.next_pass(false);
        report_progress(Some(11), 3, 30);
        let expected = [
            (0, None, 0),
            (6, Some(10), 60),
            (6, Some(10), 60),
            (6, Some(10), 60),
            (10, Some(10), 110),
            (10, Some(10), 110),
        ];
        assert_eq!(*seen.0.lock().expect("unpoisoned"), expected);
    }
}
