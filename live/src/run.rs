//! One index run: its request, its execution and its progress reports.

use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};

use aurora_pipeline::{CancelToken, Observer, Outcome, Progress};
use aurora_project::{Project, ProjectError, chain};
use aurora_stages::git_signal::WalkProgress;
use aurora_stages::index::{
    self as indexing, IndexError, IndexObserver, IndexOptions, IndexSummary, RunRecord, WholeRun,
};
use aurora_storage::StorageError;
use tokio::sync::watch;

use crate::priority;
use crate::status::{RunPhase, RunReason, RunStatus};

/// Request for an index run.
#[derive(Debug, Clone, Copy, Default)]
pub struct RunRequest {
    /// Reason for the run.
    pub reason: RunReason,
    /// Whether to rebuild everything.
    pub force: bool,
    /// Time after which the run publishes its finished part and continues, so that queries can be answered before a
    /// long run ends.
    pub first_answer: Option<Duration>,
}

/// Reports the progress of a run.
struct Reporter<'a> {
    status: &'a watch::Sender<RunStatus>,
    began: Instant,
}

impl Reporter<'_> {
    fn update(&self, change: impl FnOnce(&mut RunStatus)) {
        self.status.send_modify(|status| {
            status.elapsed_ms = u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX);
            change(status);
        });
    }
}

impl Observer for Reporter<'_> {
    fn on_progress(&self, progress: &Progress) {
        self.update(|status| {
            status.files_done = progress.files_done;
            status.files_total = progress.files_total;
            status.chunks = progress.chunks;
        });
    }

    fn on_log(&self, stage: &str, line: &str) {
        tracing::info!(stage, "{line}");
    }
}

impl IndexObserver for Reporter<'_> {
    fn on_history(&self, walk: WalkProgress) {
        self.update(|status| (status.commits_done, status.commits_total) = (walk.done, walk.total));
    }

    fn run_observer(&self) -> &dyn Observer {
        self
    }
}

/// Runs the pipeline of a project and reports its progress. With `retries`, stages also process the rows on which
/// they failed in earlier runs. `cancel` stops the run. `published` is called after each published generation.
///
/// # Errors
/// Fails for the reasons given at [`indexing::run`], and if the project's configuration is invalid.
pub(crate) fn run(
    project: &Project,
    request: RunRequest,
    retries: bool,
    cancel: &CancelToken,
    status: &watch::Sender<RunStatus>,
    published: &dyn Fn(),
) -> Result<IndexSummary, ProjectError> {
    priority::yield_to_searches();
    let reporter = Reporter { status, began: Instant::now() };
    let progress = &WholeRun::new(&reporter);
    let unattended = project.unattended_options()?;
    let options = IndexOptions {
        force: request.force,
        retries_failures: retries,
        // If a project was deleted and an empty directory now has its path, a background run must not index it.
        requires_directory: request.reason != RunReason::Request,
        ..unattended
    };
    if let Some(time) = request.first_answer {
        let first = run_with_time_limit(time, cancel, |cancel| {
            indexing::run(&IndexOptions { cancel, ..options.clone() }, progress)
        })?;
        published();
        if first.complete || first.report.outcome == Outcome::Completed || cancel.is_cancelled() {
            return Ok(first);
        }
        progress.next_pass(true);
    }
    let summary = indexing::run(&IndexOptions { cancel: cancel.clone(), ..options }, progress)?;
    published();
    log_warnings(project, &summary);
    Ok(summary)
}

/// Whether a run failed because another process was writing to the index, which is a temporary failure.
pub(crate) fn is_locked(error: &ProjectError) -> bool {
    let storage = match error {
        ProjectError::Index(IndexError::Storage(storage)) | ProjectError::Storage(storage) => storage,
        _ => return false,
    };
    matches!(storage, StorageError::Locked { .. })
}

/// Returns the reason for a failure as text.
pub(crate) fn reason(error: &ProjectError) -> String {
    match error {
        ProjectError::Index(IndexError::Pipeline(_)) => format!("{error}; `aur pipeline check` shows them"),
        _ => chain(error),
    }
}

/// Logs a warning for each column with stale values, failed rows or rows that were not processed.
fn log_warnings(project: &Project, summary: &IndexSummary) {
    for column in &summary.columns {
        if let Some(shortfall) = column.shortfall() {
            let (name, stage) = (&column.name, &column.stage);
            tracing::warn!(root = %project.root().display(), "column `{name}` of stage `{stage}`: {shortfall}");
        }
    }
}

/// Writes the outcome of a run to `status`.
pub(crate) fn conclude(outcome: Result<IndexSummary, ProjectError>, was_cancelled: bool, status: &mut RunStatus) {
    match outcome {
        Ok(summary) => {
            let is_stopped = was_cancelled && !summary.complete;
            status.phase = if is_stopped { RunPhase::Cancelled } else { RunPhase::Completed };
            status.elapsed_ms = status.elapsed_ms.max(summary.elapsed_ms);
            status.record = Some(RunRecord::from_summary(&summary));
        }
        Err(error) => {
            status.phase = RunPhase::Failed;
            status.error = Some(chain(&error));
            status.help = error.help();
        }
    }
}

/// Time between two checks whether the outer token of a run was cancelled.
const POLL: Duration = Duration::from_millis(20);

/// Runs `work` with a token that is cancelled after `time`, or when `outer` is cancelled.
fn run_with_time_limit<T>(time: Duration, outer: &CancelToken, work: impl FnOnce(CancelToken) -> T) -> T {
    let (inner, end) = (CancelToken::new(), Instant::now() + time);
    let (done, finished) = mpsc::channel::<()>();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let finished = finished;
            while !outer.is_cancelled() && Instant::now() < end {
                if finished.recv_timeout(POLL) == Err(RecvTimeoutError::Disconnected) {
                    return;
                }
            }
            inner.cancel();
        });
        let result = work(inner.clone());
        drop(done);
        result
    })
}
