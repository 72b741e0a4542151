//! Opening a directory as an LMDB environment: its files, and the size of its map.

use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::path::Path;
use std::time::Duration;

use aurora_confined::{Directory, EntryKind, Refusal};
use heed::{EnvFlags, EnvOpenOptions, WithoutTls};
use memmap2::MmapMut;

use crate::btree::{MAX_UNBORN_BYTES, is_unborn};
use crate::error::StorageError;
use crate::project::{DATA, ProjectDirectory};

/// LMDB's lock file.
pub(crate) const LMDB_LOCK: &str = "lock.mdb";
/// The file that a process locks while it creates a data file, in the parent of the data file's directory.
const CREATION_LOCK: &str = "create.lock";
/// Bytes of a lock file per reader, and before the first.
const LOCK_SLOT: usize = 64;
/// Maximum and minimum size of a map, in bytes.
///
/// A map takes address space, not disk or memory, on Windows too: LMDB reserves it there, and makes the file longer as it
/// takes pages.
const MAX_MAP_BYTES: u64 = if cfg!(windows) { 1 << 36 } else { 1 << 40 };
const MIN_MAP_BYTES: usize = 1 << 24;
/// Bytes of address space that stay free if it is limited.
const RESERVED_BYTES: usize = 192 << 20;
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

/// Makes sure that LMDB, which opens its files by name and follows links, finds regular files or none.
///
/// # Errors
/// [`StorageError::NoIndex`] if `mode` is [`OpenMode::Existing`] and the data file is missing or has no commit.
pub(crate) fn prepare(directory: &Directory, mode: OpenMode) -> Result<(), StorageError> {
    for name in [DATA, LMDB_LOCK] {
        let path = || directory.path().join(name);
        match directory.metadata(name) {
            Ok(found) if found.kind == EntryKind::File => {}
            Ok(found) if found.kind == EntryKind::Link => {
                return Err(StorageError::io(&path(), Refusal::SymbolicLink.into()));
            }
            Ok(found) if name == DATA && found.kind == EntryKind::Directory => {
                return Err(StorageError::Foreign { path: path(), reason: "it is a directory".to_owned() });
            }
            Ok(_) => return Err(StorageError::io(&path(), Refusal::NotRegular.into())),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(StorageError::io(&path(), error)),
        }
    }
    if mode == OpenMode::Existing && holds_no_commit(directory)? {
        return Err(StorageError::NoIndex { path: directory.path().to_owned() });
    }
    Ok(())
}

/// Whether the data file in a directory is missing, or was left by a process that ended while it created the file.
pub(crate) fn holds_no_commit(directory: &Directory) -> Result<bool, StorageError> {
    let look = || -> io::Result<bool> {
        let file = match directory.open_file(DATA) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(true),
            opened => opened?,
        };
        if file.metadata()?.len() > MAX_UNBORN_BYTES {
            return Ok(false);
        }
        let mut bytes = Vec::new();
        file.take(MAX_UNBORN_BYTES + 1).read_to_end(&mut bytes)?;
        Ok(is_unborn(&bytes))
    };
    look().map_err(|error| StorageError::read(&directory.path().join(DATA), error))
}

/// Held while a process creates a data file. The system releases the lock when the process ends, however it ends.
pub(crate) struct CreationLock(File);

impl CreationLock {
    /// Makes sure that LMDB finds a data file with commits, or an empty one that no other process is working on. Returns the
    /// lock in the second case; it has to be held until LMDB has written the first pages. `home` is the directory above.
    ///
    /// An empty file is created here, because one that LMDB creates itself would have other permissions.
    pub(crate) fn for_new_file(home: &Directory, directory: &Directory) -> Result<Option<Self>, StorageError> {
        if !holds_no_commit(directory)? {
            return Ok(None);
        }
        let lock = Self::acquire(home).map_err(|error| StorageError::io(&home.path().join(CREATION_LOCK), error))?;
        // Another process may have created it meanwhile.
        if !holds_no_commit(directory)? {
            return Ok(None);
        }
        let emptied = directory.open_or_create(DATA).and_then(|file| file.set_len(0));
        emptied.map_err(|error| StorageError::io(&directory.path().join(DATA), error))?;
        Ok(Some(lock))
    }

    fn acquire(home: &Directory) -> io::Result<Self> {
        let file = home.open_or_create(CREATION_LOCK)?;
        match file.lock() {
            // A file system without locks.
            Err(error) if error.kind() == io::ErrorKind::Unsupported => Ok(Self(file)),
            locked => locked.map(|()| Self(file)),
        }
    }
}

impl Drop for CreationLock {
    fn drop(&mut self) {
        // A child process that is being started shares the open file, so closing it is not enough.
        let _ = self.0.unlock();
    }
}

/// Makes the lock file as long as LMDB needs it, in bytes that are really there: LMDB maps it and
/// writes into the map, which on a full disk would end the process with a signal.
pub(crate) fn reserve_lock_file(directory: &Directory) -> Result<(), StorageError> {
    let path = directory.path().join(LMDB_LOCK);
    match directory.create_new(LMDB_LOCK) {
        Ok(mut file) => {
            let reserved = file.write_all(&vec![0; LOCK_SLOT * (READERS as usize + 2)]);
            reserved.map_err(|error| {
                // Half a lock file is worse than none, and the next one to open tries again.
                let _ = directory.remove(LMDB_LOCK);
                StorageError::io(&path, error)
            })
        }
        // It is there already, or LMDB will do without one or say what is wrong.
        Err(error) if error.kind() == io::ErrorKind::StorageFull => Err(StorageError::io(&path, error)),
        Err(_) => Ok(()),
    }
}

/// Opens LMDB with a map that the index can grow in for as long as it is open.
///
/// With a limit of address space, the map takes a part of the largest size that the system grants: half for a new index, an
/// eighth for every other environment, because a command opens several. The map shrinks further until [`RESERVED_BYTES`] are
/// free for the maps of readers, for threads and for memory: an allocation that fails ends the process. A map is at least as
/// large as its file.
pub(crate) fn open_lmdb(
    directory: &Path,
    data: &Path,
    mode: OpenMode,
    mut flags: EnvFlags,
) -> Result<heed::Env<WithoutTls>, StorageError> {
    let mut waits = 0;
    let largest = usize::try_from(MAX_MAP_BYTES).unwrap_or(1 << (usize::BITS - 1));
    let mut size = largest;
    let mut is_limited = false;
    loop {
        let mut options = EnvOpenOptions::new().read_txn_without_tls();
        options.max_dbs(16).max_readers(READERS).map_size(size);
        // SAFETY: `IndexStore::open` opens a file once in a process, and has inspected it.
        let opened = unsafe {
            options.flags(flags);
            options.open(directory)
        };
        let error = match opened {
            Ok(_) if is_limited && size > MIN_MAP_BYTES => {
                is_limited = false;
                let is_new_index = mode == OpenMode::Create && directory.ends_with(ProjectDirectory::INDEX);
                size = (size / if is_new_index { 2 } else { 8 }).max(MIN_MAP_BYTES);
                continue;
            }
            Ok(_) if size < largest && MmapMut::map_anon(RESERVED_BYTES).is_err() => {
                if size == MIN_MAP_BYTES {
                    return Err(StorageError::io(data, io::ErrorKind::OutOfMemory.into()));
                }
                size = (size / 2).max(MIN_MAP_BYTES);
                continue;
            }
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
            heed::Error::Io(cause) if is_about_memory(cause) && size > MIN_MAP_BYTES => {
                is_limited = true;
                size /= 2;
            }
            _ => return Err(StorageError::lmdb(data, error)),
        }
    }
}

/// Whether a map was refused for its size.
fn is_about_memory(error: &io::Error) -> bool {
    // Windows reports ERROR_NOT_ENOUGH_MEMORY, ERROR_INVALID_ADDRESS, ERROR_MAPPED_ALIGNMENT, ERROR_COMMITMENT_LIMIT or an
    // invalid parameter.
    matches!(error.kind(), io::ErrorKind::OutOfMemory | io::ErrorKind::InvalidInput)
        || cfg!(windows) && matches!(error.raw_os_error(), Some(8 | 487 | 1132 | 1455))
}
