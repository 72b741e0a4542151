//! Opening an index: checks before anything is mapped, and the handle that is shared afterwards.

use std::collections::HashMap;
use std::io::{self, Read as _, Write as _};
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering, fence};
use std::sync::{Arc, Mutex, PoisonError, RwLock, Weak};
use std::time::Duration;

use aurora_confined::{Directory, Kind, Refusal};
use heed::{EnvFlags, EnvOpenOptions, MdbError, RoTxn, WithoutTls};
use memmap2::Mmap;

use crate::btree::{Meta, MetaError, Pages, Unsealed, missing_pages_are_free};
use crate::error::StorageError;
use crate::home::{self, Identity, identity, keep_out_of_git};
use crate::replace::{self, reserve, settle};
use crate::snapshot::Snapshot;
use crate::writer::{IndexWriter, WriterOptions};

/// LMDB's lock file.
const LOCK: &str = "lock.mdb";
/// Bytes of a lock file per reader, and before the first.
const LOCK_SLOT: usize = 64;
/// Directory of the index within `.aurora`.
pub(crate) const INDEX: &str = "index";
/// LMDB's data file.
pub(crate) const DATA: &str = "data.mdb";
/// Sizes of the map to ask for, largest first. Only address space is taken, not disk or memory.
#[cfg(not(windows))]
const MAP_SIZES: [u64; 4] = [1 << 40, 1 << 36, 1 << 32, 1 << 28];
/// On Windows the file is as long as the map: it starts small and grows with the index.
#[cfg(windows)]
const MAP_SIZES: [u64; 1] = [1 << 26];
/// How often a read is begun again because commits came between its steps.
const ATTEMPTS: usize = 100;
/// Processes and snapshots that may read at the same time.
const READERS: u32 = 1022;

/// How to open an environment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OpenMode {
    /// Make the index when there is none.
    Create,
    /// Fail with [`StorageError::NoIndex`] when there is none, or nothing was ever published.
    Existing,
}

/// An open index: a handle that is cheap to clone, for any number of readers and one writer.
#[derive(Clone)]
pub struct Environment {
    pub(crate) store: Arc<Store>,
    mode: OpenMode,
}

impl Environment {
    /// Opens the index of a project, given its `.aurora` directory.
    ///
    /// # Errors
    /// Says which of these it is: no index, not an index, truncated, not writable; to be written to, also another format.
    pub fn open(directory: &Path, mode: OpenMode) -> Result<Self, StorageError> {
        let home = match mode {
            OpenMode::Create => home::create(directory),
            OpenMode::Existing => home::open(directory),
        };
        let home = match home {
            Ok(home) => home,
            Err(error) if error.kind() == io::ErrorKind::NotFound && mode == OpenMode::Existing => {
                return Err(StorageError::NoIndex { path: directory.join(INDEX) });
            }
            Err(error) => return Err(StorageError::io(directory, error)),
        };
        if mode == OpenMode::Create {
            keep_out_of_git(&home)?;
        }
        let environment = Self { store: open_index(&home, mode)?, mode };
        // A reader opens a snapshot next, which says whether it can be read.
        if mode == OpenMode::Create && environment.store.length()? > 0 {
            environment.snapshot()?;
        }
        Ok(environment)
    }

    /// Whether a project has an index, given its `.aurora` directory.
    pub fn is_present(directory: &Path) -> bool {
        home::open(directory).is_ok_and(|home| replace::is_present(&home))
    }

    /// The newest published generation, which the snapshot goes on seeing whatever is written.
    ///
    /// # Errors
    /// Another program's file, another format, or damage; [`StorageError::NoIndex`] when nothing was ever published, unless
    /// the environment was opened to be written to.
    pub fn snapshot(&self) -> Result<Snapshot, StorageError> {
        let snapshot = Snapshot::open(&self.store)?;
        // A first run that was killed has left tables, but nothing in them is an answer.
        match snapshot.manifest().generation > 0 || self.mode == OpenMode::Create {
            true => Ok(snapshot),
            false => Err(StorageError::NoIndex { path: self.store.home.path().join(INDEX) }),
        }
    }

    /// Starts writing, as the only writer of the index on this machine.
    ///
    /// # Errors
    /// [`StorageError::Locked`] names the process that is writing already; [`StorageError::Replaced`] says that another
    /// index has been put into the place of this one.
    pub fn writer(&self, options: WriterOptions) -> Result<IndexWriter, StorageError> {
        IndexWriter::open(self.clone(), options)
    }
}

impl std::fmt::Debug for Environment {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Environment").field("data", &self.store.data).finish_non_exhaustive()
    }
}

/// Opens the index of a project, again when another one has been put into its place meanwhile.
fn open_index(home: &Directory, mode: OpenMode) -> Result<Arc<Store>, StorageError> {
    let mut attempts = 0;
    loop {
        settle(home)?;
        // An index that is just being put into place must not find another one there.
        let is_missing = mode == OpenMode::Create && home.metadata(INDEX).is_err();
        let _reserved = if is_missing { Some(reserve(home)?) } else { None };
        let before = identity(home, INDEX);
        let opened = Store::open(INDEX, home, mode, EnvFlags::empty());
        attempts += 1;
        // LMDB opens two files by their names; only in one and the same directory do they belong together.
        let is_same = before.is_none() || identity(home, INDEX) == before;
        if is_same || attempts == ATTEMPTS {
            return opened;
        }
    }
}

/// Stores that are open in this process: LMDB must not open a file twice.
static OPEN: Mutex<Option<HashMap<PathBuf, Weak<Store>>>> = Mutex::new(None);

/// One LMDB environment.
pub(crate) struct Store {
    /// The data file, for messages.
    pub(crate) data: PathBuf,
    /// The directory that holds lock file and temporary files.
    pub(crate) home: Directory,
    /// Name of the directory of the data file in `home`.
    name: &'static str,
    pub(crate) lmdb: heed::Env<WithoutTls>,
    /// Which file the data file was. As long as it is open no other one is the same.
    opened: Option<Identity>,
    /// Held for reading while a transaction begins, and for writing while the map is replaced.
    map: RwLock<()>,
    /// Set when LMDB has lost its map, because a larger one was refused: it may not be called again.
    lost: AtomicBool,
    /// Whether readers have no place in LMDB's table.
    unlocked: bool,
    /// Whether LMDB may write without a look at the whole structure of the file first.
    pub(crate) sound: AtomicBool,
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

/// The bytes of a data file.
enum Content {
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

impl Store {
    /// Opens the environment in the directory `name` of `home`, or returns the handle that this process has already.
    pub(crate) fn open(
        name: &'static str,
        home: &Directory,
        mode: OpenMode,
        flags: EnvFlags,
    ) -> Result<Arc<Self>, StorageError> {
        let path = home.path().join(name);
        let data = path.join(DATA);
        let directory = match mode {
            OpenMode::Create => home.create_directory(name),
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
            Err(error) => return Err(StorageError::io(&path, error)),
        };
        prepare(&directory, mode)?;
        let real = path.canonicalize().map_err(|error| StorageError::io(&path, error))?;
        let mut guard = OPEN.lock().unwrap_or_else(PoisonError::into_inner);
        let open = guard.get_or_insert_default();
        open.retain(|_, store| store.strong_count() > 0);
        if let Some(store) = open.get(&real).and_then(Weak::upgrade) {
            return Ok(store);
        }
        inspect(&directory, mode)?;
        reserve_lock_file(&directory)?;
        let lmdb = open_lmdb(&real, &data, mode, flags)?;
        let unlocked = lmdb.get_flags().is_ok_and(|flags| flags & EnvFlags::NO_LOCK.bits() != 0);
        let home = home.clone();
        let (lost, sound) = (AtomicBool::new(false), AtomicBool::new(false));
        let opened = identity(&home, name);
        let store = Arc::new(Self { data, home, name, lmdb, opened, map: RwLock::new(()), lost, unlocked, sound });
        open.insert(real, Arc::downgrade(&store));
        Ok(store)
    }

    /// Fails when another index has been put into the place of this one.
    pub(crate) fn check_current(&self) -> Result<(), StorageError> {
        match identity(&self.home, self.name) == self.opened {
            true => Ok(()),
            false => Err(StorageError::Replaced { path: self.data.clone() }),
        }
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
        self.check()?;
        let error = {
            let _map = self.map.read().unwrap_or_else(PoisonError::into_inner);
            match self.lmdb.clone().static_read_txn() {
                Ok(transaction) => return Ok(transaction),
                Err(error) => error,
            }
        };
        if !matches!(error, heed::Error::Mdb(MdbError::MapResized)) {
            return Err(StorageError::lmdb(&self.data, error));
        }
        // Another process has made the file larger than this map.
        self.resize(usize::try_from(self.length()?).unwrap_or(usize::MAX).saturating_mul(2))?;
        let _map = self.map.read().unwrap_or_else(PoisonError::into_inner);
        let transaction = self.lmdb.clone().static_read_txn();
        transaction.map_err(|error| StorageError::lmdb(&self.data, error))
    }

    /// Fails when LMDB has lost its map.
    pub(crate) fn check(&self) -> Result<(), StorageError> {
        match self.lost.load(Ordering::Acquire) {
            true => Err(StorageError::MapFull { path: self.data.clone() }),
            false => Ok(()),
        }
    }

    /// Replaces LMDB's map by one of at least `size` bytes.
    pub(crate) fn resize(&self, size: usize) -> Result<(), StorageError> {
        let _map = self.map.write().unwrap_or_else(PoisonError::into_inner);
        self.check()?;
        // A multiple of every page size in use.
        let size = size.checked_next_multiple_of(1 << 20).unwrap_or(size);
        // SAFETY: no write transaction is open: only the writer's thread opens one, and it calls this
        // between two of them; readers wait for `map` to begin one, and read through maps of their own,
        // never through LMDB's.
        let resized = unsafe { self.lmdb.resize(size) };
        resized.map_err(|error| {
            // With a write transaction open, LMDB refuses and keeps its map.
            let kept = matches!(&error, heed::Error::Io(error) if error.kind() == io::ErrorKind::InvalidInput);
            self.lost.store(!kept, Ordering::Release);
            StorageError::MapFull { path: self.data.clone() }
        })
    }
}

impl Mapped {
    fn new(transaction: Option<Mutex<RoTxn<'static, WithoutTls>>>, bytes: Content, meta: Meta) -> Self {
        let present = bytes.len() / meta.page_size;
        let unsealed = Unsealed::new((present as u64).min(meta.last_page + 1));
        Self { _transaction: transaction, bytes, meta, unsealed }
    }

    /// Whether a place in the reader table keeps the pages of this generation, and of the one before, as they are.
    pub(crate) fn is_protected(&self) -> bool {
        self._transaction.is_some()
    }

    /// The pages that the transaction sees.
    pub(crate) fn pages(&self) -> Pages<'_> {
        let Self { bytes, meta, unsealed, .. } = self;
        Pages { bytes, page_size: meta.page_size, count: meta.last_page + 1, unsealed }
    }
}

/// Maps the whole of the file at a path below a directory.
fn map(directory: &Directory, path: &Path) -> Result<Content, StorageError> {
    let read = || -> io::Result<Content> {
        let file = directory.open_file(path)?;
        if file.metadata()?.len() == 0 {
            return Ok(Content::Empty);
        }
        // SAFETY: the file is written by LMDB only, which does not touch the pages of a generation that
        // has a reader, and never makes the file shorter. Meta pages may change while they are read;
        // they are copied as integers, and a torn one is recognised by its transaction number. Without
        // a reader's place only meta pages are read from a map.
        unsafe { Mmap::map(&file) }.map(Content::Map)
    };
    read().map_err(|error| StorageError::read(&directory.path().join(path), error))
}

/// Makes sure that LMDB, which opens its files by name and follows links, finds regular files or none.
///
/// A data file that LMDB makes itself can be read by its owner only; one that is there and empty keeps its permissions.
fn prepare(directory: &Directory, mode: OpenMode) -> Result<(), StorageError> {
    for name in [DATA, LOCK] {
        let path = || directory.path().join(name);
        match directory.metadata(name) {
            Ok(found) if found.kind == Kind::File => {}
            Ok(found) if found.kind == Kind::Link => {
                return Err(StorageError::io(&path(), Refusal::SymbolicLink.into()));
            }
            Ok(found) if name == DATA && found.kind == Kind::Directory => {
                return Err(StorageError::Foreign { path: path(), reason: "it is a directory".to_owned() });
            }
            Ok(_) => return Err(StorageError::io(&path(), Refusal::NotRegular.into())),
            Err(error) if error.kind() == io::ErrorKind::NotFound => match mode {
                OpenMode::Existing if name == DATA => {
                    return Err(StorageError::NoIndex { path: directory.path().to_owned() });
                }
                OpenMode::Create if name == DATA => {
                    directory.open_or_create(name).map_err(|error| StorageError::io(&path(), error))?;
                }
                _ => {}
            },
            Err(error) => return Err(StorageError::io(&path(), error)),
        }
    }
    Ok(())
}

/// Checks that a data file is one of LMDB's and as long as its meta pages say, before LMDB maps it.
fn inspect(directory: &Directory, mode: OpenMode) -> Result<(), StorageError> {
    let data = &directory.path().join(DATA);
    let map = || map(directory, Path::new(DATA));
    let first = map()?;
    if first.is_empty() {
        return match mode {
            OpenMode::Create => Ok(()),
            OpenMode::Existing => Err(StorageError::Truncated { path: data.to_owned(), expected: 1, actual: 0 }),
        };
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

fn meta_error(data: &Path, actual: u64, error: MetaError) -> StorageError {
    let path = data.to_owned();
    match error {
        MetaError::Foreign(reason) => StorageError::Foreign { path, reason: reason.to_owned() },
        MetaError::Short(expected) => StorageError::Truncated { path, expected, actual },
    }
}

/// Makes the lock file as long as LMDB needs it, in bytes that are really there: LMDB maps it and
/// writes into the map, which on a full disk would end the process with a signal.
fn reserve_lock_file(directory: &Directory) -> Result<(), StorageError> {
    let path = directory.path().join(LOCK);
    match directory.create_new(LOCK) {
        Ok(mut file) => {
            let reserved = file.write_all(&vec![0; LOCK_SLOT * (READERS as usize + 2)]);
            reserved.map_err(|error| {
                // Half a lock file is worse than none, and the next one to open tries again.
                let _ = directory.remove(LOCK);
                StorageError::io(&path, error)
            })
        }
        // It is there already, or LMDB will do without one or say what is wrong.
        Err(error) if error.kind() == io::ErrorKind::StorageFull => Err(StorageError::io(&path, error)),
        Err(_) => Ok(()),
    }
}

/// Opens LMDB with the largest map that the address space allows.
fn open_lmdb(
    directory: &Path,
    data: &Path,
    mode: OpenMode,
    mut flags: EnvFlags,
) -> Result<heed::Env<WithoutTls>, StorageError> {
    let mut waits = 0;
    let mut sizes = MAP_SIZES.iter().filter_map(|&size| usize::try_from(size).ok());
    let mut size = sizes.next();
    loop {
        let mut options = EnvOpenOptions::new().read_txn_without_tls();
        options.max_dbs(16).max_readers(READERS);
        if let Some(size) = size {
            options.map_size(size);
        }
        // SAFETY: `Store::open` opens a file once in a process, and has inspected it.
        let opened = unsafe {
            options.flags(flags);
            options.open(directory)
        };
        let error = match opened {
            Ok(lmdb) => return Ok(lmdb),
            Err(error) => error,
        };
        match &error {
            // The last handle of this process is just being closed by another thread.
            heed::Error::EnvAlreadyOpened if waits < 1000 => {
                waits += 1;
                std::thread::sleep(Duration::from_millis(1));
            }
            // On a read-only file system nobody can write, so that no lock is needed.
            heed::Error::Io(cause)
                if cause.kind() == io::ErrorKind::ReadOnlyFilesystem && !flags.contains(EnvFlags::READ_ONLY) =>
            {
                flags |= EnvFlags::READ_ONLY;
            }
            // Who may not write can still read: from a copy, because without a lock a writer does not know
            // of this reader.
            heed::Error::Io(cause)
                if cause.kind() == io::ErrorKind::PermissionDenied
                    && mode == OpenMode::Existing
                    && !flags.contains(EnvFlags::READ_ONLY) =>
            {
                flags |= EnvFlags::READ_ONLY | EnvFlags::NO_LOCK;
            }
            heed::Error::Io(cause) if is_about_memory(cause) && size.is_some() => {
                size = sizes.next();
            }
            _ => return Err(StorageError::lmdb(data, error)),
        }
    }
}

/// Whether a map was refused for its size.
fn is_about_memory(error: &io::Error) -> bool {
    // Windows reports ERROR_NOT_ENOUGH_MEMORY, ERROR_COMMITMENT_LIMIT or an invalid parameter.
    matches!(error.kind(), io::ErrorKind::OutOfMemory | io::ErrorKind::InvalidInput)
        || cfg!(windows) && matches!(error.raw_os_error(), Some(8 | 1455 | 1132))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commit::Committer;
    use crate::tables::{Operation, Table};

    #[test]
    fn an_index_is_read_without_a_lock() {
        let directory = tempfile::tempdir().expect("a directory");
        let write = |value: u8| {
            let environment = Environment::open(directory.path(), OpenMode::Create).expect("opens");
            assert!(!environment.store.unlocked);
            let mut committer = Committer::new(&environment.snapshot().expect("opens"), 1 << 20);
            let operation = Operation::put(Table::Postings, *b"key", vec![value; 10_000]);
            committer.push(operation).expect("is taken");
            committer.finish().expect("is written");
        };
        write(1);
        let flags = EnvFlags::READ_ONLY | EnvFlags::NO_LOCK;
        let home = Directory::open_root(directory.path()).expect("opens");
        let store = Store::open(INDEX, &home, OpenMode::Existing, flags).expect("opens");
        assert!(store.unlocked);
        let snapshot = Snapshot::open(&store).expect("opens");
        let read = |snapshot: &Snapshot| snapshot.get(Table::Postings, b"key").expect("sound").map(<[u8]>::to_vec);
        assert_eq!(read(&snapshot), Some(vec![1; 10_000]));
        drop((snapshot, store));
        write(2);
        let store = Store::open(INDEX, &home, OpenMode::Existing, flags).expect("opens");
        assert_eq!(read(&Snapshot::open(&store).expect("opens")), Some(vec![2; 10_000]));
    }
}
