//! Watches a tree and reports that an indexed file may have changed.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use aurora_stages::index::git_directory;
use aurora_storage::ProjectDirectory;
use notify::event::ModifyKind;
use notify::{Event, EventKind, RecommendedWatcher, RecursiveMode, Watcher};

/// Whether each directory needs its own watch, as on Linux. Elsewhere, one watch covers the whole tree, and [`Filter`]
/// drops the events in directories that are not indexed.
const EACH_DIRECTORY: bool = cfg!(any(target_os = "linux", target_os = "android"));

/// Time without events before a run starts.
const QUIET_TIME: Duration = Duration::from_millis(80);
/// Maximum time that a run waits for a tree to become quiet.
const MAX_QUIET_WAIT: Duration = Duration::from_millis(600);
/// Maximum time that a run waits for a git operation to end, such as a checkout.
const MAX_GIT_WAIT: Duration = Duration::from_secs(120);
/// Name of the lock file in git's directory, which exists while git changes the work tree.
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
    /// Fails if the system does not support file events, or cannot watch this many directories.
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

    /// Adds watches for the directories that are not watched yet. Returns whether one of `directories` was
    /// added, because changes in a directory before its watch began are not reported.
    ///
    /// # Errors
    /// Fails if the system cannot watch this many directories.
    pub(crate) fn add(&mut self, directories: &[PathBuf]) -> notify::Result<bool> {
        let directories = directories.iter().map(|directory| self.root.join(directory));
        let wanted: Vec<PathBuf> = directories.chain(self.git.clone()).collect();
        // Do not hold the lock while calling the watcher, because the watcher's thread may be waiting for the lock.
        let lost = self.watched.lock().unwrap_or_else(PoisonError::into_inner).take_lost();
        // Remove old watches before adding any: a renamed directory may still be watched under its previous path.
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
                // A directory that no longer exists needs no watch.
                Err(error) if !is_gone(&error) => return Err(error),
                Err(_) => {}
            }
        }
        Ok(is_any_new)
    }

    /// Whether the tree's git directory is the same as when the watch began. Also true if the tree had no repository
    /// then and has no repository now.
    pub(crate) fn has_same_repository(&self) -> bool {
        git_directory(&self.root) == self.git
    }

    /// Waits at most `time` for a change, and then until the tree is quiet. Returns whether something may have changed.
    pub(crate) fn wait(&self, time: Duration) -> bool {
        match self.events.recv_timeout(time) {
            Ok(()) => {}
            Err(RecvTimeoutError::Timeout) => return false,
            // Unreachable, because the watcher owns the sender and lives as long as `self`.
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
            let is_git_busy = waited < MAX_GIT_WAIT && is_locked;
            if !is_git_busy && (is_quiet || waited > MAX_QUIET_WAIT) {
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
    /// Watched paths that were deleted or renamed. A watch ends when its directory is deleted, and follows the
    /// directory when it is renamed. A different directory may now exist at the old path.
    lost: HashSet<PathBuf>,
    /// Whether the watcher missed events, so that any watched path may have been deleted or renamed.
    are_all_lost: bool,
}

impl Watched {
    /// Removes and returns the directories whose watch may have ended or followed a renamed directory.
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

/// Receives file events, and sends a signal for every event that may mean a change of an indexed file.
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
            // The watcher may have missed events.
            Err(_) => true,
            Ok(event) if event.need_rescan() => true,
            Ok(event) if matches!(event.kind, EventKind::Access(_)) => false,
            Ok(event) => event.paths.iter().any(|path| self.is_of_interest(path)),
        };
        if is_of_interest {
            // Sending cannot fail, because the receiver lives as long as the watcher.
            let _ = self.sender.send(());
        }
    }

    /// Records the watched paths that the event reports as deleted or renamed, or all paths if events were missed.
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
        // A commit or a checkout changes HEAD or the index, which are directly in git's directory. Ignore lock files.
        if let Some(inside) = self.git.as_ref().and_then(|git| path.strip_prefix(git).ok()) {
            return inside.extension().is_none_or(|extension| extension != "lock") && inside.iter().count() <= 1;
        }
        let Ok(inside) = path.strip_prefix(&self.root) else { return false };
        match inside.iter().next().and_then(|part| part.to_str()) {
            // Ignore `.aurora`, because index runs write to it.
            Some(ProjectDirectory::NAME) => false,
            _ if EACH_DIRECTORY => true,
            _ => {
                let watched = self.watched.lock().unwrap_or_else(PoisonError::into_inner);
                path.parent().is_some_and(|parent| watched.directories.contains(parent))
            }
        }
    }
}
