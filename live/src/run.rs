//! One index run: what is asked for, and how its progress is told.

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

/// What an index run is asked to do.
#[derive(Debug, Clone, Copy, Default)]
pub struct RunRequest {
    /// Why it is started.
    pub reason: RunReason,
    /// Make everything again.
    pub force: bool,
    /// Publish what is finished after this time, and continue: a query has an answer before a long run ends.
    pub first_answer: Option<Duration>,
}

/// Tells the progress of a run.
struct Reporter<'a> {
    status: &'a watch::Sender<RunStatus>,
    began: Instant,
}

impl Reporter<'_> {
    fn tell(&self, change: impl FnOnce(&mut RunStatus)) {
        self.status.send_modify(|status| {
            status.elapsed_ms = u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX);
            change(status);
        });
    }
}

impl Observer for Reporter<'_> {
    fn on_progress(&self, progress: &Progress) {
        self.tell(|status| {
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
        self.tell(|status| (status.commits_done, status.commits_total) = (walk.done, walk.total));
    }

    fn run_observer(&self) -> &dyn Observer {
        self
    }
}

/// Runs the pipeline of a project, and tells its progress. `retries`: rows on which stages have failed are tried again although
/// nothing else has changed. `cancel` stops it; `published` is called after each generation.
///
/// # Errors
/// As for [`indexing::run`], or when the project's configuration is wrong.
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
        // A project may be deleted at any time, and an empty directory be made in its place.
        requires_directory: request.reason != RunReason::Request,
        ..unattended
    };
    if let Some(time) = request.first_answer {
        let first =
            stopped_after(time, cancel, |cancel| indexing::run(&IndexOptions { cancel, ..options.clone() }, progress))?;
        published();
        if first.complete || first.report.outcome == Outcome::Completed || cancel.is_cancelled() {
            return Ok(first);
        }
        progress.next_pass(true);
    }
    let summary = indexing::run(&IndexOptions { cancel: cancel.clone(), ..options }, progress)?;
    published();
    tell_warnings(project, &summary);
    Ok(summary)
}

/// Whether a run failed because another process was writing, which ends soon.
pub(crate) fn is_locked(error: &ProjectError) -> bool {
    let storage = match error {
        ProjectError::Index(IndexError::Storage(storage)) | ProjectError::Storage(storage) => storage,
        _ => return false,
    };
    matches!(storage, StorageError::Locked { .. })
}

/// Why a run failed, in words.
pub(crate) fn reason(error: &ProjectError) -> String {
    match error {
        ProjectError::Index(IndexError::Pipeline(_)) => format!("{error}; `aur pipeline check` shows them"),
        _ => chain(error),
    }
}

/// Tells the log about stages that were not run and rows that could not be processed.
fn tell_warnings(project: &Project, summary: &IndexSummary) {
    for column in &summary.columns {
        if let Some(shortfall) = column.shortfall() {
            let (name, stage) = (&column.name, &column.stage);
            tracing::warn!(root = %project.root().display(), "column `{name}` of stage `{stage}`: {shortfall}");
        }
    }
}

/// Leaves in `status` what became of a run.
pub(crate) fn conclude(outcome: Result<IndexSummary, ProjectError>, was_cancelled: bool, status: &mut RunStatus) {
    match outcome {
        Ok(summary) => {
            let is_stopped = was_cancelled && !summary.complete;
            status.phase = if is_stopped { RunPhase::Cancelled } else { RunPhase::Completed };
            status.elapsed_ms = status.elapsed_ms.max(summary.elapsed_ms);
            status.record = Some(RunRecord::of(&summary));
        }
        Err(error) => {
            status.phase = RunPhase::Failed;
            status.error = Some(chain(&error));
            status.help = error.help();
        }
    }
}

/// Time between two looks at whether the user has cancelled a run.
const POLL: Duration = Duration::from_millis(20);

/// Does work with a token that is cancelled after `time`, or with `outer`.
fn stopped_after<T>(time: Duration, outer: &CancelToken, work: impl FnOnce(CancelToken) -> T) -> T {
    let (inner, end) = (CancelToken::new(), Instant::now() + time);
    let (done, waits) = mpsc::channel::<()>();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let waits = waits;
            while !outer.is_cancelled() && Instant::now() < end {
                if waits.recv_timeout(POLL) == Err(RecvTimeoutError::Disconnected) {
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
