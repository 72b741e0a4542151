//! All sessions of a directory.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};
use std::time::Duration;

use aurora_confined::{Directory, EntryKind};
use aurora_pipeline::{CancelToken, Registry};

use crate::articles::{parse_id, read_next};
use crate::error::KnowledgeError;
use crate::run_slots::RunSlots;
use crate::session::Session;
use crate::source;

/// Directory of the sessions in that of the store.
const SESSIONS: &str = "sessions";
/// Held by the process that has the store.
const LOCK: &str = "lock";
/// Holds the least number that no session has had.
const NEXT: &str = "next";
/// Sessions that stay open; of more, those that were not used for the longest time are closed.
const MOST_OPEN: usize = 128;
/// Interval at which a request checks whether a session that another request opens can be used.
const LOOK: Duration = Duration::from_millis(2);

/// The sessions of a directory. One process at a time may change them; others read what it has published.
pub struct KnowledgeStore {
    home: Directory,
    sessions: Directory,
    registry: Arc<Registry>,
    slots: Arc<RunSlots>,
    /// Held for as long as the store is open; nothing where it is only read.
    lock: Option<File>,
    state: Mutex<StoreState>,
}

#[derive(Default)]
struct StoreState {
    open: HashMap<u64, OpenSession>,
    /// Counts uses.
    clock: u64,
}

struct OpenSession {
    /// Opened by the first one that takes the lock.
    session: Arc<Mutex<Option<Arc<Session>>>>,
    used: u64,
}

impl OpenSession {
    /// Whether nobody uses it, so that it can be closed.
    fn is_idle(&self) -> bool {
        let session = self.session.try_lock();
        Arc::strong_count(&self.session) == 1
            && session.is_ok_and(|session| session.as_ref().is_none_or(Session::is_idle))
    }
}

impl KnowledgeStore {
    /// Opens the store in a directory, and creates the directory if it does not exist. Only the user may read it.
    ///
    /// # Errors
    /// [`KnowledgeError::Taken`] if another process has it, or that it cannot be created.
    pub fn open(path: &Path) -> Result<Self, KnowledgeError> {
        let home = Directory::create_private_root(path).map_err(KnowledgeError::io(path.to_owned()))?;
        let lock = home.open_or_create(LOCK).map_err(KnowledgeError::io(path.join(LOCK)))?;
        if lock.try_lock().is_err() {
            return Err(KnowledgeError::Taken(path.to_owned()));
        }
        home.make_private();
        let sessions = home.create_directory(SESSIONS).map_err(KnowledgeError::io(path.join(SESSIONS)))?;
        Ok(Self::of(home, sessions, Some(lock)))
    }

    /// Opens a store that is there, for searches only. Another process may write it.
    ///
    /// # Errors
    /// When it cannot be opened.
    pub fn reading(path: &Path) -> Result<Self, KnowledgeError> {
        let home = Directory::open_root(path).map_err(KnowledgeError::io(path.to_owned()))?;
        let sessions = home.open_directory(SESSIONS).map_err(KnowledgeError::io(path.join(SESSIONS)))?;
        Ok(Self::of(home, sessions, None))
    }

    fn of(home: Directory, sessions: Directory, lock: Option<File>) -> Self {
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

    /// Makes a session and returns its number.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn create(&self) -> Result<u64, KnowledgeError> {
        let _state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let noted = read_next(&self.home, NEXT)?.unwrap_or(1);
        let id = self.ids()?.last().map_or(1, |last| last + 1).max(noted);
        let make = || {
            self.home.replace(NEXT, |file| writeln!(file, "{}", id + 1).and_then(|()| file.sync_data()))?;
            self.home.synchronise()?;
            self.sessions.create_directory(id.to_string())?;
            self.sessions.synchronise()
        };
        make().map_err(KnowledgeError::io(self.path_of(id)))?;
        Ok(id)
    }

    /// The numbers of the sessions, ascending.
    ///
    /// # Errors
    /// When the directory cannot be read.
    pub fn ids(&self) -> Result<Vec<u64>, KnowledgeError> {
        let entries = self.sessions.entries().map_err(KnowledgeError::io(self.sessions.path().to_owned()))?;
        let directories = entries.iter().filter(|(_, kind)| *kind == EntryKind::Directory);
        let mut ids: Vec<u64> = directories.filter_map(|(name, _)| parse_id(name.to_str()?)).collect();
        ids.sort_unstable();
        Ok(ids)
    }

    /// A session, which is opened at its first use.
    ///
    /// # Errors
    /// [`KnowledgeError::NoSession`], or that it cannot be opened before the request is cancelled.
    pub fn session(&self, id: u64, cancel: &CancelToken) -> Result<Arc<Session>, KnowledgeError> {
        let place = self.place(id);
        let mut session = locked(&place, cancel)?;
        if let Some(open) = session.take_if(|open| open.is_gone()) {
            // The process that writes has removed it, or somebody has by hand.
            open.close();
        }
        if let Some(session) = session.as_ref() {
            return Ok(Arc::clone(session));
        }
        if !self.has(id) {
            return Err(KnowledgeError::NoSession(id));
        }
        let opened = match self.sessions.open_directory(id.to_string()) {
            // The process that writes has not opened it yet.
            Ok(directory) if !self.is_writable() && !Session::has_been_opened(&directory) => {
                Err(KnowledgeError::NoSession(id))
            }
            Ok(directory) => {
                let shared = (Arc::clone(&self.registry), Arc::clone(&self.slots));
                Session::open(id, directory, shared, !self.is_writable(), cancel)
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => Err(KnowledgeError::NoSession(id)),
            Err(error) => Err(KnowledgeError::io(self.path_of(id))(error)),
        };
        Ok(Arc::clone(session.insert(Arc::new(opened?))))
    }

    /// Removes a session with all of its articles.
    ///
    /// # Errors
    /// [`KnowledgeError::NoSession`], or that it cannot be removed before the request is cancelled.
    pub fn remove(&self, id: u64, cancel: &CancelToken) -> Result<(), KnowledgeError> {
        let place = self.place(id);
        let mut session = locked(&place, cancel)?;
        if let Some(session) = session.take() {
            session.close();
        }
        if !self.has(id) {
            return Err(KnowledgeError::NoSession(id));
        }
        let remove = || {
            self.sessions.remove(id.to_string())?;
            self.sessions.synchronise()
        };
        remove().map_err(KnowledgeError::io(self.path_of(id)))
    }

    /// The place of an open session, which may be empty yet.
    fn place(&self, id: u64) -> Arc<Mutex<Option<Arc<Session>>>> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.clock += 1;
        let used = state.clock;
        if state.open.len() >= MOST_OPEN && !state.open.contains_key(&id) {
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

/// The session in a place. Another request may be opening it, which can take longer than this one has time.
fn locked<'p>(
    place: &'p Mutex<Option<Arc<Session>>>,
    cancel: &CancelToken,
) -> Result<MutexGuard<'p, Option<Arc<Session>>>, KnowledgeError> {
    loop {
        match place.try_lock() {
            Ok(session) => return Ok(session),
            Err(TryLockError::Poisoned(session)) => return Ok(session.into_inner()),
            Err(TryLockError::WouldBlock) if cancel.is_cancelled() => return Err(KnowledgeError::Cancelled),
            Err(TryLockError::WouldBlock) => std::thread::sleep(LOOK),
        }
    }
}

impl Drop for KnowledgeStore {
    fn drop(&mut self) {
        // A child process that is being started shares the open file, so closing it is not enough.
        let _ = self.lock.as_ref().map(File::unlock);
    }
}
