//! An LMDB environment as this crate reads it: transactions, and a separate map of the data file.

use std::collections::HashMap;
use std::io::{self, Read as _};
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering, fence};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use aurora_confined::Directory;
use aurora_lmdb_pages::{Cursor, Mark, Meta, MetaError, Pages, Unsealed, missing_pages_are_free};
use heed::{EnvFlags, RoTxn, WithoutTls};
use memmap2::Mmap;

use crate::error::StorageError;
use crate::opening::{LMDB_LOCK, OpenMode, lock_new_file, open_lmdb, prepare, reserve_lock_file};
use crate::project::{DATA, Identity, ProjectDirectory, identity};

/// Maximum number of attempts of a read that is interrupted by commits.
pub(crate) const MAX_ATTEMPTS: usize = 100;

/// Maximum number of times that an environment is opened whose lock file has an older transaction than the data file.
const MAX_REOPENINGS: usize = 1000;
/// Number of attempts after which a lock file that is one transaction behind is accepted.
const MAX_ATTEMPTS_BEHIND: usize = 10;
/// Time between two attempts.
const REOPEN_DELAY: Duration = Duration::from_millis(1);

/// Stores that are open in this process. LMDB must not open a file twice.
static OPEN: Mutex<Option<HashMap<PathBuf, Weak<IndexStore>>>> = Mutex::new(None);

/// One LMDB environment.
///
/// The map of LMDB gets its final size when it is opened. It is never replaced: LMDB allows that only while the process
/// has no open transaction, and both snapshots and the writer keep read transactions open.
pub(crate) struct IndexStore {
    /// The data file, for messages.
    pub(crate) data: PathBuf,
    /// The directory that contains the environment's directory, the lock file and temporary files.
    pub(crate) home: Directory,
    /// Name of the directory of the data file in `home`.
    name: &'static str,
    pub(crate) lmdb: heed::Env<WithoutTls>,
    /// Identity of the data file. No other file can have the same identity as long as this one is open.
    opened: Option<Identity>,
    /// Whether readers have no slot in LMDB's reader table.
    pub(crate) unlocked: bool,
    /// Whether LMDB may write without a check of the whole structure of the file.
    sound: AtomicBool,
}

/// The file as seen by one generation of pages.
pub(crate) struct Mapped {
    /// Holds the reader's slot in LMDB's reader table, so that the pages do not change.
    _transaction: Option<Mutex<RoTxn<'static, WithoutTls>>>,
    bytes: Content,
    /// The generation of pages.
    pub(crate) meta: Meta,
    unsealed: Unsealed,
}

/// The row that names the transaction which wrote a generation: its table, the table's mark, and its key.
pub(crate) type Signature<'a> = (&'a str, Mark, &'a [u8]);

/// The bytes of a data file.
pub(crate) enum Content {
    Map(Mmap),
    /// Read into memory, because no slot in the reader table protects the file's pages, or because the file is empty.
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
    /// Opens the environment in the directory `name` of `home`, or returns the handle that this process already has.
    /// Environments other than indexes are created with permissions for their owner only.
    ///
    /// # Errors
    /// [`StorageError::Replaced`] if this process still has the previous file at this path open. heed opens a path only
    /// once, so the previous file must be closed first.
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
            // The open store's `home` may be a directory that was renamed or deleted since.
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
        let store = Arc::new(Self { data, home, name, lmdb, opened, unlocked, sound: AtomicBool::new(false) });
        open.insert(real, Arc::downgrade(&store));
        Ok(store)
    }

    /// Fails if this index was replaced by another one.
    pub(crate) fn check_current(&self) -> Result<(), StorageError> {
        if identity(&self.home, self.name) == self.opened {
            Ok(())
        } else {
            Err(StorageError::Replaced { path: self.data.clone() })
        }
    }

    /// Whether other handles or processes may be reading. Valid only for a store that has just been opened and not been
    /// read.
    ///
    /// LMDB counts the slots of the reader table that have been used since the first process opened the file. Opening
    /// the file here takes one slot, which is the first one if there are no other readers.
    pub(crate) fn is_read_by_others(&self) -> bool {
        self.unlocked || self.lmdb.info().number_of_readers > 1
    }

    /// Whether the structure is known to be as LMDB left it.
    pub(crate) fn is_sound(&self) -> bool {
        self.sound.load(Ordering::Acquire)
    }

    /// Records that the structure is sound: all of it has been checked, and only LMDB writes from now on.
    pub(crate) fn set_sound(&self) {
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

    /// Maps the data file at its current length.
    fn map(&self) -> Result<Content, StorageError> {
        map(&self.home, &self.relative())
    }

    /// Begins a read transaction, and maps the file at its current length.
    pub(crate) fn read(&self) -> Result<Mapped, StorageError> {
        // Two commits during an attempt overwrite the pages that were to be read. The next attempt reads the newer
        // generation.
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
        let bytes = self.map()?;
        let meta = Meta::for_transaction(&bytes, transaction.id() as u64)
            .map_err(|error| meta_error(&self.data, bytes.len() as u64, error))?;
        // Only the second transaction after this one writes to the same meta page, with its number last. That
        // transaction does not begin before the first one after this one has ended. So if no newer transaction exists,
        // the meta page was read as a whole.
        fence(Ordering::SeqCst);
        let is_newest = self.begin()?.id() == transaction.id();
        let meta = meta.filter(|_| is_newest);
        Ok(meta.map(|meta| Mapped::new(Some(Mutex::new(transaction)), bytes, meta)))
    }

    /// Copies the file. At the earliest, the second generation after this one reuses the pages of this generation, so
    /// the copy is consistent if at most one generation was published in the meantime.
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

    /// Whether the signature of the previous generation names a later transaction than the one of this, the newest
    /// generation. If so, a number in the meta pages was changed, and the generation that seems to be the newest is an
    /// earlier one.
    pub(crate) fn is_rolled_back(
        &self,
        (table, mark, key): Signature<'_>,
        transaction: impl Fn(&[u8]) -> Option<u64>,
    ) -> bool {
        // An unreadable previous generation does not matter: nothing else is read from it.
        let signed = || {
            let (pages, before) = self.meta.before(self.pages()).filter(|_| self.is_protected())?;
            let tree = Cursor::named(pages, before.main, table).ok()??;
            transaction(Cursor::get(pages, tree.with_seal(Some(mark)), key).ok()??)
        };
        signed().is_some_and(|signed| signed > self.meta.transaction)
    }

    /// Whether a slot in the reader table protects the pages of this generation and of the previous one from changes.
    fn is_protected(&self) -> bool {
        self._transaction.is_some()
    }

    /// The pages that are visible to the transaction.
    pub(crate) fn pages(&self) -> Pages<'_> {
        self.meta.pages(&self.bytes, &self.unsealed)
    }
}

/// Checks that a data file is an LMDB file and is as long as its meta pages say, before LMDB maps it. An empty file is
/// accepted: only the process that creates the file sees it empty here.
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
    // The file is at least as long as its meta pages say, but it may have grown since it was mapped above.
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

/// Opens LMDB with a lock file that has the number of the newest transaction. Returns `true` if LMDB uses no lock file.
///
/// A process that opens an environment which no other process has open resets the number in the lock file to 0, and
/// then sets it to the number in the newest meta page (`mdb_env_setup_locks`, `mdb_env_share_locks`). Another process
/// that opens the environment in the meantime waits, and does not check the number. If the first process is killed in
/// between, the second one would read an empty database, and its first transaction would overwrite a meta page. This
/// function closes the environment in that case, and opens it again.
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
        // A writer has written its meta page, but has not set the number yet, or was killed before. The next writer
        // sets it.
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
        // it never makes the file shorter. Without a slot in the table, only meta pages are read from a map. Meta pages
        // do change while they are read: they are copied as integers, and a torn one is recognised by its transaction
        // number. Another program that writes to the file or truncates it breaks this: `docs/guides/security.md` lists that
        // under "not guaranteed".
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

/// The error for a data file of `actual` bytes without sound meta pages.
fn meta_error(data: &Path, actual: u64, error: MetaError) -> StorageError {
    let path = data.to_owned();
    match error {
        MetaError::Foreign(reason) => StorageError::Foreign { path, reason: reason.to_owned() },
        MetaError::Short(expected) => StorageError::Truncated { path, expected, actual },
    }
}
