//! The store of all sessions in a directory.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};
use std::time::Duration;

use aurora_confined::{Directory, EntryKind};
use aurora_pipeline::{CancelToken, Registry};

use crate::articles::{parse_id, read_next};
use crate::error::ArticleError;
use crate::run_slots::RunSlots;
use crate::session::Session;
use crate::source;

/// Name of the sessions' directory inside the store's directory.
const SESSIONS: &str = "sessions";
/// Name of the lock file. The process that writes the store holds the lock on this file.
const LOCK: &str = "lock";
/// Name of the file with the next unused session number.
const NEXT: &str = "next";
/// Number of open sessions at which the store closes the least recently used idle session before it opens another one.
/// If no open session is idle, the store exceeds this number.
const MAX_OPEN_SESSIONS: usize = 128;
/// Interval at which a request checks whether another request has finished opening a session.
const POLL_INTERVAL: Duration = Duration::from_millis(2);

/// The sessions in a directory. Only one process at a time can open the store for writing. Other processes can open it
/// read-only and see the published changes.
pub struct ArticleStore {
    directory: Directory,
    sessions: Directory,
    registry: Arc<Registry>,
    slots: Arc<RunSlots>,
    /// The lock, held while the store is open for writing; `None` if the store is read-only.
    lock: Option<File>,
    state: Mutex<StoreState>,
}

#[derive(Default)]
struct StoreState {
    open: HashMap<u64, OpenSession>,
    /// Number of requests for a session so far. It orders sessions by their last use.
    clock: u64,
}

struct OpenSession {
    /// The session; `None` until the first request that locks the mutex has opened it.
    session: Arc<Mutex<Option<Arc<Session>>>>,
    /// Value of [`StoreState::clock`] at the last use.
    used: u64,
}

impl OpenSession {
    /// Returns `true` if no request uses the session, so that it can be closed.
    fn is_idle(&self) -> bool {
        let session = self.session.try_lock();
        Arc::strong_count(&self.session) == 1
            && session.is_ok_and(|session| session.as_ref().is_none_or(Session::is_idle))
    }
}

impl ArticleStore {
    /// Opens the store in a directory for writing. Creates the directory if it does not exist, with access only for the
    /// user.
    ///
    /// # Errors
    /// Returns [`ArticleError::Locked`] if another process has opened the store for writing. Fails if the store cannot
    /// be created.
    pub fn open(path: &Path) -> Result<Self, ArticleError> {
        let directory = Directory::create_private_root(path).map_err(ArticleError::io(path.to_owned()))?;
        let lock = directory.open_or_create(LOCK).map_err(ArticleError::io(path.join(LOCK)))?;
        if lock.try_lock().is_err() {
            return Err(ArticleError::Locked(path.to_owned()));
        }
        directory.make_private();
        let sessions = directory.create_directory(SESSIONS).map_err(ArticleError::io(path.join(SESSIONS)))?;
        Ok(Self::new(directory, sessions, Some(lock)))
    }

    /// Opens an existing store for searches only. Another process can write to the store at the same time.
    ///
    /// # Errors
    /// Fails if the store does not exist or cannot be opened.
    pub fn open_read_only(path: &Path) -> Result<Self, ArticleError> {
        let directory = Directory::open_root(path).map_err(ArticleError::io(path.to_owned()))?;
        let sessions = directory.open_directory(SESSIONS).map_err(ArticleError::io(path.join(SESSIONS)))?;
        Ok(Self::new(directory, sessions, None))
    }

    fn new(directory: Directory, sessions: Directory, lock: Option<File>) -> Self {
        Self {
            directory,
            sessions,
            registry: Arc::new(source::registry()),
            slots: Arc::default(),
            lock,
            state: Mutex::default(),
        }
    }

    /// Returns `true` if the store was opened for writing.
    pub fn is_writable(&self) -> bool {
        self.lock.is_some()
    }

    /// Creates a session and returns its number.
    ///
    /// # Errors
    /// Fails if the store cannot be written.
    pub fn create(&self) -> Result<u64, ArticleError> {
        let _state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let noted = read_next(&self.directory, NEXT)?.unwrap_or(1);
        let id = self.ids()?.last().map_or(1, |last| last + 1).max(noted);
        let make = || {
            self.directory.replace(NEXT, |file| writeln!(file, "{}", id + 1).and_then(|()| file.sync_data()))?;
            self.directory.synchronise()?;
            self.sessions.create_directory(id.to_string())?;
            self.sessions.synchronise()
        };
        make().map_err(ArticleError::io(self.path_of(id)))?;
        Ok(id)
    }

    /// Returns the numbers of all sessions in ascending order.
    ///
    /// # Errors
    /// Fails if the directory cannot be read.
    pub fn ids(&self) -> Result<Vec<u64>, ArticleError> {
        let entries = self.sessions.entries().map_err(ArticleError::io(self.sessions.path().to_owned()))?;
        let directories = entries.iter().filter(|(_, kind)| *kind == EntryKind::Directory);
        let mut ids: Vec<u64> = directories.filter_map(|(name, _)| parse_id(name.to_str()?)).collect();
        ids.sort_unstable();
        Ok(ids)
    }

    /// Returns a session. Opens the session if it is not open.
    ///
    /// # Errors
    /// Returns [`ArticleError::NoSession`] if the session does not exist, and [`ArticleError::Cancelled`] if the
    /// request is cancelled first. Fails if the session cannot be opened.
    pub fn session(&self, id: u64, cancel: &CancelToken) -> Result<Arc<Session>, ArticleError> {
        let slot = self.slot(id);
        let mut session = lock_slot(&slot, cancel)?;
        if let Some(open) = session.take_if(|open| open.is_gone()) {
            // The process that writes the store, or a user, has removed the session's directory.
            open.close();
        }
        if let Some(session) = session.as_ref() {
            return Ok(Arc::clone(session));
        }
        if !self.has(id) {
            return Err(ArticleError::NoSession(id));
        }
        let opened = match self.sessions.open_directory(id.to_string()) {
            // The process that writes the store has not opened the session yet, so the session has no index.
            Ok(directory) if !self.is_writable() && !Session::has_been_opened(&directory) => {
                Err(ArticleError::NoSession(id))
            }
            Ok(directory) => {
                let shared = (Arc::clone(&self.registry), Arc::clone(&self.slots));
                Session::open(id, directory, shared, !self.is_writable(), cancel)
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => Err(ArticleError::NoSession(id)),
            Err(error) => Err(ArticleError::io(self.path_of(id))(error)),
        };
        Ok(Arc::clone(session.insert(Arc::new(opened?))))
    }

    /// Removes a session and all of its articles.
    ///
    /// # Errors
    /// Returns [`ArticleError::NoSession`] if the session does not exist, and [`ArticleError::Cancelled`] if the
    /// request is cancelled first. Fails if the session cannot be removed.
    pub fn remove(&self, id: u64, cancel: &CancelToken) -> Result<(), ArticleError> {
        let slot = self.slot(id);
        let mut session = lock_slot(&slot, cancel)?;
        if let Some(session) = session.take() {
            session.close();
        }
        if !self.has(id) {
            return Err(ArticleError::NoSession(id));
        }
        let remove = || {
            self.sessions.remove(id.to_string())?;
            self.sessions.synchronise()
        };
        remove().map_err(ArticleError::io(self.path_of(id)))
    }

    /// Returns the slot of a session. The slot is `None` until the session is opened.
    fn slot(&self, id: u64) -> Arc<Mutex<Option<Arc<Session>>>> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.clock += 1;
        let used = state.clock;
        if state.open.len() >= MAX_OPEN_SESSIONS && !state.open.contains_key(&id) {
            let idle = state.open.iter().filter(|(_, open)| open.is_idle());
            let oldest = idle.min_by_key(|(_, open)| open.used).map(|(&oldest, _)| oldest);
            oldest.and_then(|oldest| state.open.remove(&oldest));
        }
        let open = state.open.entry(id).or_insert_with(|| OpenSession { session: Arc::default(), used });
        open.used = used;
        Arc::clone(&open.session)
    }

    fn has(&self, id: u64) -> bool {
        self.sessions.metadata(id.to_string()).is_ok_and(|found| found.kind == EntryKind::Directory)
    }

    fn path_of(&self, id: u64) -> PathBuf {
        self.sessions.path().join(id.to_string())
    }
}

/// Locks a slot. Polls the lock, because another request may hold it for a long time while it opens the session, and
/// this request can be cancelled in the meantime.
fn lock_slot<'p>(
    slot: &'p Mutex<Option<Arc<Session>>>,
    cancel: &CancelToken,
) -> Result<MutexGuard<'p, Option<Arc<Session>>>, ArticleError> {
    loop {
        match slot.try_lock() {
            Ok(session) => return Ok(session),
            Err(TryLockError::Poisoned(session)) => return Ok(session.into_inner()),
            Err(TryLockError::WouldBlock) if cancel.is_cancelled() => return Err(ArticleError::Cancelled),
            Err(TryLockError::WouldBlock) => std::thread::sleep(POLL_INTERVAL),
        }
    }
}

impl Drop for ArticleStore {
    fn drop(&mut self) {
        // Closing the file is not enough, because a child process that is just being started may have inherited the
        // open file and, with it, the lock.
        let _ = self.lock.as_ref().map(File::unlock);
    }
}
