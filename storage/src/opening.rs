//! Opens a directory as an LMDB environment: checks and creates the files, and chooses the size of the map.

use std::io::{self, Read as _, Write as _};
use std::path::Path;
use std::time::Duration;

use aurora_confined::{Directory, EntryKind, Refusal};
use aurora_lmdb_pages::{MAX_UNBORN_BYTES, is_unborn};
use heed::{EnvFlags, EnvOpenOptions, WithoutTls};
use memmap2::MmapMut;

use crate::error::StorageError;
use crate::lock::FileLock;
use crate::project::{DATA, ProjectDirectory};

/// LMDB's lock file.
pub(crate) const LMDB_LOCK: &str = "lock.mdb";
/// A file that a process locks while it creates a data file. It is in the parent of the data file's directory.
const CREATION_LOCK: &str = "create.lock";
/// Number of bytes that LMDB's lock file needs for each reader, and for its header.
const LOCK_SLOT_BYTES: usize = 64;
/// Maximum size of a map, in bytes.
///
/// A map takes up address space, but no disk space or memory. This is also true on Windows, where LMDB reserves the
/// address space and extends the file as it uses pages.
const MAX_MAP_BYTES: u64 = if cfg!(windows) { 1 << 36 } else { 1 << 40 };
/// Minimum size of a map, in bytes.
const MIN_MAP_BYTES: usize = 1 << 24;
/// Number of bytes of address space that a map leaves free if address space is limited.
const RESERVED_BYTES: usize = 192 << 20;
/// Maximum number of read transactions at the same time, in all processes.
const MAX_READERS: u32 = 1022;

/// Whether to create an index that does not exist.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OpenMode {
    /// Create the index if it does not exist.
    Create,
    /// Fail with [`StorageError::NoIndex`] if there is no index, or nothing was ever published.
    Existing,
}

/// Checks that LMDB's files are regular files or do not exist. LMDB opens its files by name and follows links.
///
/// # Errors
/// Returns an error if a path is a link or not a regular file; [`StorageError::NoIndex`] if `mode` is
/// [`OpenMode::Existing`] and the data file is missing or has no commit.
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
    if mode == OpenMode::Existing && has_no_commit(directory)? {
        return Err(StorageError::NoIndex { path: directory.path().to_owned() });
    }
    Ok(())
}

/// Whether the data file in a directory is missing or has no commit. A process that ends while it creates the file
/// leaves a file without a commit.
pub(crate) fn has_no_commit(directory: &Directory) -> Result<bool, StorageError> {
    let read = || -> io::Result<bool> {
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
    read().map_err(|error| StorageError::read(&directory.path().join(DATA), error))
}

/// Ensures that LMDB finds either a data file with commits, or an empty file that no other process is using. In the
/// second case, returns a lock, which the caller must hold until LMDB has written the first pages. `home` is the parent
/// directory. Returns `None` if the file system does not support locks.
///
/// This function creates the empty file itself, because a file that LMDB creates would have other permissions.
pub(crate) fn lock_new_file(home: &Directory, directory: &Directory) -> Result<Option<FileLock>, StorageError> {
    if !has_no_commit(directory)? {
        return Ok(None);
    }
    let lock = match FileLock::wait(home, CREATION_LOCK) {
        // The file system does not support locks.
        Err(error) if error.kind() == io::ErrorKind::Unsupported => None,
        lock => Some(lock.map_err(|error| StorageError::io(&home.path().join(CREATION_LOCK), error))?),
    };
    // While this process waited for the lock, another process may have created the file.
    if !has_no_commit(directory)? {
        return Ok(None);
    }
    let emptied = directory.open_or_create(DATA).and_then(|file| file.set_len(0));
    emptied.map_err(|error| StorageError::io(&directory.path().join(DATA), error))?;
    Ok(lock)
}

/// Creates LMDB's lock file at its full length, with all bytes allocated on the disk. LMDB writes to a map of this
/// file. On a full disk, a write to a page without disk space would kill the process with a signal.
pub(crate) fn reserve_lock_file(directory: &Directory) -> Result<(), StorageError> {
    let path = directory.path().join(LMDB_LOCK);
    match directory.create_new(LMDB_LOCK) {
        Ok(mut file) => {
            let reserved = file.write_all(&vec![0; LOCK_SLOT_BYTES * (MAX_READERS as usize + 2)]);
            reserved.map_err(|error| {
                // LMDB cannot use a truncated lock file safely. If the file is missing, the next open tries again.
                let _ = directory.remove(LMDB_LOCK);
                StorageError::io(&path, error)
            })
        }
        // Other errors are ignored: the file already exists, or LMDB works without the file or reports the error.
        Err(error) if error.kind() == io::ErrorKind::StorageFull => Err(StorageError::io(&path, error)),
        Err(_) => Ok(()),
    }
}

/// Opens LMDB with a map that has enough room for the growth of the index while it is open.
///
/// If address space is limited, the map uses only a part of the largest size that the system grants: half for the index
/// in [`OpenMode::Create`], and an eighth for every other environment, because a command opens several. The map then
/// shrinks until [`RESERVED_BYTES`] are free for the maps of readers, for threads and for the heap, because a failed
/// allocation ends the process. A map is at least as large as its file.
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
        options.max_dbs(16).max_readers(MAX_READERS).map_size(size);
        // SAFETY: `IndexStore::open` opens each file at most once in a process, and has checked the file.
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
            // Another thread is closing the last handle of this process. Wait until it is done.
            heed::Error::EnvAlreadyOpened if waits < 1000 => {
                waits += 1;
                std::thread::sleep(Duration::from_millis(1));
            }
            // Nobody can write to a read-only file system, so no lock is needed.
            heed::Error::Io(cause)
                if cause.kind() == io::ErrorKind::ReadOnlyFilesystem && !flags.contains(EnvFlags::READ_ONLY) =>
            {
                flags |= EnvFlags::READ_ONLY;
            }
            // A process without write permission can still read. It must read a copy: the lock file cannot be written,
            // so a writer does not know about this reader and may reuse its pages.
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

/// Whether the system refused a map because of its size.
fn is_about_memory(error: &io::Error) -> bool {
    // Windows reports ERROR_NOT_ENOUGH_MEMORY, ERROR_INVALID_ADDRESS, ERROR_MAPPED_ALIGNMENT, ERROR_COMMITMENT_LIMIT or
    // an invalid parameter.
    matches!(error.kind(), io::ErrorKind::OutOfMemory | io::ErrorKind::InvalidInput)
        || cfg!(windows) && matches!(error.raw_os_error(), Some(8 | 487 | 1132 | 1455))
}
