//! A project with its current generation and its index runs.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::Builder;
use std::time::Instant;

use aurora_pipeline::CancelToken;
use aurora_project::{Project, ProjectError};
use aurora_query::Searcher;
use aurora_stages::index as indexing;
use aurora_storage::{CacheCounts, Snapshot, StorageError};
use tokio::sync::watch;

use crate::backoff::Backoff;
use crate::generation::Generation;
use crate::recorder::Recorder;
use crate::run::{self, RunRequest};
use crate::status::{RunPhase, RunReason, RunStatus};

/// The reason why an index run was not started.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// An index run is in progress in this process.
    #[error("an index run is in progress")]
    Running,
    /// The project is read-only.
    #[error("the project is read-only")]
    ReadOnly,
    /// No thread could be started.
    #[error("cannot start a thread for an index run: {0}")]
    Thread(#[source] std::io::Error),
}

/// Actions that background runs may perform on an index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Upkeep {
    /// Write nothing.
    ReadOnly,
    /// Update an existing index.
    Update,
    /// Update an existing index, and build a missing one.
    Build,
}

/// The groups and owners of a project, by which searches select projects.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Labels {
    /// Names of groups.
    pub groups: BTreeSet<String>,
    /// Names of owners.
    pub owners: BTreeSet<String>,
}

/// A project with its current generation and its index runs.
pub struct LiveProject {
    name: String,
    labels: Labels,
    project: Project,
    upkeep: Upkeep,
    generation: Generation,
    /// Cancels the current run; `None` if no run is in progress.
    running: Mutex<Option<CancelToken>>,
    /// Schedule by which background runs retry failed rows.
    backoff: Mutex<Backoff>,
    /// The reason why the index is not up to date, as text; `None` if nothing prevents an update.
    obstacle: Mutex<Option<String>>,
    status: watch::Sender<RunStatus>,
    recorder: Recorder,
}

impl LiveProject {
    /// Creates a project without an opened generation.
    pub fn new(name: String, project: Project, upkeep: Upkeep) -> Self {
        Self {
            name,
            labels: Labels::default(),
            project,
            upkeep,
            generation: Generation::default(),
            running: Mutex::default(),
            backoff: Mutex::default(),
            obstacle: Mutex::default(),
            status: watch::Sender::default(),
            recorder: Recorder::default(),
        }
    }

    /// Sets the groups and owners.
    pub(crate) fn with_labels(self, labels: Labels) -> Self {
        Self { labels, ..self }
    }

    /// The groups and owners.
    pub fn labels(&self) -> &Labels {
        &self.labels
    }

    /// Returns the name that identifies the project in requests and answers. It is unique among the projects of a
    /// server.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The project.
    pub fn project(&self) -> &Project {
        &self.project
    }

    /// Actions that background runs may perform on the index.
    pub fn upkeep(&self) -> Upkeep {
        self.upkeep
    }

    /// Whether there is no generation to search, neither opened nor on disk. A first run may be in progress.
    pub fn is_missing(&self) -> bool {
        self.opened().is_none() && !self.has_index()
    }

    /// Whether there is an index on disk. A generation stays open after its index has been deleted.
    pub(crate) fn has_index(&self) -> bool {
        !matches!(self.project.any_snapshot(), Err(StorageError::NoIndex { .. }))
    }

    /// Returns the current generation. The first call opens it.
    ///
    /// # Errors
    /// Fails if there is no index, if the index is not trusted or cannot be read, or if the search configuration is
    /// invalid.
    pub fn searcher(&self) -> Result<Arc<Searcher>, ProjectError> {
        self.generation.searcher(&self.project, &self.name)
    }

    /// Returns the current generation, if one has been opened.
    pub fn opened(&self) -> Option<Arc<Searcher>> {
        self.generation.opened()
    }

    /// Closes the current generation until it is used again.
    pub(crate) fn close(&self) {
        self.generation.close();
    }

    /// Returns a snapshot of the current generation, or of the published generation if the index is closed. Returns
    /// `None` if the index cannot be opened.
    pub fn snapshot(&self) -> Option<Snapshot> {
        match self.opened() {
            Some(searcher) => Some(searcher.snapshot().clone()),
            None => self.project.snapshot().ok(),
        }
    }

    /// Returns how often the opened generation and its caches were used, with the name of each cache: `generation`,
    /// `texts` and `labels`. The last two are missing if no generation is open.
    pub fn cache_counts(&self) -> Vec<(&'static str, CacheCounts)> {
        self.generation.cache_counts()
    }

    /// Switches to the published generation if it differs from the opened one. If the published generation cannot be
    /// opened, the opened one remains in use, and a warning is logged once.
    pub fn follow(&self) {
        self.generation.follow(&self.project, &self.name);
    }

    /// Whether nothing is written for the project.
    pub(crate) fn is_read_only(&self) -> bool {
        self.upkeep == Upkeep::ReadOnly
    }

    /// Records in the background that these chunks were shown at `now`, in Unix seconds. Does nothing if the project is
    /// read-only.
    pub fn record<'k>(&self, keys: impl Iterator<Item = &'k str>, now: i64) {
        if let Some(searcher) = self.opened().filter(|_| !self.is_read_only()) {
            self.recorder.record(&searcher, keys, now);
        }
    }

    /// Returns a receiver of the status of this process's last run.
    pub fn status(&self) -> watch::Receiver<RunStatus> {
        self.status.subscribe()
    }

    /// Returns the reason why the index cannot be brought up to date, as text. `None` if this process knows of no
    /// obstacle.
    pub fn obstacle(&self) -> Option<String> {
        self.obstacle.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Clears the obstacle after a success, or records the error. Ignores [`StorageError::Locked`], because another
    /// process holds the lock of the index only temporarily.
    fn note_obstacle<T>(&self, outcome: &Result<T, ProjectError>) {
        if !outcome.as_ref().is_err_and(run::is_locked) {
            let obstacle = outcome.as_ref().err().map(run::reason);
            *self.obstacle.lock().unwrap_or_else(PoisonError::into_inner) = obstacle;
        }
    }

    /// Checks the pipeline and records an error as the obstacle. Used while another process updates the index.
    pub(crate) fn check_pipeline(&self) {
        let options = self.project.options_without_programs();
        self.note_obstacle(&options.and_then(|options| Ok(indexing::plan(&options)?)));
    }

    /// Starts an index run in the background and returns its number.
    ///
    /// # Errors
    /// Fails if an index run is in progress, if the project is read-only, or if a thread cannot be started.
    pub fn start(self: &Arc<Self>, request: RunRequest) -> Result<u64, RunError> {
        let (number, cancel) = self.begin(request)?;
        let live = Arc::clone(self);
        let thread = Builder::new().name("aurora-index".to_owned()).spawn(move || live.work(request, &cancel));
        match thread {
            Ok(_) => Ok(number),
            Err(error) => {
                RunEnd(self).finish(|status| status.phase = RunPhase::Failed);
                Err(RunError::Thread(error))
            }
        }
    }

    /// Runs the pipeline on this thread and returns the final status. Permanently lowers the priority of the thread, so
    /// that searches run first.
    ///
    /// # Errors
    /// Fails if an index run is in progress, or if the project is read-only.
    pub fn run(&self, request: RunRequest) -> Result<RunStatus, RunError> {
        let (_, cancel) = self.begin(request)?;
        self.work(request, &cancel);
        Ok(self.status.borrow().clone())
    }

    /// Cancels the current run. Finished work is published. Returns whether a run was in progress.
    pub fn cancel(&self) -> bool {
        let running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        running.iter().for_each(CancelToken::cancel);
        running.is_some()
    }

    fn begin(&self, request: RunRequest) -> Result<(u64, CancelToken), RunError> {
        if self.upkeep == Upkeep::ReadOnly {
            return Err(RunError::ReadOnly);
        }
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        if running.is_some() {
            return Err(RunError::Running);
        }
        let cancel = running.insert(CancelToken::new()).clone();
        self.status.send_modify(|status| {
            let run = status.run + 1;
            *status = RunStatus { run, phase: RunPhase::Running, reason: request.reason, ..RunStatus::default() };
        });
        Ok((self.status.borrow().run, cancel))
    }

    fn work(&self, request: RunRequest, cancel: &CancelToken) {
        let end = RunEnd(self);
        self.generation.release_deleted(&self.project);
        let is_due = self.backoff.lock().unwrap_or_else(PoisonError::into_inner).is_due(Instant::now());
        let retries = is_due || request.reason == RunReason::Request;
        let outcome = run::run(&self.project, request, retries, cancel, &self.status, &|| self.follow());
        if let Ok(summary) = outcome.as_ref().map_err(drop)
            && retries
        {
            let has_failures = !summary.report.failures.is_empty();
            self.backoff.lock().unwrap_or_else(PoisonError::into_inner).record(has_failures, Instant::now());
        }
        self.note_obstacle(&outcome);
        end.finish(|status| run::conclude(outcome, cancel.is_cancelled(), status));
    }
}

/// Guard that ends a run, even after a panic, so that another run can begin.
struct RunEnd<'a>(&'a LiveProject);

impl RunEnd<'_> {
    fn finish(self, conclude: impl FnOnce(&mut RunStatus)) {
        // Hold the lock until the final status is set, so that no new run can begin before that.
        let mut running = self.0.running.lock().unwrap_or_else(PoisonError::into_inner);
        *running = None;
        self.0.status.send_modify(conclude);
        drop(running);
    }
}

impl Drop for RunEnd<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            *self.0.running.lock().unwrap_or_else(PoisonError::into_inner) = None;
            self.0.status.send_modify(|status| {
                status.phase = RunPhase::Failed;
                status.error = Some("a bug ended the run".to_owned());
            });
        }
    }
}
