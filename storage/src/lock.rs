//! Locks between processes: the lock that allows only one writer on a machine, and locks that block until they are
//! free.

use std::fs::{File, TryLockError};
use std::io::{self, Read as _, Write as _};

use aurora_confined::Directory;

use crate::error::StorageError;
use crate::project::ProjectDirectory;

const LOCK: &str = ProjectDirectory::WRITER_LOCK;
/// Maximum number of bytes read from the lock file, which contains a process id.
const MAX_LOCK_BYTES: u64 = 64;

/// The lock of an open writer. The system releases it when the process ends for any reason.
#[derive(Debug)]
pub(crate) struct WriterLock {
    file: File,
}

impl WriterLock {
    /// Takes the lock and writes the id of this process into the file.
    pub(crate) fn acquire(home: &Directory) -> Result<Self, StorageError> {
        let mut lock = Self::acquire_briefly(home)?;
        let io = |error| StorageError::io(&home.path().join(LOCK), error);
        // Padded to the maximum length of an id, so that it overwrites the previous id without allocating a block.
        writeln!(lock.file, "{:<10}", std::process::id()).map_err(io)?;
        Ok(lock)
    }

    /// Takes the lock for a short time, to keep writers out.
    pub(crate) fn acquire_briefly(home: &Directory) -> Result<Self, StorageError> {
        let path = home.path().join(LOCK);
        let io = |error| StorageError::io(&path, error);
        let file = home.open_or_create(LOCK).map_err(io)?;
        match file.try_lock() {
            Ok(()) => Ok(Self { file }),
            Err(TryLockError::WouldBlock) => {
                let mut text = String::new();
                // With mandatory locks the file cannot be read, and the error does not name the holder.
                let pid =
                    (&file).take(MAX_LOCK_BYTES).read_to_string(&mut text).ok().and_then(|_| text.trim().parse().ok());
                Err(StorageError::Locked { path, pid })
            }
            Err(TryLockError::Error(error)) => Err(io(error)),
        }
    }
}

impl Drop for WriterLock {
    fn drop(&mut self) {
        // Closing the file is not enough: a child process that another thread is spawning shares the open file until
        // `exec`. A lock that cannot be released is held until the process ends.
        let _ = self.file.unlock();
    }
}

/// A lock that a process holds for a short time. The system releases it when the process ends for any reason.
pub(crate) struct HeldLock(File);

impl HeldLock {
    /// Waits until the lock `name` in a directory is free, and takes it.
    pub(crate) fn wait(home: &Directory, name: &str) -> io::Result<Self> {
        let file = home.open_or_create(name)?;
        file.lock()?;
        Ok(Self(file))
    }
}

impl Drop for HeldLock {
    fn drop(&mut self) {
        // As for the writer's lock, closing the file is not enough.
        let _ = self.0.unlock();
    }
}
