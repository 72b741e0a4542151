//! Keeping an index fresh: a thread that watches the tree and starts runs, or follows the process that does.

use std::fs::File;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};

use aurora_confined::Directory;
use aurora_project::{PipelineInputs, Project};
use aurora_stages::index as indexing;
use aurora_storage::ProjectDirectory;

use crate::changes::Changes;
use crate::live_project::{LiveProject, Upkeep};
use crate::run::RunRequest;
use crate::status::{RunPhase, RunReason};

/// Time between two looks at what another process has published.
const FOLLOW: Duration = Duration::from_millis(400);
/// Time before the next try after a run that did not come to its end.
const RETRY: Duration = Duration::from_secs(1);
/// Time between two looks at whether the thread has ended.
const ENDING: Duration = Duration::from_millis(10);
/// Where the system gives no events, runs follow each other at this distance, but take no more than this share of the time.
const LEAST_POLL: Duration = Duration::from_secs(1);
const SHARE: u32 = 20;
/// Until an index that is missing can answer: what is finished then is published.
const FIRST_ANSWER: Duration = Duration::from_millis(1_200);

/// A thread that keeps the index of a project fresh; it ends when this is dropped.
pub struct Watch {
    stop: Arc<AtomicBool>,
    live: Arc<LiveProject>,
    thread: Option<JoinHandle<()>>,
}

impl LiveProject {
    /// Keeps the index fresh until the result is dropped, as far as [`LiveProject::upkeep`] allows.
    ///
    /// One process of those that keep the same project writes; the others answer from what it publishes. A project that is
    /// read-only, and an index that no run of this user has made, are followed only.
    ///
    /// # Errors
    /// When no thread can be started.
    pub fn watch(self: &Arc<Self>) -> std::io::Result<Watch> {
        let stop = Arc::new(AtomicBool::new(false));
        let keeper = Keeper {
            live: Arc::clone(self),
            stop: Arc::clone(&stop),
            polls: AtomicBool::new(false),
            is_failing: AtomicBool::new(false),
            had_index: AtomicBool::new(false),
        };
        let thread = Builder::new().name("aurora-watch".to_owned()).spawn(move || keeper.work())?;
        Ok(Watch { stop, live: Arc::clone(self), thread: Some(thread) })
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        let Some(thread) = self.thread.take() else { return };
        // It may be about to start a run, so once is not enough.
        while !thread.is_finished() {
            self.live.cancel();
            std::thread::sleep(ENDING);
        }
        // A panic was told in the log.
        let _ = thread.join();
    }
}

struct Keeper {
    live: Arc<LiveProject>,
    stop: Arc<AtomicBool>,
    /// Whether the system tells no changes, or not for so many directories.
    polls: AtomicBool,
    /// Whether the last run failed.
    is_failing: AtomicBool,
    /// Whether there was an index that this process could keep fresh.
    had_index: AtomicBool,
}

impl Keeper {
    fn work(&self) {
        let mut inputs: Option<PipelineInputs> = None;
        while !self.is_stopped() {
            let mut may_write = false;
            // The right to write, which one process has.
            let lease = Lease::take(self.live.project(), || {
                may_write = self.may_write();
                may_write
            });
            if let Some(lease) = lease {
                self.keep(&lease);
                inputs = None;
                continue;
            }
            self.live.follow();
            // The process that updates the index has no way to tell this one that it cannot.
            if may_write && inputs.as_ref().is_none_or(PipelineInputs::have_changed) {
                inputs = Some(PipelineInputs::new(self.live.project()));
                self.live.check_pipeline();
            }
            std::thread::sleep(FOLLOW);
        }
    }

    fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Whether the index may be updated without being asked, or built.
    fn may_write(&self) -> bool {
        let (project, upkeep) = (self.live.project(), self.live.upkeep());
        if upkeep == Upkeep::ReadOnly {
            return false;
        }
        let had_index = self.had_index.load(Ordering::Relaxed);
        if !self.live.has_index() {
            // An index that was kept fresh and is gone is built again with the sources, which may be unmounted meanwhile.
            return if had_index { project.has_sources() } else { upkeep == Upkeep::Build && project.root().is_dir() };
        }
        let Ok(snapshot) = project.snapshot() else { return false };
        // Sources that are all gone at once are more likely unmounted than removed.
        let may_write = project.has_sources()
            && project.options_without_programs().is_ok_and(|options| indexing::may_update(&options, &snapshot));
        self.had_index.store(had_index || may_write, Ordering::Relaxed);
        may_write
    }

    /// Watches the tree and starts runs while it may, and while root and lock are the same directory and file.
    fn keep(&self, lease: &Lease) {
        let mut changes = self.watch_tree();
        // Read before each run, so that a change during the run is seen after it.
        let mut inputs = PipelineInputs::new(self.live.project());
        let mut is_fresh = self.update(&mut changes);
        while !self.is_stopped() && lease.is_current() && self.may_write() {
            let began = Instant::now();
            match &changes {
                Some(watching) if watching.wait(FOLLOW) || inputs.have_changed() => {
                    inputs = PipelineInputs::new(self.live.project());
                    is_fresh = self.update(&mut changes);
                }
                Some(_) if is_fresh => self.live.follow(),
                Some(_) => {
                    self.pause(RETRY);
                    is_fresh = self.update(&mut changes);
                }
                None => {
                    self.update(&mut changes);
                    self.pause(LEAST_POLL.max(SHARE * began.elapsed()));
                }
            }
        }
    }

    /// Brings the index up to date, and watches the directories that it knows then. Returns whether no further run is needed.
    fn update(&self, changes: &mut Option<Changes>) -> bool {
        loop {
            // What has changed may be that sources or index are gone.
            if !self.may_write() {
                return false;
            }
            match self.run() {
                Some(RunPhase::Completed) => {}
                // Somebody does not want this run; the next change starts another one.
                Some(RunPhase::Cancelled) => return true,
                _ => return false,
            }
            // What happened in a directory before it was watched is seen by another run.
            let is_any_new = match changes {
                Some(watching) if watching.has_same_repository() => {
                    match self.directories().map(|directories| watching.also(&directories)) {
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

    /// How one run ended; `None` if somebody else has started one.
    fn run(&self) -> Option<RunPhase> {
        let request = if self.live.has_index() {
            RunRequest { reason: RunReason::Change, ..RunRequest::default() }
        } else {
            RunRequest { reason: RunReason::Missing, first_answer: Some(FIRST_ANSWER), ..RunRequest::default() }
        };
        let status = self.live.run(request).ok()?;
        let had_failed = self.is_failing.swap(status.error.is_some(), Ordering::Relaxed);
        if let Some(error) = status.error.filter(|_| !had_failed) {
            tracing::warn!(root = %self.live.project().root().display(), "the index is not up to date: {error}");
        }
        Some(status.phase)
    }

    fn watch_tree(&self) -> Option<Changes> {
        if self.polls.load(Ordering::Relaxed) {
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

    /// The directories that runs look into; `None` without an index.
    fn directories(&self) -> Option<Vec<PathBuf>> {
        let project = self.live.project();
        indexing::directories(project.root(), &project.any_snapshot().ok()?)
    }

    fn warn(&self, error: &notify::Error) {
        if !self.polls.swap(true, Ordering::Relaxed) {
            tracing::warn!(
                root = %self.live.project().root().display(),
                "the system tells no changes of files ({error}): the tree is looked at again and again instead"
            );
        }
    }

    fn pause(&self, time: Duration) {
        let end = Instant::now() + time;
        while !self.is_stopped() && Instant::now() < end {
            self.live.follow();
            std::thread::sleep(FOLLOW.min(end.saturating_duration_since(Instant::now())));
        }
    }
}

/// The right to write, which the system takes back when the process ends.
struct Lease {
    lock: File,
    home: ProjectDirectory,
    /// Device and number of the lock file.
    identity: (u64, u64),
}

impl Lease {
    /// Takes the right; `None` if another process has it, or the project has no `.aurora` and should not get one.
    fn take(project: &Project, may_write: impl FnOnce() -> bool) -> Option<Self> {
        let home = ProjectDirectory::of(project.root());
        // The project may be deleted meanwhile, and an empty directory be made in its place.
        let root = Directory::open_root(project.root()).ok()?;
        if !may_write() {
            return None;
        }
        let lock = home.create_in(&root).and_then(|home| home.open_or_create(ProjectDirectory::WATCH_LOCK)).ok()?;
        lock.try_lock().ok()?;
        let identity = identity(&home).ok()?;
        Some(Self { lock, home, identity })
    }

    /// Whether other processes find this lock. It is gone with a project that is deleted, and another file with one that is
    /// made again; the watches of such a project are gone too.
    fn is_current(&self) -> bool {
        identity(&self.home).is_ok_and(|identity| identity == self.identity)
    }
}

/// Device and number of the file that is the lock now.
fn identity(home: &ProjectDirectory) -> io::Result<(u64, u64)> {
    let found = home.open()?.metadata(ProjectDirectory::WATCH_LOCK)?;
    Ok((found.device, found.inode))
}

impl Drop for Lease {
    fn drop(&mut self) {
        // A child process that is being started shares the open file, so closing it is not enough.
        let _ = self.lock.unlock();
    }
}
