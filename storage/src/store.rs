//! An LMDB environment as this crate reads it: transactions, and a map of the data file of its own.

use std::collections::HashMap;
use std::io::{self, Read as _};
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering, fence};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use aurora_confined::Directory;
use heed::{EnvFlags, RoTxn, WithoutTls};
use memmap2::Mmap;

use crate::btree::{Cursor, Mark, Meta, MetaError, Pages, Unsealed, missing_pages_are_free};
use crate::error::StorageError;
use crate::opening::{CreationLock, LMDB_LOCK, OpenMode, open_lmdb, prepare, reserve_lock_file};
use crate::project::{DATA, Identity, ProjectDirectory, identity};

/// How often a read is begun again because commits came between its steps.
pub(crate) const ATTEMPTS: usize = 100;

/// How often an environment is opened whose lock file has an older transaction than the data file.
const REOPENINGS: usize = 1000;
/// Attempts before a lock file that is one transaction behind is taken as it is.
const PATIENCE: usize = 10;
/// The time between.
const REOPENED_AFTER: Duration = Duration::from_millis(1);

/// Stores that are open in this process: LMDB must not open a file twice.
static OPEN: Mutex<Option<HashMap<PathBuf, Weak<IndexStore>>>> = Mutex::new(None);

/// One LMDB environment.
///
/// LMDB's map is as large when it is opened as it will ever be. It is never replaced: LMDB allows that only while no
/// transaction is open in the process, and both snapshots and the writer keep read transactions open.
pub(crate) struct IndexStore {
    /// The data file, for messages.
    pub(crate) data: PathBuf,
    /// The directory that holds lock file and temporary files.
    pub(crate) home: Directory,
    /// Name of the directory of the data file in `home`.
    name: &'static str,
    pub(crate) lmdb: heed::Env<WithoutTls>,
    /// Which file the data file was. As long as it is open no other one is the same.
    opened: Option<Identity>,
    /// Whether readers have no place in LMDB's table.
    pub(crate) unlocked: bool,
    /// Whether LMDB may write without a look at the whole structure of the file first.
    sound: AtomicBool,
}

/// The file as one generation of pages sees it.
pub(crate) struct Mapped {
    /// Holds the reader's place in LMDB's table, so that the pages stay as they are.
    _transaction: Option<Mutex<RoTxn<'static, WithoutTls>>>,
    bytes: Content,
    /// The generation of pages.
    pub(crate) meta: Meta,
    unsealed: Unsealed,
}

/// The row that says which transaction wrote a generation: its table, the table's mark, and its key.
pub(crate) type Signature<'a> = (&'a str, Mark, &'a [u8]);

/// The bytes of a data file.
pub(crate) enum Content {
    /// Nothing has been written yet.
    Empty,
    Map(Mmap),
    /// Read into memory, because no place in the reader table protects the file's pages.
    Copy(Vec<u8>),
}

impl Deref for Content {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Self::Empty => &[],
            Self::Map(map) => map,
            Self::Copy(bytes) => bytes,
        }
    }
}

impl IndexStore {
    /// Opens the environment in the directory `name` of `home`, or returns the handle that this process has already. Every
    /// environment but that of an index is created for its owner only.
    ///
    /// # Errors
    /// [`StorageError::Replaced`] if this process has the previous file at this path open: heed opens a path only once, so
    /// the previous file must be closed first.
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
            // `home` of the open store may be a directory that was renamed or deleted since.
            let is_same = identity(home, name) == store.opened;
            return if is_same { Ok(store) } else { Err(StorageError::Replaced { path }) };
        }
        let _creating = match mode {
            OpenMode::Create => CreationLock::for_new_file(home, &directory)?,
            OpenMode::Existing => None,
        };
        inspect(&directory)?;
        reserve_lock_file(&directory)?;
        let (lmdb, unlocked) = open_current(&directory, &real, mode, flags)?;
        let home = home.clone();
        let opened = identity(&home, name);
        let store = Arc::new(Self { data, home, name, lmdb, opened, unlocked, sound: AtomicBool::new(false) });
        open.insert(real, Arc::downgrade(&store));
        Ok(store)
    }

    /// Fails when another index has been put into the place of this one.
    pub(crate) fn check_current(&self) -> Result<(), StorageError> {
        if identity(&self.home, self.name) == self.opened {
            Ok(())
        } else {
            Err(StorageError::Replaced { path: self.data.clone() })
        }
    }

    /// Whether other handles or processes may be reading. To be asked of a store that has just been opened, and has not been read.
    ///
    /// LMDB counts the places in the reader table that have been in use since some process had the file open. Opening it here
    /// takes one of them, and the first one if nobody else reads.
    pub(crate) fn is_read_by_others(&self) -> bool {
        self.unlocked || self.lmdb.info().number_of_readers > 1
    }

    /// Whether the structure is known to be as LMDB has left it.
    pub(crate) fn is_sound(&self) -> bool {
        self.sound.load(Ordering::Acquire)
    }

    /// From now on it is: all of it has been checked, and only LMDB writes.
    pub(crate) fn note_sound(&self) {
        self.sound.store(true, Ordering::Release);
    }

    /// Path of the data file below `home`.
    fn relative(&self) -> PathBuf {
        Path::new(self.name).join(DATA)
    }

    /// Length of the data file in bytes.
    pub(crate) fn length(&self) -> Result<u64, StorageError> {
        let metadata = self.home.metadata(self.relative());
        metadata.map(|metadata| metadata.len).map_err(|error| StorageError::io(&self.data, error))
    }

    /// Makes the data file longer; the new bytes are zero.
    pub(crate) fn extend(&self, length: u64) -> Result<(), StorageError> {
        let file = self.home.open_for_writing(self.relative());
        file.and_then(|file| file.set_len(length)).map_err(|error| StorageError::io(&self.data, error))
    }

    /// Maps the data file as long as it is now.
    fn map(&self) -> Result<Content, StorageError> {
        map(&self.home, &self.relative())
    }

    /// Begins a read transaction, and maps the file as long as it is then.
    pub(crate) fn read(&self) -> Result<Mapped, StorageError> {
        // Two commits between two steps overwrite what was to be read: then the newer one is read.
        for _ in 0..ATTEMPTS {
            if let Some(mapped) = if self.unlocked { self.try_copy()? } else { self.try_map()? } {
                return Ok(mapped);
            }
        }
        let what = "its meta pages contradict each other".to_owned();
        Err(StorageError::Damaged { path: self.data.clone(), what })
    }

    fn try_map(&self) -> Result<Option<Mapped>, StorageError> {
        let transaction = self.begin()?;
        let bytes = self.map()?;
        let meta = Meta::of_transaction(&bytes, transaction.id() as u64)
            .map_err(|error| meta_error(&self.data, bytes.len() as u64, error))?;
        // The second transaction after writes to the same meta page, its own number last, and does not begin before the
        // first one after has ended: as long as there is no newer one, what was read is whole.
        fence(Ordering::SeqCst);
        let is_newest = self.begin()?.id() == transaction.id();
        let meta = meta.filter(|_| is_newest);
        Ok(meta.map(|meta| Mapped::new(Some(Mutex::new(transaction)), bytes, meta)))
    }

    /// Copies the file. The pages of a generation are used again by the second generation after it at
    /// the earliest, so that the copy is whole when no more than one was published meanwhile.
    fn try_copy(&self) -> Result<Option<Mapped>, StorageError> {
        let newest = || -> Result<Meta, StorageError> {
            let bytes = self.map()?;
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

    /// Whether the generation before this one, the newest, says that a later transaction wrote it: then a number in the meta
    /// pages has been changed, and what seems to be the newest generation is an earlier one.
    pub(crate) fn is_rolled_back(
        &self,
        (table, mark, key): Signature<'_>,
        transaction: impl Fn(&[u8]) -> Option<u64>,
    ) -> bool {
        // Where it cannot be read it is of no concern: nothing else is read from it.
        let signed = || {
            let (pages, before) = self.meta.before(self.pages()).filter(|_| self.is_protected())?;
            let tree = Cursor::named(pages, before.main, table).ok()??;
            transaction(Cursor::get(pages, tree.with_seal(Some(mark)), key).ok()??)
        };
        signed().is_some_and(|signed| signed > self.meta.transaction)
    }

    /// Whether a place in the reader table keeps the pages of this generation, and of the one before, as they are.
    fn is_protected(&self) -> bool {
        self._transaction.is_some()
    }

    /// The pages that the transaction sees.
    pub(crate) fn pages(&self) -> Pages<'_> {
        let Self { bytes, meta, unsealed, .. } = self;
        Pages { bytes, page_size: meta.page_size, count: meta.last_page + 1, unsealed }
    }
}

/// Checks that a data file is one of LMDB's and as long as its meta pages say, before LMDB maps it. An empty one is fine: only the
/// process that creates it comes here.
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
    // The file is never behind its meta pages, but it may have grown since it was mapped above.
    let map = map()?;
    if newest.extent() <= map.len() as u64 {
        return Ok(());
    }
    let unsealed = Unsealed::new(0);
    let pages = Pages { bytes: &map, page_size: newest.page_size, count: newest.last_page + 1, unsealed: &unsealed };
    match missing_pages_are_free(&pages, &newest) {
        Ok(true) => Ok(()),
        Ok(false) | Err(_) => {
            Err(StorageError::Truncated { path: data.to_owned(), expected: newest.extent(), actual: map.len() as u64 })
        }
    }
}

/// Opens LMDB with a lock file that has the number of the newest transaction; true where LMDB uses no lock file.
///
/// A process that opens an environment which no other process has open resets the number in the lock file to 0, and then sets it to
/// that of the newest meta page (`mdb_env_setup_locks`, `mdb_env_share_locks`). Another process that opens it meanwhile waits, and
/// does not check the number. If the first process is killed in between, the second one would read an empty database, and its first
/// transaction would overwrite a meta page. Here it closes the environment and opens it again.
fn open_current(
    directory: &Directory,
    path: &Path,
    mode: OpenMode,
    flags: EnvFlags,
) -> Result<(heed::Env<WithoutTls>, bool), StorageError> {
    let data = directory.path().join(DATA);
    for attempt in 0..REOPENINGS {
        let lmdb = open_lmdb(path, &data, mode, flags)?;
        let unlocked = lmdb.get_flags().is_ok_and(|flags| flags & EnvFlags::NO_LOCK.bits() != 0);
        if unlocked {
            return Ok((lmdb, unlocked));
        }
        let bytes = map(directory, Path::new(DATA))?;
        let newest = Meta::newest(&bytes).map_err(|error| meta_error(&data, bytes.len() as u64, error))?;
        let known = lmdb.read_txn().map_err(|error| StorageError::lmdb(&data, error))?.id() as u64;
        // A writer has written its meta page, and has not set the number yet or was killed before: the next writer sets it.
        let is_one_behind = known > 0 && newest.transaction == known + 1;
        if newest.transaction <= known || is_one_behind && attempt >= PATIENCE {
            return Ok((lmdb, unlocked));
        }
        drop(lmdb);
        std::thread::sleep(REOPENED_AFTER);
    }
    Err(StorageError::StaleLock { path: directory.path().join(LMDB_LOCK) })
}

/// Maps the whole of the file at a path below a directory.
fn map(directory: &Directory, path: &Path) -> Result<Content, StorageError> {
    let read = || -> io::Result<Content> {
        let file = directory.open_file(path)?;
        if file.metadata()?.len() == 0 {
            return Ok(Content::Empty);
        }
        // SAFETY: the bytes that references point to must neither change nor go away. LMDB does not write to the pages of a
        // generation that has a place in the reader table, nor to those of the generation before it, and it never makes the
        // file shorter. Without a place in the table only meta pages are read from a map. Meta pages do change while they
        // are read: they are copied as integers, and a torn one is recognised by its transaction number. Another program
        // that writes to the file or truncates it breaks this: `docs/guides/security.md` lists that under "not guaranteed".
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

/// The error of a data file of `actual` bytes without sound meta pages.
fn meta_error(data: &Path, actual: u64, error: MetaError) -> StorageError {
    let path = data.to_owned();
    match error {
        MetaError::Foreign(reason) => StorageError::Foreign { path, reason: reason.to_owned() },
        MetaError::Short(expected) => StorageError::Truncated { path, expected, actual },
    }
}
