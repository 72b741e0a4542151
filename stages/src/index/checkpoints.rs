//! A long run as several passes, each of which publishes what it has finished.
//!
//! A process that is killed loses the work since the last publication; the next run continues from there. Every pass walks the
//! tree and passes over the files that are in the index. What that costs is measured, and the passes are long in comparison.

use std::sync::Arc;
use std::time::{Duration, Instant};

use aurora_pipeline::RunReport;
use aurora_storage::Manifest;

use super::summary::FileCounts;
use crate::git_signal::HistoryWalk;
use crate::services::Checkpoint;

/// Time before the first publication of a long run, and minimum time between two.
const MIN_INTERVAL: Duration = Duration::from_secs(10);
/// The work between two publications takes at least this many times as long as what a publication costs.
const MIN_WORK: u32 = 60;

/// The results of the earlier passes of a run.
pub(super) struct EarlierPasses {
    /// The walk over git's history that one of them has begun.
    pub(super) walk: Option<Arc<HistoryWalk>>,
    /// The manifest before the first of them.
    before: Manifest,
    begun: Instant,
    /// `None` before the first pass.
    report: Option<RunReport>,
    /// Time between the publications.
    interval: Duration,
    /// When the stages of the last pass had finished.
    finished: Option<Instant>,
}

impl EarlierPasses {
    /// Before the first pass. With `every`, publications follow each other at that distance, whatever they cost.
    pub(super) fn none(before: &Manifest, begun: Instant, every: Option<Duration>) -> Self {
        let interval = every.unwrap_or(MIN_INTERVAL);
        Self { walk: None, before: before.clone(), begun, report: None, interval, finished: None }
    }

    /// Time that the next pass works before it publishes.
    pub(super) fn interval(&self) -> Duration {
        self.interval
    }

    /// The manifest before the first pass, and when it began.
    pub(super) fn start(&self) -> (&Manifest, Instant) {
        (&self.before, self.begun)
    }

    /// The report of a pass and of those before it.
    pub(super) fn merged(&mut self, report: RunReport) -> RunReport {
        const UNCHANGED: &str = "files.unchanged";
        let Some(earlier) = self.report.take() else { return report };
        let FileCounts { indexed, refreshed, .. } = FileCounts::from_report(&earlier);
        let unchanged = report.counters.get(UNCHANGED).map_or(0, |now| now.saturating_sub(indexed + refreshed));
        let mut merged = report.after(earlier);
        merged.counters.insert(UNCHANGED.to_owned(), unchanged);
        merged
    }

    /// The same after a pass that ended at a checkpoint.
    pub(super) fn followed_by(
        self,
        (report, finished): (RunReport, Instant),
        checkpoint: &Checkpoint,
        walk: Option<Arc<HistoryWalk>>,
        every: Option<Duration>,
    ) -> Self {
        // The cost of the previous publication ends when this pass finds the first file that is not in the index.
        let cost = self.finished.zip(checkpoint.first_progress()).map(|(finished, next)| next.duration_since(finished));
        let interval = every.unwrap_or_else(|| self.interval.max(cost.unwrap_or_default() * MIN_WORK));
        Self { walk, report: Some(report), interval, finished: Some(finished), ..self }
    }
}
