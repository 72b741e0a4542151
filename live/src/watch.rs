//! Keeps an index fresh: a thread that watches the tree and starts runs, or follows the process that does so.

use std::fs::File;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};

use aurora_confined::Directory;
use aurora_project::{PipelineInputs, Project, has_sources};
use aurora_stages::index as indexing;
use aurora_storage::ProjectDirectory;

use crate::changes::Changes;
use crate::live_project::{LiveProject, Upkeep};
use crate::run::RunRequest;
use crate::status::{RunPhase, RunReason};

/// Time between two checks for a generation that another process has published.
const FOLLOW_POLL: Duration = Duration::from_millis(400);
/// Time before the next attempt after a run that did not complete.
const RETRY_PAUSE: Duration = Duration::from_secs(1);
/// Time between two checks whether the thread has ended.
const END_POLL: Duration = Duration::from_millis(10);
/// Minimum pause between runs if the system does not report changes.
const MIN_PAUSE: Duration = Duration::from_secs(1);
/// Minimum pause after a run if the system does not report changes, as a multiple of the duration of the run.
const PAUSE_FACTOR: u32 = 20;
/// Time after which the first run of a missing index publishes its finished part.
const FIRST_ANSWER: Duration = Duration::from_millis(1_200);

/// Minimum time for each project between two such checks, if one thread checks several projects.
const FOLLOW_POLL_PER_PROJECT: Duration = Duration::from_millis(20);

/// A thread that keeps the indexes of projects fresh. It ends when this value is dropped.
pub struct Watch {
    stop: Arc<AtomicBool>,
    lives: Vec<Arc<LiveProject>>,
    thread: Option<JoinHandle<()>>,
}

impl LiveProject {
    /// Keeps the index fresh until the result is dropped, as far as [`LiveProject::upkeep`] allows.
    ///
    /// If several processes keep the same project fresh, one of them writes, and the others answer from the generations
    /// that the writer publishes. A process never writes to the index of a read-only project, or to an index that was
    /// not built by a run of this user. For such an index, the process only opens the generations that other processes
    /// publish.
    ///
    /// # Errors
    /// Fails if a thread cannot be started.
    pub fn watch(self: &Arc<Self>) -> std::io::Result<Watch> {
        let stop = Arc::new(AtomicBool::new(false));
        let (live, stopped) = (Arc::clone(self), Arc::clone(&stop));
        let mut keeper = Keeper { live, stop: stopped, polls: false, is_failing: false, had_index: false };
        let thread = Builder::new().name("aurora-watch".to_owned()).spawn(move || keeper.work())?;
        Ok(Watch { stop, lives: vec![Arc::clone(self)], thread: Some(thread) })
    }
}

impl Watch {
    /// Opens the generations that other processes publish for the open indexes of read-only projects.
    ///
    /// # Errors
    /// Fails if the thread cannot be started.
    pub(crate) fn follow_all(lives: Vec<Arc<LiveProject>>) -> io::Result<Self> {
        let stop = Arc::new(AtomicBool::new(false));
        let (followed, stopped) = (lives.clone(), Arc::clone(&stop));
        let pause = FOLLOW_POLL_PER_PROJECT * u32::try_from(lives.len()).unwrap_or(u32::MAX);
        let is_stopped = move || stopped.load(Ordering::Relaxed);
        let follow = move || {
            while !is_stopped() {
                for live in followed.iter().take_while(|_| !is_stopped()) {
                    live.follow();
                }
                let end = Instant::now() + pause.max(FOLLOW_POLL);
                while !is_stopped() && Instant::now() < end {
                    std::thread::sleep(FOLLOW_POLL);
                }
            }
        };
        let thread = Builder::new().name("aurora-watch".to_owned()).spawn(follow)?;
        Ok(Self { stop, lives, thread: Some(thread) })
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        let Some(thread) = self.thread.take() else { return };
        // The thread may be about to start a run, so a single cancellation is not enough.
        while !thread.is_finished() {
            self.lives.iter().for_each(|live| {
                live.cancel();
            });
            std::thread::sleep(END_POLL);
        }
        // A panic has already been logged.
        let _ = thread.join();
    }
}

/// The state of the thread.
struct Keeper {
    live: Arc<LiveProject>,
    stop: Arc<AtomicBool>,
    /// Whether the tree is polled, because the system does not report changes or cannot watch this many directories.
    polls: bool,
    /// Whether the last run failed.
    is_failing: bool,
    /// Whether this process has seen an index that it was allowed to update.
    had_index: bool,
}

impl Keeper {
    fn work(&mut self) {
        let (live, mut inputs) = (Arc::clone(&self.live), None::<PipelineInputs>);
        while !self.is_stopped() {
            let mut may_write = false;
            // Only the process that holds the lease may write.
            let lease = Lease::take(live.project(), || {
                may_write = self.may_write();
                may_write
            });
            if let Some(lease) = lease {
                self.keep_fresh(&lease);
                inputs = None;
                continue;
            }
            self.live.follow();
            // Another process updates the index, and cannot report errors of the pipeline to this process. Therefore,
            // this process checks the pipeline itself.
            if may_write && inputs.as_ref().is_none_or(PipelineInputs::have_changed) {
                inputs = Some(PipelineInputs::new(self.live.project()));
                self.live.check_pipeline();
            }
            std::thread::sleep(FOLLOW_POLL);
        }
    }

    fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Whether a background run may update or build the index.
    fn may_write(&mut self) -> bool {
        let (project, upkeep) = (self.live.project(), self.live.upkeep());
        if upkeep == Upkeep::ReadOnly {
            return false;
        }
        if !self.live.has_index() {
            // Rebuild a deleted index only if the sources still exist. Otherwise, the tree may have been unmounted.
            return if self.had_index {
                has_sources(project.root())
            } else {
                upkeep == Upkeep::Build && project.root().is_dir()
            };
        }
        let Ok(snapshot) = project.snapshot() else { return false };
        // If all sources are missing, they were more likely unmounted than deleted, so the index is kept.
        let may_write = has_sources(project.root())
            && project.options_without_programs().is_ok_and(|options| indexing::may_update(&options, &snapshot));
        self.had_index |= may_write;
        may_write
    }

    /// Watches the tree and starts runs, as long as this process may write and the lease is current.
    fn keep_fresh(&mut self, lease: &Lease) {
        let mut changes = self.watch_tree();
        // Read the inputs before each run, so that changes during the run are noticed after it.
        let mut inputs = PipelineInputs::new(self.live.project());
        let mut is_fresh = self.update(&mut changes);
        while !self.is_stopped() && lease.is_current() && self.may_write() {
            let began = Instant::now();
            match &changes {
                Some(watching) if watching.wait(FOLLOW_POLL) || inputs.have_changed() => {
                    inputs = PipelineInputs::new(self.live.project());
                    is_fresh = self.update(&mut changes);
                }
                Some(_) if is_fresh => self.live.follow(),
                Some(_) => {
                    self.pause(RETRY_PAUSE);
                    is_fresh = self.update(&mut changes);
                }
                None => {
                    self.update(&mut changes);
                    self.pause(MIN_PAUSE.max(PAUSE_FACTOR * began.elapsed()));
                }
            }
        }
    }

    /// Brings the index up to date and watches its directories. Returns whether no further run is needed.
    fn update(&mut self, changes: &mut Option<Changes>) -> bool {
        loop {
            // The change may be the removal of the sources or the index.
            if !self.may_write() {
                return false;
            }
            match self.run() {
                Some(RunPhase::Completed) => {}
                // A user cancelled this run. The next change starts another run.
                Some(RunPhase::Cancelled) => return true,
                _ => return false,
            }
            // Run again if a directory is watched for the first time: its files may have changed before the watch
            // began.
            let is_any_new = match changes {
                Some(watching) if watching.has_same_repository() => {
                    match self.directories().map(|directories| watching.add(&directories)) {
                        Some(Ok(is_any_new)) => is_any_new,
                        Some(Err(error)) => {
                            self.warn(&error);
                            *changes = None;
                            false
                        }
                        None => false,
                    }
                }
                _ => {
                    *changes = self.watch_tree();
                    changes.is_some()
                }
            };
            if !is_any_new || self.is_stopped() {
                return true;
            }
        }
    }

    /// Runs the pipeline and returns the final phase; `None` if another run is in progress.
    fn run(&mut self) -> Option<RunPhase> {
        let request = if self.live.has_index() {
            RunRequest { reason: RunReason::Change, ..RunRequest::default() }
        } else {
            RunRequest { reason: RunReason::Missing, first_answer: Some(FIRST_ANSWER), ..RunRequest::default() }
        };
        let status = self.live.run(request).ok()?;
        let had_failed = std::mem::replace(&mut self.is_failing, status.error.is_some());
        if let Some(error) = status.error.filter(|_| !had_failed) {
            tracing::warn!(root = %self.live.project().root().display(), "the index is not up to date: {error}");
        }
        Some(status.phase)
    }

    fn watch_tree(&mut self) -> Option<Changes> {
        if self.polls {
            return None;
        }
        let directories = self.directories()?;
        match Changes::watch(self.live.project().root(), &directories) {
            Ok(changes) => Some(changes),
            Err(error) => {
                self.warn(&error);
                None
            }
        }
    }

    /// Returns the directories that runs read; `None` if there is no index.
    fn directories(&self) -> Option<Vec<PathBuf>> {
        let project = self.live.project();
        indexing::directories(project.root(), &project.any_snapshot().ok()?)
    }

    /// Switches to polling the tree. The first call logs a warning.
    fn warn(&mut self, error: &notify::Error) {
        if !std::mem::replace(&mut self.polls, true) {
            tracing::warn!(
                root = %self.live.project().root().display(),
                "the system does not report file changes ({error}); the tree is polled instead"
            );
        }
    }

    fn pause(&self, time: Duration) {
        let end = Instant::now() + time;
        while !self.is_stopped() && Instant::now() < end {
            self.live.follow();
            std::thread::sleep(FOLLOW_POLL.min(end.saturating_duration_since(Instant::now())));
        }
    }
}

/// The right to update the index, in the form of a lock on a file. The operating system releases the lock when the
/// process ends.
struct Lease {
    lock: File,
    directory: ProjectDirectory,
    /// Device and inode of the lock file.
    identity: (u64, u64),
}

impl Lease {
    /// Acquires the lease. Returns `None` if `may_write` returns false, the lock file cannot be opened, or another
    /// process holds the lock.
    fn take(project: &Project, may_write: impl FnOnce() -> bool) -> Option<Self> {
        let directory = ProjectDirectory::in_root(project.root());
        // Open the root before calling `may_write`. Otherwise, an empty directory that replaces a deleted project after
        // the check would get an `.aurora` directory.
        let root = Directory::open_root(project.root()).ok()?;
        if !may_write() {
            return None;
        }
        let lock = directory
            .create_in(&root)
            .and_then(|directory| directory.open_or_create(ProjectDirectory::WATCH_LOCK))
            .ok()?;
        lock.try_lock().ok()?;
        let identity = identity(&directory).ok()?;
        Some(Self { lock, directory, identity })
    }

    /// Whether the locked file is still the file at its path. If not, the project was deleted, and perhaps created
    /// again. The watches of the deleted project no longer work.
    fn is_current(&self) -> bool {
        identity(&self.directory).is_ok_and(|identity| identity == self.identity)
    }
}

/// Returns the device and the inode of the current lock file.
fn identity(directory: &ProjectDirectory) -> io::Result<(u64, u64)> {
    let found = directory.open()?.metadata(ProjectDirectory::WATCH_LOCK)?;
    Ok((found.device, found.inode))
}

impl Drop for Lease {
    fn drop(&mut self) {
        // Closing the file is not enough, because a child process that is being started may share the open file.
        let _ = self.lock.unlock();
    }
}
