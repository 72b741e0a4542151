//! Divides a long run into several passes, each of which publishes its finished work.
//!
//! A process that is killed loses only the work since the last publication, and the next run continues from there.
//! Every pass walks the tree again and skips the files that are already in the index. This cost is measured, and the
//! time between publications is a multiple of it.

use std::sync::Arc;
use std::time::{Duration, Instant};

use aurora_pipeline::RunReport;
use aurora_storage::Manifest;

use super::summary::FileCounts;
use crate::git_signal::HistoryWalk;
use crate::services::Checkpoint;

/// Time before the first publication of a long run. Also the minimum time between two publications.
const MIN_INTERVAL: Duration = Duration::from_secs(10);
/// Minimum ratio of the time between two publications to the cost of a publication.
const MIN_WORK_PER_COST: u32 = 60;

/// The results of the earlier passes of a run.
pub(super) struct EarlierPasses {
    /// The walk over the git history that an earlier pass began.
    pub(super) walk: Option<Arc<HistoryWalk>>,
    /// The manifest before the first pass.
    before: Manifest,
    begun: Instant,
    /// Merged report of the earlier passes. `None` before the first pass.
    report: Option<RunReport>,
    /// Time between publications.
    interval: Duration,
    /// Time at which the stages of the last pass finished.
    finished: Option<Instant>,
}

impl EarlierPasses {
    /// Creates the state before the first pass. `every` is a fixed time between publications, which replaces the
    /// measured time.
    pub(super) fn new(before: &Manifest, begun: Instant, every: Option<Duration>) -> Self {
        let interval = every.unwrap_or(MIN_INTERVAL);
        Self { walk: None, before: before.clone(), begun, report: None, interval, finished: None }
    }

    /// Returns the time after which the next pass publishes.
    pub(super) fn interval(&self) -> Duration {
        self.interval
    }

    /// Returns the manifest before the first pass, and the time at which that pass began.
    pub(super) fn start(&self) -> (&Manifest, Instant) {
        (&self.before, self.begun)
    }

    /// Merges the report of a pass into the reports of the earlier passes.
    pub(super) fn merged(&mut self, report: RunReport) -> RunReport {
        const UNCHANGED: &str = "files.unchanged";
        let Some(earlier) = self.report.take() else { return report };
        let FileCounts { indexed, refreshed, .. } = FileCounts::from_report(&earlier);
        let unchanged = report.counters.get(UNCHANGED).map_or(0, |now| now.saturating_sub(indexed + refreshed));
        let mut merged = report.after(earlier);
        merged.counters.insert(UNCHANGED.to_owned(), unchanged);
        merged
    }

    /// Returns the state after a pass that ended at a checkpoint.
    pub(super) fn followed_by(
        self,
        (report, finished): (RunReport, Instant),
        checkpoint: &Checkpoint,
        walk: Option<Arc<HistoryWalk>>,
        every: Option<Duration>,
    ) -> Self {
        // The cost of the previous publication is the time from the end of the stages of the previous pass until this
        // pass found the first file that was not in the index.
        let cost = self.finished.zip(checkpoint.first_progress()).map(|(finished, next)| next.duration_since(finished));
        let interval = every.unwrap_or_else(|| self.interval.max(cost.unwrap_or_default() * MIN_WORK_PER_COST));
        Self { walk, report: Some(report), interval, finished: Some(finished), ..self }
    }
}
