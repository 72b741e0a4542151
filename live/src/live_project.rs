//! A project with the generation that answers and its index runs.

use std::sync::{Arc, Mutex, PoisonError};
use std::thread::Builder;
use std::time::Instant;

use aurora_pipeline::CancelToken;
use aurora_project::{Project, ProjectError, Searcher};
use aurora_stages::index as indexing;
use aurora_storage::StorageError;
use tokio::sync::watch;

use crate::backoff::Backoff;
use crate::generation::Generation;
use crate::recorder::Recorder;
use crate::run::{self, RunRequest};
use crate::status::{RunPhase, RunReason, RunStatus};

/// Why no index run was started.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// This process is running one.
    #[error("an index run is in progress")]
    Running,
    /// Nothing may be written.
    #[error("nothing may be written here")]
    ReadOnly,
    /// No thread could be started.
    #[error("no thread for an index run: {0}")]
    Thread(#[source] std::io::Error),
}

/// What may be done to an index without being asked each time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Upkeep {
    /// Nothing is written.
    ReadOnly,
    /// An index that is there is updated.
    Update,
    /// The same, and one that is missing is built.
    Build,
}

/// A project with the generation that answers and its index runs.
pub struct LiveProject {
    project: Project,
    upkeep: Upkeep,
    generation: Generation,
    /// Cancels the current run; `None` if none is running.
    running: Mutex<Option<CancelToken>>,
    /// When failed rows are tried again without being asked for.
    backoff: Mutex<Backoff>,
    /// Why the index is not up to date, in words; `None` if nothing prevents an update.
    obstacle: Mutex<Option<String>>,
    status: watch::Sender<RunStatus>,
    recorder: Recorder,
}

impl LiveProject {
    /// A project of which no generation is opened yet.
    pub fn new(project: Project, upkeep: Upkeep) -> Self {
        Self {
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

    /// The project.
    pub fn project(&self) -> &Project {
        &self.project
    }

    /// What may be done to the index.
    pub fn upkeep(&self) -> Upkeep {
        self.upkeep
    }

    /// Whether no generation was ever published; a first run may be on its way.
    pub fn is_missing(&self) -> bool {
        self.opened().is_none() && !self.has_index()
    }

    /// Whether there is an index on disk. One that was deleted may still have an opened generation.
    pub(crate) fn has_index(&self) -> bool {
        !matches!(self.project.any_snapshot(), Err(StorageError::NoIndex { .. }))
    }

    /// The generation that answers; opened at the first use.
    ///
    /// # Errors
    /// When there is no index, it is not trusted or cannot be read, or the search configuration is wrong.
    pub fn searcher(&self) -> Result<Arc<Searcher>, ProjectError> {
        self.generation.searcher(&self.project)
    }

    /// The generation that answers, if one has been opened.
    pub fn opened(&self) -> Option<Arc<Searcher>> {
        self.generation.opened()
    }

    /// Lets the published generation answer if it is another one than the opened one. Where it cannot be opened, the opened one
    /// is kept, and the log says so once.
    pub fn follow(&self) {
        self.generation.follow(&self.project);
    }

    /// Remembers soon that these chunks were shown at `now`, in Unix seconds; nothing where nothing may be written.
    pub fn record<'k>(&self, keys: impl Iterator<Item = &'k str>, now: i64) {
        if let Some(searcher) = self.opened().filter(|_| self.upkeep != Upkeep::ReadOnly) {
            self.recorder.record(searcher, keys, now);
        }
    }

    /// The last run of this process, and what becomes of it.
    pub fn status(&self) -> watch::Receiver<RunStatus> {
        self.status.subscribe()
    }

    /// Why the index cannot be brought up to date, in words, as far as this process knows; `None` if nothing prevents it.
    pub fn obstacle(&self) -> Option<String> {
        self.obstacle.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Records whether an update has succeeded, or the error that ended it.
    fn note_obstacle<T>(&self, outcome: &Result<T, ProjectError>) {
        if !outcome.as_ref().is_err_and(run::is_locked) {
            let obstacle = outcome.as_ref().err().map(run::reason);
            *self.obstacle.lock().unwrap_or_else(PoisonError::into_inner) = obstacle;
        }
    }

    /// Checks the pipeline for a project whose index another process updates.
    pub(crate) fn check_pipeline(&self) {
        let options = self.project.options_without_programs();
        self.note_obstacle(&options.and_then(|options| Ok(indexing::plan(&options)?)));
    }

    /// Starts an index run in the background and returns its number.
    ///
    /// # Errors
    /// When one is running, or nothing may be written.
    pub fn start(self: &Arc<Self>, request: RunRequest) -> Result<u64, RunError> {
        let (number, cancel) = self.begin(request)?;
        let live = Arc::clone(self);
        let thread = Builder::new().name("aurora-index".to_owned()).spawn(move || live.work(request, &cancel));
        match thread {
            Ok(_) => Ok(number),
            Err(error) => {
                RunEnd(self).after(|status| status.phase = RunPhase::Failed);
                Err(RunError::Thread(error))
            }
        }
    }

    /// Runs the pipeline on this thread, whose priority stays below that of searches, and returns what became of it.
    ///
    /// # Errors
    /// When one is running, or nothing may be written.
    pub fn run(&self, request: RunRequest) -> Result<RunStatus, RunError> {
        let (_, cancel) = self.begin(request)?;
        self.work(request, &cancel);
        Ok(self.status.borrow().clone())
    }

    /// Cancels the current run; what it has finished is published. Returns whether one was running.
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
            self.backoff.lock().unwrap_or_else(PoisonError::into_inner).note(has_failures, Instant::now());
        }
        self.note_obstacle(&outcome);
        end.after(|status| run::conclude(outcome, cancel.is_cancelled(), status));
    }
}

/// The end of a run, however it ends: another one can begin.
struct RunEnd<'a>(&'a LiveProject);

impl RunEnd<'_> {
    fn after(self, conclude: impl FnOnce(&mut RunStatus)) {
        // Who sees the end can start the next run, and its status is not overwritten.
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
