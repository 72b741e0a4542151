//! The content of a report, which is `report.json`.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use aurora_redact::masked;
use aurora_stages::index::{ColumnState, IndexSummary, RunHistory, RunRecord};
use serde::Serialize;

use super::changes::{Change, changes};
use super::check::Check;

/// Version of the format of `report.json`. It increases when a field is removed or changes its meaning.
const VERSION: u32 = 1;
/// Maximum number of runs in [`IndexReport::trend`].
const MAX_TREND: usize = 90;
/// Maximum number of reasons, errors and warnings in a report.
const MAX_LISTED: usize = 200;

/// The report of an index run.
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct IndexReport {
    /// Version of this format: 1.
    pub version: u32,
    /// The indexed directory.
    pub root: String,
    /// The result of the run.
    pub status: ReportStatus,
    /// Whether the index is complete.
    pub complete: bool,
    /// Whether the run published a new generation of the index.
    pub published: bool,
    /// Why the run stopped before it had completed.
    pub stopped: Option<StopReason>,
    /// The error that ended the run.
    pub error: Option<String>,
    /// Statistics of the run.
    pub run: RunRecord,
    /// The requirements on the run, with their results.
    pub checks: Vec<Check>,
    /// Values of the run and of the previous run.
    pub changes: Vec<Change>,
    /// Files and directories that are not indexed, by reason, most frequent first.
    pub skipped: Vec<SkippedFiles>,
    /// Number of secrets that were masked in the files that the run read, by rule.
    pub secrets: BTreeMap<String, u64>,
    /// The columns of custom stages.
    pub columns: Vec<ColumnState>,
    /// Reasons why files could not be indexed, with examples.
    pub errors: Vec<String>,
    /// Warnings and remarks.
    pub warnings: Vec<String>,
    /// End of the run that `changes` compares with, in Unix seconds.
    pub previous: Option<i64>,
    /// End of the last run before this one that had no violations, in Unix seconds.
    pub last_good: Option<i64>,
    /// The last runs without their stages, oldest first. The last one is this run.
    pub trend: Vec<RunRecord>,
}

/// The result of a run.
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ReportStatus {
    /// The index is complete, and no requirement is violated.
    Good,
    /// The run completed, and at least one requirement is violated.
    Violations,
    /// The run was stopped. Its finished work is published.
    Stopped,
    /// The run failed, and the index is unchanged.
    Failed,
}

/// The reason why a run stopped before it had completed.
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum StopReason {
    /// The deadline was reached.
    Deadline,
    /// A signal stopped the run.
    Interrupt,
}

/// Files and directories that are not indexed for the same reason.
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SkippedFiles {
    /// The reason.
    pub reason: String,
    /// Number of files and directories.
    pub count: u64,
    /// Some of the paths.
    pub examples: Vec<String>,
}

impl IndexReport {
    /// Creates the report of a run that has ended without an error. `record` is the record of the run with its results,
    /// and `history` the runs before it.
    pub fn from_summary(
        summary: IndexSummary,
        stopped: Option<StopReason>,
        record: RunRecord,
        checks: Vec<Check>,
        history: &RunHistory,
    ) -> Self {
        let status = match stopped {
            Some(_) => ReportStatus::Stopped,
            None if record.is_good() => ReportStatus::Good,
            None => ReportStatus::Violations,
        };
        let skipped = summary.files.skipped.into_iter();
        let mut skipped: Vec<SkippedFiles> = skipped
            .map(|(reason, skipped)| SkippedFiles { reason, count: skipped.count, examples: skipped.examples })
            .collect();
        skipped.sort_by(|a, b| b.count.cmp(&a.count).then_with(|| a.reason.cmp(&b.reason)));
        skipped.truncate(MAX_LISTED);
        Self {
            status,
            complete: summary.complete,
            published: summary.published,
            stopped,
            checks,
            skipped,
            secrets: summary.secrets.rules,
            columns: summary.columns,
            errors: listed(summary.errors),
            warnings: listed(summary.warnings),
            ..Self::new(Path::new(&summary.root), record, history)
        }
    }

    /// Creates the report of a run that an error has ended after `elapsed`.
    pub fn from_error(root: &Path, error: &str, elapsed: Duration, history: &RunHistory) -> Self {
        let error = masked(error.to_owned());
        let record = RunRecord::from_error(error.clone(), elapsed);
        Self { error: Some(error), ..Self::new(root, record, history) }
    }

    /// Creates the report of a run that a signal or a deadline stopped before it wrote anything.
    pub fn from_stop(root: &Path, reason: StopReason, error: &str, elapsed: Duration, history: &RunHistory) -> Self {
        let failed = Self::from_error(root, error, elapsed, history);
        Self { status: ReportStatus::Stopped, stopped: Some(reason), ..failed }
    }

    fn new(root: &Path, run: RunRecord, history: &RunHistory) -> Self {
        let runs = history.runs.iter().take(MAX_TREND - 1).rev().chain([&run]);
        let trend = runs.map(|run| RunRecord { stages: Vec::new(), skips: BTreeMap::new(), ..run.clone() }).collect();
        let previous = history.previous().filter(|_| run.error.is_none());
        Self {
            version: VERSION,
            root: masked(root.display().to_string()),
            status: ReportStatus::Failed,
            complete: false,
            published: false,
            stopped: None,
            error: None,
            checks: Vec::new(),
            changes: previous.map(|before| changes(before, &run)).unwrap_or_default(),
            skipped: Vec::new(),
            secrets: BTreeMap::new(),
            columns: Vec::new(),
            errors: Vec::new(),
            warnings: Vec::new(),
            previous: previous.map(|run| run.ended),
            last_good: history.last_good().map(|run| run.ended),
            trend,
            run,
        }
    }

    /// The heading of the report.
    pub(super) fn title(&self) -> &'static str {
        match (self.status, self.stopped) {
            (ReportStatus::Good, _) => "Index run: good",
            (ReportStatus::Violations, _) => "Index run: requirements violated",
            (ReportStatus::Stopped, Some(StopReason::Deadline)) => "Index run: stopped at the deadline",
            (ReportStatus::Stopped, _) => "Index run: interrupted",
            (ReportStatus::Failed, _) => "Index run: failed",
        }
    }

    /// The checks that failed.
    pub(super) fn violations(&self) -> impl Iterator<Item = &str> {
        self.checks.iter().filter_map(|check| check.violation.as_deref())
    }
}

fn listed(mut messages: Vec<String>) -> Vec<String> {
    if messages.len() > MAX_LISTED {
        let hidden = messages.len() - MAX_LISTED;
        messages.truncate(MAX_LISTED);
        messages.push(format!("and {hidden} more"));
    }
    messages
}
