//! File system events, reduced to the fact that something may have changed.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use aurora_stages::index::git_directory;
use aurora_storage::ProjectDirectory;
use notify::event::ModifyKind;
use notify::{Event, EventKind, RecommendedWatcher, RecursiveMode, Watcher};

/// Whether each directory needs its own watch. On other systems one watch covers the whole tree, and events of
/// directories that are not indexed are dropped.
const EACH_DIRECTORY: bool = cfg!(any(target_os = "linux", target_os = "android"));

/// Time without events before a run starts.
const QUIET_TIME: Duration = Duration::from_millis(80);
/// Maximum time that a run waits for a tree to become quiet.
const MAX_QUIET_WAIT: Duration = Duration::from_millis(600);
/// Maximum time that a run waits for a git operation to end, such as a checkout.
const MAX_GIT_WAIT: Duration = Duration::from_secs(120);
/// Lock file in git's directory. Git holds it while it changes the work tree.
const GIT_LOCK: &str = "index.lock";

/// A watch over the indexed directories of a tree.
pub(crate) struct Changes {
    root: PathBuf,
    /// The directory with HEAD and git's index, if there is one.
    git: Option<PathBuf>,
    watcher: RecommendedWatcher,
    events: Receiver<()>,
    watched: Arc<Mutex<Watched>>,
}

impl Changes {
    /// Watches git's directory and the given directories, which are relative to the root.
    ///
    /// # Errors
    /// When the system does not support events, or not for so many directories.
    pub(crate) fn watch(root: &Path, directories: &[PathBuf]) -> notify::Result<Self> {
        let (sender, events) = mpsc::channel();
        let watched: Arc<Mutex<Watched>> = Arc::default();
        let git = git_directory(root);
        let filter = Filter { root: root.to_owned(), git: git.clone(), watched: Arc::clone(&watched), sender };
        let watcher = notify::recommended_watcher(move |event| filter.on_event(event))?;
        let mut changes = Self { root: root.to_owned(), git, watcher, events, watched };
        if !EACH_DIRECTORY {
            changes.watcher.watch(root, RecursiveMode::Recursive)?;
            if let Some(git) = changes.git.clone().filter(|git| !git.starts_with(root)) {
                changes.watcher.watch(&git, RecursiveMode::NonRecursive)?;
            }
        }
        changes.add(directories)?;
        Ok(changes)
    }

    /// Also watches these directories. Returns whether any of them is new: earlier events in a new directory may have
    /// been missed.
    ///
    /// # Errors
    /// When the system does not support events for so many directories.
    pub(crate) fn add(&mut self, directories: &[PathBuf]) -> notify::Result<bool> {
        let directories = directories.iter().map(|directory| self.root.join(directory));
        let wanted: Vec<PathBuf> = directories.chain(self.git.clone()).collect();
        // The lock must not be held during a call of the watcher, because the watcher's thread may be waiting for the
        // lock.
        let lost = self.watched.lock().unwrap_or_else(PoisonError::into_inner).take_lost();
        // Unwatch all of them before watching any: the same directory may still be watched under its previous path.
        for directory in lost {
            let _ = self.watcher.unwatch(&directory);
        }
        let watched = self.watched.lock().unwrap_or_else(PoisonError::into_inner);
        let new: Vec<PathBuf> =
            wanted.into_iter().filter(|directory| !watched.directories.contains(directory)).collect();
        drop(watched);
        let mut is_any_new = false;
        for directory in new {
            let done = match EACH_DIRECTORY {
                true => self.watcher.watch(&directory, RecursiveMode::NonRecursive),
                false => Ok(()),
            };
            match done {
                Ok(()) => {
                    is_any_new |= self.git.as_ref() != Some(&directory);
                    self.watched.lock().unwrap_or_else(PoisonError::into_inner).directories.insert(directory);
                }
                // A deleted directory is no longer of interest.
                Err(error) if !is_gone(&error) => return Err(error),
                Err(_) => {}
            }
        }
        Ok(is_any_new)
    }

    /// Whether the tree still has the same repository, or still has no repository, as when the watch began.
    pub(crate) fn has_same_repository(&self) -> bool {
        git_directory(&self.root) == self.git
    }

    /// Waits at most `time` for a change, and then until the tree is quiet. Returns whether something may have changed.
    pub(crate) fn wait(&self, time: Duration) -> bool {
        match self.events.recv_timeout(time) {
            Ok(()) => {}
            Err(RecvTimeoutError::Timeout) => return false,
            // Cannot happen, because the watcher never ends on its own.
            Err(RecvTimeoutError::Disconnected) => {
                std::thread::sleep(time);
                return false;
            }
        }
        let began = Instant::now();
        loop {
            let is_quiet = self.events.recv_timeout(QUIET_TIME).is_err();
            let waited = began.elapsed();
            let is_locked = self.git.as_ref().is_some_and(|git| git.join(GIT_LOCK).exists());
            let git_works = waited < MAX_GIT_WAIT && is_locked;
            if !git_works && (is_quiet || waited > MAX_QUIET_WAIT) {
                while self.events.try_recv().is_ok() {}
                return true;
            }
        }
    }
}

/// The watched directories.
#[derive(Default)]
struct Watched {
    directories: HashSet<PathBuf>,
    /// Paths that were deleted or renamed. A watch ends with its directory, or follows it to another path, and another
    /// directory may be at the old path.
    lost: HashSet<PathBuf>,
    /// Whether events were lost, possibly events of deleted or renamed paths.
    are_all_lost: bool,
}

impl Watched {
    /// Removes and returns the directories whose watch may have ended or moved.
    fn take_lost(&mut self) -> Vec<PathBuf> {
        let (lost, are_all_lost) = (std::mem::take(&mut self.lost), std::mem::take(&mut self.are_all_lost));
        let is_lost = |directory: &PathBuf| {
            are_all_lost || directory.ancestors().any(|path| lost.contains(path)) || !directory.is_dir()
        };
        self.directories.extract_if(is_lost).collect()
    }
}

fn is_gone(error: &notify::Error) -> bool {
    match &error.kind {
        notify::ErrorKind::PathNotFound => true,
        notify::ErrorKind::Io(error) => {
            matches!(error.kind(), std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory)
        }
        _ => false,
    }
}

/// Filters the events after which something may have changed.
struct Filter {
    root: PathBuf,
    git: Option<PathBuf>,
    watched: Arc<Mutex<Watched>>,
    sender: Sender<()>,
}

impl Filter {
    fn on_event(&self, event: notify::Result<Event>) {
        self.note_lost(&event);
        let is_of_interest = match &event {
            // Events may have been lost.
            Err(_) => true,
            Ok(event) if event.need_rescan() => true,
            Ok(event) if matches!(event.kind, EventKind::Access(_)) => false,
            Ok(event) => event.paths.iter().any(|path| self.is_of_interest(path)),
        };
        if is_of_interest {
            // The receiver lives as long as the watcher.
            let _ = self.sender.send(());
        }
    }

    /// Records the watched paths where another directory may be now.
    fn note_lost(&self, event: &notify::Result<Event>) {
        let mut watched = self.watched.lock().unwrap_or_else(PoisonError::into_inner);
        match event {
            Ok(event) if event.need_rescan() => watched.are_all_lost = true,
            Ok(Event { kind: EventKind::Remove(_) | EventKind::Modify(ModifyKind::Name(_)), paths, .. }) => {
                let lost: Vec<PathBuf> =
                    paths.iter().filter(|path| watched.directories.contains(*path)).cloned().collect();
                watched.lost.extend(lost);
            }
            Ok(_) => {}
            Err(_) => watched.are_all_lost = true,
        }
    }

    fn is_of_interest(&self, path: &Path) -> bool {
        // A commit or a checkout changes HEAD and replaces the index. Lock files are not relevant.
        if let Some(inside) = self.git.as_ref().and_then(|git| path.strip_prefix(git).ok()) {
            return inside.extension().is_none_or(|extension| extension != "lock") && inside.iter().count() <= 1;
        }
        let Ok(inside) = path.strip_prefix(&self.root) else { return false };
        match inside.iter().next().and_then(|part| part.to_str()) {
            // This program writes to its own directory.
            Some(ProjectDirectory::NAME) => false,
            _ if EACH_DIRECTORY => true,
            _ => {
                let watched = self.watched.lock().unwrap_or_else(PoisonError::into_inner);
                path.parent().is_some_and(|parent| watched.directories.contains(parent))
            }
        }
    }
}
