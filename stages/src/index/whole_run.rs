//! The progress of a run that makes several passes over the tree, as one count that never goes back.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use aurora_pipeline::{Observer, Progress};

use super::options::IndexObserver;
use crate::git_signal::WalkProgress;

/// Tells an observer the progress of several passes as that of one run.
///
/// Each pass goes through all files and is quick with those that are done, so the furthest pass says how many are done.
pub struct WholeRun<'o> {
    observer: &'o dyn IndexObserver,
    begun: Instant,
    told: Mutex<Told>,
}

/// What the observer was told last.
#[derive(Default)]
struct Told {
    files_total: Option<u64>,
    files_done: u64,
    chunks: u64,
    /// Chunks of the passes before this one.
    chunks_before: u64,
    commits_done: u64,
    commits_total: u64,
}

impl<'o> WholeRun<'o> {
    /// A run that begins now.
    pub fn new(observer: &'o dyn IndexObserver) -> Self {
        Self { observer, begun: Instant::now(), told: Mutex::default() }
    }

    /// Begins another pass. `adds_chunks`: its chunks are others than those of the passes before it.
    pub fn next_pass(&self, adds_chunks: bool) {
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        told.chunks_before = if adds_chunks { told.chunks } else { 0 };
    }
}

impl Observer for WholeRun<'_> {
    fn on_progress(&self, progress: &Progress) {
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        // A file that appears during the run must not lower the share of those that are done.
        told.files_total = told.files_total.or(progress.files_total);
        let most = told.files_total.unwrap_or(u64::MAX);
        told.files_done = told.files_done.max(progress.files_done).min(most);
        told.chunks = told.chunks.max(told.chunks_before.saturating_add(progress.chunks));
        let of_run = Progress {
            files_total: told.files_total,
            files_done: told.files_done,
            chunks: told.chunks,
            elapsed: self.begun.elapsed(),
            ..progress.clone()
        };
        self.observer.run_observer().on_progress(&of_run);
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
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        told.commits_total = told.commits_total.max(walk.total);
        told.commits_done = told.commits_done.max(walk.done);
        self.observer.on_history(WalkProgress { done: told.commits_done, total: told.commits_total });
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
    fn a_second_pass_began_to_count_again() {
        let seen = Seen::default();
        let run = WholeRun::new(&seen);
        let tell = |files_total, files_done, chunks| {
            let (stages, elapsed) = (Vec::new(), Duration::ZERO);
            run.on_progress(&Progress { files_total, files_done, chunks, bytes: 0, stages, elapsed });
        };
        tell(None, 0, 0);
        tell(Some(10), 6, 60);
        run.next_pass(true);
        tell(None, 0, 0);
        tell(Some(11), 3, 0);
        tell(Some(11), 11, 50);
        run.next_pass(false);
        tell(Some(11), 3, 30);
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
