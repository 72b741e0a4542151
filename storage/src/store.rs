//! Access to an LMDB environment. LMDB provides the transactions, and this crate reads the data file through a separate
//! map.

use std::collections::HashMap;
use std::io::{self, Read as _};
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering, fence};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::thread;
use std::time::Duration;

use aurora_confined::Directory;
use aurora_lmdb_pages::{Cursor, Mark, Meta, MetaError, Pages, Unsealed, missing_pages_are_free};
use heed::{EnvFlags, RoTxn, WithoutTls};
use memmap2::Mmap;

use crate::error::StorageError;
use crate::opening::{LMDB_LOCK, OpenMode, lock_new_file, open_lmdb, prepare, reserve_lock_file};
use crate::project::{DATA, Identity, ProjectDirectory, identity};

/// Maximum number of attempts to begin a read while other processes commit.
pub(crate) const MAX_ATTEMPTS: usize = 100;
/// Number of times that the previous generation must seem to be newer than the current one, and the time between.
const MAX_CHECKS: usize = 50;
const CHECK_INTERVAL: Duration = Duration::from_millis(2);

/// Maximum number of attempts to open an environment while its lock file has an older transaction number than the data
/// file.
const MAX_REOPENINGS: usize = 1000;
/// Number of attempts after which a lock file that is one transaction behind is accepted.
const MAX_ATTEMPTS_BEHIND: usize = 10;
/// Time between two attempts.
const REOPEN_DELAY: Duration = Duration::from_millis(1);

/// Stores that are open in this process. LMDB must not open a file twice.
static OPEN: Mutex<Option<HashMap<PathBuf, Weak<IndexStore>>>> = Mutex::new(None);

/// One LMDB environment.
///
/// LMDB's map has its final size from the start. LMDB can replace its map only while the process has no open
/// transaction, but snapshots and the writer keep read transactions open.
pub(crate) struct IndexStore {
    /// The data file, for messages.
    pub(crate) data: PathBuf,
    /// The directory that contains the environment's directory, the writer's lock file and temporary files.
    pub(crate) home: Directory,
    /// Name of the directory of the data file in `home`.
    name: &'static str,
    pub(crate) lmdb: heed::Env<WithoutTls>,
    /// Identity of the data file. No other file can have the same identity as long as the file is open.
    opened: Option<Identity>,
    /// Whether LMDB uses no lock file, so that readers have no slot in its reader table.
    pub(crate) unlocked: bool,
    /// Whether the structure of the file is known to be valid, so that a write needs no check of the whole file.
    valid: AtomicBool,
}

/// The data file, restricted to the pages of one generation.
pub(crate) struct Mapped {
    /// Keeps the slot in LMDB's reader table, so that the pages of the generation do not change.
    _transaction: Option<Mutex<RoTxn<'static, WithoutTls>>>,
    bytes: Content,
    /// The meta page of the generation.
    pub(crate) meta: Meta,
    unsealed: Unsealed,
}

/// Location of the row with the number of the transaction that wrote a generation: table name, mark of the table, and
/// key.
pub(crate) type Signature<'a> = (&'a str, Mark, &'a [u8]);

/// The bytes of a data file.
pub(crate) enum Content {
    Map(Mmap),
    /// The file is read into memory if no slot in the reader table protects its pages, or if it is empty.
    Copy(Vec<u8>),
}

impl Deref for Content {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Self::Map(map) => map,
            Self::Copy(bytes) => bytes,
        }
    }
}

impl IndexStore {
    /// Opens the environment in the directory `name` of `home`. If this process has already opened it, returns the same
    /// handle. When an environment other than an index is created, only its owner gets permissions.
    ///
    /// # Errors
    /// Returns [`StorageError::Replaced`] if this process still has another file open that was at this path before.
    /// heed opens a path only once, so the older file must be closed first. Returns other errors if the files cannot be
    /// opened or are not a valid environment.
    pub(crate) fn open(
        name: &'static str,
        home: &Directory,
        mode: OpenMode,
        flags: EnvFlags,
    ) -> Result<Arc<Self>, StorageError> {
        let path = home.path().join(name);
        let data = path.join(DATA);
        let directory = match mode {
            OpenMode::Create if ProjectDirectory::INDEXES.contains(&name) => home.create_directory(name),
            OpenMode::Create => home.create_private_directory(name),
            OpenMode::Existing => home.open_directory(name),
        };
        let directory = match directory {
            Ok(directory) => directory,
            Err(error) if error.kind() == io::ErrorKind::NotFound && mode == OpenMode::Existing => {
                return Err(StorageError::NoIndex { path });
            }
            Err(error) if error.kind() == io::ErrorKind::NotADirectory => {
                return Err(StorageError::Foreign { path, reason: "it is a file".to_owned() });
            }
            Err(error) if mode == OpenMode::Existing => return Err(StorageError::read(&path, error)),
            Err(error) => return Err(StorageError::io(&path, error)),
        };
        let real = path.canonicalize().map_err(|error| StorageError::io(&path, error))?;
        let mut guard = OPEN.lock().unwrap_or_else(PoisonError::into_inner);
        prepare(&directory, mode)?;
        let open = guard.get_or_insert_default();
        open.retain(|_, store| store.strong_count() > 0);
        if let Some(store) = open.get(&real).and_then(Weak::upgrade) {
            // The directory of the open store may have been renamed or deleted since it was opened.
            let is_same = identity(home, name) == store.opened;
            return if is_same { Ok(store) } else { Err(StorageError::Replaced { path }) };
        }
        let _creating = match mode {
            OpenMode::Create => lock_new_file(home, &directory)?,
            OpenMode::Existing => None,
        };
        inspect(&directory)?;
        reserve_lock_file(&directory)?;
        let (lmdb, unlocked) = open_current(&directory, &real, mode, flags)?;
        let home = home.clone();
        let opened = identity(&home, name);
        let store = Arc::new(Self { data, home, name, lmdb, opened, unlocked, valid: AtomicBool::new(false) });
        open.insert(real, Arc::downgrade(&store));
        Ok(store)
    }

    /// Returns an error if the data file was replaced by another one.
    pub(crate) fn check_current(&self) -> Result<(), StorageError> {
        if identity(&self.home, self.name) == self.opened {
            Ok(())
        } else {
            Err(StorageError::Replaced { path: self.data.clone() })
        }
    }

    /// Whether other processes may be reading. The result is correct only if this process has just opened the store and
    /// has not read it yet.
    ///
    /// LMDB reports the number of reader slots that have been in use since the first process opened the file. Opening
    /// the file here uses one slot. If no other process reads, this is the first slot.
    pub(crate) fn is_read_by_others(&self) -> bool {
        self.unlocked || self.lmdb.info().number_of_readers > 1
    }

    /// Whether the structure is known to be valid. See [`Self::set_valid`].
    pub(crate) fn is_valid(&self) -> bool {
        self.valid.load(Ordering::Acquire)
    }

    /// Records that the structure is valid: the whole structure has been checked, or only LMDB has changed the file.
    pub(crate) fn set_valid(&self) {
        self.valid.store(true, Ordering::Release);
    }

    /// Returns the path of the data file relative to `home`.
    fn relative(&self) -> PathBuf {
        Path::new(self.name).join(DATA)
    }

    /// Returns the length of the data file in bytes.
    pub(crate) fn length(&self) -> Result<u64, StorageError> {
        let metadata = self.home.metadata(self.relative());
        metadata.map(|metadata| metadata.len).map_err(|error| StorageError::io(&self.data, error))
    }

    /// Extends the data file to `length` bytes. The new bytes are zero.
    pub(crate) fn extend(&self, length: u64) -> Result<(), StorageError> {
        let file = self.home.open_for_writing(self.relative());
        file.and_then(|file| file.set_len(length)).map_err(|error| StorageError::io(&self.data, error))
    }

    /// Begins a read transaction, and maps the file at its current length. If LMDB uses no lock file, copies the file.
    pub(crate) fn read(&self) -> Result<Mapped, StorageError> {
        // An attempt fails if other processes commit while it reads the meta page or copies the file. The next attempt
        // reads a newer generation.
        for _ in 0..MAX_ATTEMPTS {
            if let Some(mapped) = if self.unlocked { self.try_copy()? } else { self.try_map()? } {
                return Ok(mapped);
            }
        }
        let what = "its meta pages contradict each other".to_owned();
        Err(StorageError::Damaged { path: self.data.clone(), what })
    }

    fn try_map(&self) -> Result<Option<Mapped>, StorageError> {
        let transaction = self.begin()?;
        let bytes = map(&self.home, &self.relative())?;
        let meta = Meta::for_transaction(&bytes, transaction.id() as u64)
            .map_err(|error| meta_error(&self.data, bytes.len() as u64, error))?;
        // The second transaction after this one overwrites the same meta page, and writes its own number last. It
        // begins only after the first transaction after this one has ended. So if there is no newer transaction, no
        // writer has changed the meta page while it was read.
        fence(Ordering::SeqCst);
        let is_newest = self.begin()?.id() == transaction.id();
        let meta = meta.filter(|_| is_newest);
        Ok(meta.map(|meta| Mapped::new(Some(Mutex::new(transaction)), bytes, meta)))
    }

    /// Copies the file. The pages of a generation are not reused before the second commit after it, so the copy is
    /// consistent if at most one commit happened while the file was copied.
    fn try_copy(&self) -> Result<Option<Mapped>, StorageError> {
        let newest = || -> Result<Meta, StorageError> {
            let bytes = map(&self.home, &self.relative())?;
            Meta::newest(&bytes).map_err(|error| meta_error(&self.data, bytes.len() as u64, error))
        };
        let meta = newest()?;
        let mut bytes = Vec::new();
        let read = self.home.open_file(self.relative()).and_then(|mut file| file.read_to_end(&mut bytes));
        read.map_err(|error| StorageError::read(&self.data, error))?;
        let whole = newest()?.transaction <= meta.transaction + 1;
        Ok(whole.then(|| Mapped::new(None, Content::Copy(bytes), meta)))
    }

    fn begin(&self) -> Result<RoTxn<'static, WithoutTls>, StorageError> {
        self.lmdb.clone().static_read_txn().map_err(|error| StorageError::lmdb(&self.data, error))
    }
}

impl Mapped {
    fn new(transaction: Option<Mutex<RoTxn<'static, WithoutTls>>>, bytes: Content, meta: Meta) -> Self {
        let present = bytes.len() / meta.page_size;
        let unsealed = Unsealed::new((present as u64).min(meta.last_page + 1));
        Self { _transaction: transaction, bytes, meta, unsealed }
    }

    /// Whether the signature of the previous generation contains a later transaction number than this generation. In
    /// that case, a number in the meta pages was changed, and what seems to be the newest generation is an older one.
    pub(crate) fn is_rolled_back(
        &self,
        (table, mark, key): Signature<'_>,
        transaction: impl Fn(&[u8]) -> Option<u64>,
    ) -> bool {
        // If the previous generation cannot be read, there is nothing to compare. Nothing else is read from it.
        let signed = || {
            let (pages, before) = self.meta.before(self.pages()).filter(|_| self.is_protected())?;
            let tree = Cursor::named(pages, before.main, table).ok()??;
            transaction(Cursor::get(pages, tree.with_seal(Some(mark)), key).ok()??)
        };
        // A commit in progress writes the number of the previous meta page last. Until then, the page seems to belong to
        // an older generation, but contains the tables of a newer one.
        (0..MAX_CHECKS).all(|check| {
            if check > 0 {
                thread::sleep(CHECK_INTERVAL);
            }
            signed().is_some_and(|signed| signed > self.meta.transaction)
        })
    }

    /// Whether a slot in the reader table protects the pages of this generation and of the previous one from changes.
    fn is_protected(&self) -> bool {
        self._transaction.is_some()
    }

    /// Returns the pages of the generation.
    pub(crate) fn pages(&self) -> Pages<'_> {
        self.meta.pages(&self.bytes, &self.unsealed)
    }
}

/// Checks a data file before LMDB maps it: it must be an LMDB file, and at least as long as its meta pages state. An
/// empty file is accepted, because only the process that creates the file can find it empty here. Missing pages at the
/// end are accepted if they are free.
fn inspect(directory: &Directory) -> Result<(), StorageError> {
    let data = &directory.path().join(DATA);
    let map = || map(directory, Path::new(DATA));
    let first = map()?;
    if first.is_empty() {
        return Ok(());
    }
    let newest = Meta::newest(&first).map_err(|error| meta_error(data, first.len() as u64, error))?;
    if newest.extent() <= first.len() as u64 {
        return Ok(());
    }
    // A writer may have extended the file after it was mapped above and before its meta pages were read. Map it again.
    let map = map()?;
    if newest.extent() <= map.len() as u64 {
        return Ok(());
    }
    let unsealed = Unsealed::new(0);
    match missing_pages_are_free(&newest.pages(&map, &unsealed), &newest) {
        Ok(true) => Ok(()),
        Ok(false) | Err(_) => {
            Err(StorageError::Truncated { path: data.to_owned(), expected: newest.extent(), actual: map.len() as u64 })
        }
    }
}

/// Opens LMDB, and ensures that its lock file contains the number of the newest transaction. Returns `true` if LMDB
/// uses no lock file.
///
/// The first process that opens an environment resets the number in the lock file to 0, and then sets it to the number
/// in the newest meta page (`mdb_env_setup_locks`, `mdb_env_share_locks`). A second process that opens the environment
/// in the meantime waits, and does not check the number. If the first process is killed between the two steps, the
/// second process would read an empty database, and its first transaction would overwrite a meta page. In that case,
/// this function closes the environment and opens it again.
fn open_current(
    directory: &Directory,
    path: &Path,
    mode: OpenMode,
    flags: EnvFlags,
) -> Result<(heed::Env<WithoutTls>, bool), StorageError> {
    let data = directory.path().join(DATA);
    for attempt in 0..MAX_REOPENINGS {
        let lmdb = open_lmdb(path, &data, mode, flags)?;
        let unlocked = lmdb.get_flags().is_ok_and(|flags| flags & EnvFlags::NO_LOCK.bits() != 0);
        if unlocked {
            return Ok((lmdb, unlocked));
        }
        let bytes = map(directory, Path::new(DATA))?;
        let newest = Meta::newest(&bytes).map_err(|error| meta_error(&data, bytes.len() as u64, error))?;
        let known = lmdb.read_txn().map_err(|error| StorageError::lmdb(&data, error))?.id() as u64;
        // A writer has written its meta page, but has not set the number yet or was killed before it could. The next
        // writer sets it.
        let is_one_behind = known > 0 && newest.transaction == known + 1;
        if newest.transaction <= known || is_one_behind && attempt >= MAX_ATTEMPTS_BEHIND {
            return Ok((lmdb, unlocked));
        }
        drop(lmdb);
        std::thread::sleep(REOPEN_DELAY);
    }
    Err(StorageError::StaleLock { path: directory.path().join(LMDB_LOCK) })
}

/// Maps the whole file at a path below a directory.
fn map(directory: &Directory, path: &Path) -> Result<Content, StorageError> {
    let read = || -> io::Result<Content> {
        let file = directory.open_file(path)?;
        if file.metadata()?.len() == 0 {
            return Ok(Content::Copy(Vec::new()));
        }
        // SAFETY: the bytes that references point to must neither change nor be unmapped. LMDB does not write to the
        // pages of a generation that has a slot in the reader table, nor to the pages of the generation before it, and
        // it never truncates the file. Without a slot in the table, only meta pages are read from a map. Meta pages can
        // change while they are read. They are copied as integers, and a torn meta page is recognised by its
        // transaction number. A program that writes to the file or truncates it violates this condition.
        // `docs/guides/security.md` lists this case under "not guaranteed".
        unsafe { Mmap::map(&file) }.map(Content::Map)
    };
    read().map_err(|error| {
        let path = directory.path().join(path);
        match error.kind() {
            io::ErrorKind::OutOfMemory => StorageError::MapFull { path },
            _ => StorageError::read(&path, error),
        }
    })
}

/// Converts an error of reading the meta pages of a data file of `actual` bytes.
fn meta_error(data: &Path, actual: u64, error: MetaError) -> StorageError {
    let path = data.to_owned();
    match error {
        MetaError::Foreign(reason) => StorageError::Foreign { path, reason: reason.to_owned() },
        MetaError::Short(expected) => StorageError::Truncated { path, expected, actual },
    }
}
