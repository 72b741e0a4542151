//! The store of all sessions of a directory.

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

/// Directory of the sessions in the directory of the store.
const SESSIONS: &str = "sessions";
/// Lock file of the process that writes the store.
const LOCK: &str = "lock";
/// File with the next unused session number.
const NEXT: &str = "next";
/// Maximum number of open sessions. Beyond it, the least recently used idle session is closed.
const MAX_OPEN_SESSIONS: usize = 128;
/// Interval at which a request checks whether another request has finished opening a session.
const POLL_INTERVAL: Duration = Duration::from_millis(2);

/// The sessions of a directory. One process at a time may change them; others read the published changes.
pub struct ArticleStore {
    home: Directory,
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
    /// Number of uses so far.
    clock: u64,
}

struct OpenSession {
    /// Opened by the first request that takes the lock.
    session: Arc<Mutex<Option<Arc<Session>>>>,
    used: u64,
}

impl OpenSession {
    /// Whether no request uses the session, so that it can be closed.
    fn is_idle(&self) -> bool {
        let session = self.session.try_lock();
        Arc::strong_count(&self.session) == 1
            && session.is_ok_and(|session| session.as_ref().is_none_or(Session::is_idle))
    }
}

impl ArticleStore {
    /// Opens the store in a directory, and creates the directory if it does not exist. Only the user may read it.
    ///
    /// # Errors
    /// [`ArticleError::Locked`] if another process has the store, or an error when it cannot be created.
    pub fn open(path: &Path) -> Result<Self, ArticleError> {
        let home = Directory::create_private_root(path).map_err(ArticleError::io(path.to_owned()))?;
        let lock = home.open_or_create(LOCK).map_err(ArticleError::io(path.join(LOCK)))?;
        if lock.try_lock().is_err() {
            return Err(ArticleError::Locked(path.to_owned()));
        }
        home.make_private();
        let sessions = home.create_directory(SESSIONS).map_err(ArticleError::io(path.join(SESSIONS)))?;
        Ok(Self::new(home, sessions, Some(lock)))
    }

    /// Opens an existing store for searches only. Another process may write it.
    ///
    /// # Errors
    /// When it cannot be opened.
    pub fn open_read_only(path: &Path) -> Result<Self, ArticleError> {
        let home = Directory::open_root(path).map_err(ArticleError::io(path.to_owned()))?;
        let sessions = home.open_directory(SESSIONS).map_err(ArticleError::io(path.join(SESSIONS)))?;
        Ok(Self::new(home, sessions, None))
    }

    fn new(home: Directory, sessions: Directory, lock: Option<File>) -> Self {
        Self {
            home,
            sessions,
            registry: Arc::new(source::registry()),
            slots: Arc::default(),
            lock,
            state: Mutex::default(),
        }
    }

    /// Whether this process may change the sessions.
    pub fn is_writable(&self) -> bool {
        self.lock.is_some()
    }

    /// Creates a session and returns its number.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn create(&self) -> Result<u64, ArticleError> {
        let _state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let noted = read_next(&self.home, NEXT)?.unwrap_or(1);
        let id = self.ids()?.last().map_or(1, |last| last + 1).max(noted);
        let make = || {
            self.home.replace(NEXT, |file| writeln!(file, "{}", id + 1).and_then(|()| file.sync_data()))?;
            self.home.synchronise()?;
            self.sessions.create_directory(id.to_string())?;
            self.sessions.synchronise()
        };
        make().map_err(ArticleError::io(self.path_of(id)))?;
        Ok(id)
    }

    /// The numbers of the sessions, ascending.
    ///
    /// # Errors
    /// When the directory cannot be read.
    pub fn ids(&self) -> Result<Vec<u64>, ArticleError> {
        let entries = self.sessions.entries().map_err(ArticleError::io(self.sessions.path().to_owned()))?;
        let directories = entries.iter().filter(|(_, kind)| *kind == EntryKind::Directory);
        let mut ids: Vec<u64> = directories.filter_map(|(name, _)| parse_id(name.to_str()?)).collect();
        ids.sort_unstable();
        Ok(ids)
    }

    /// Returns a session, and opens it at its first use.
    ///
    /// # Errors
    /// [`ArticleError::NoSession`], or an error when the session cannot be opened before the request is cancelled.
    pub fn session(&self, id: u64, cancel: &CancelToken) -> Result<Arc<Session>, ArticleError> {
        let slot = self.slot(id);
        let mut session = lock_slot(&slot, cancel)?;
        if let Some(open) = session.take_if(|open| open.is_gone()) {
            // The writing process or a user has removed it.
            open.close();
        }
        if let Some(session) = session.as_ref() {
            return Ok(Arc::clone(session));
        }
        if !self.has(id) {
            return Err(ArticleError::NoSession(id));
        }
        let opened = match self.sessions.open_directory(id.to_string()) {
            // The writing process has not opened it yet.
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

    /// Removes a session with all of its articles.
    ///
    /// # Errors
    /// [`ArticleError::NoSession`], or an error when the session cannot be removed before the request is cancelled.
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

    /// The slot of a session, which is empty until the session is opened.
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

/// Locks a slot. Another request may be opening the session, which can take longer than this request may take.
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
        // A child process that is being started shares the open file, so closing it is not enough.
        let _ = self.lock.as_ref().map(File::unlock);
    }
}
