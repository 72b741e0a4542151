//! The lock that makes a writer the only one on this machine.

use std::fs::{File, TryLockError};
use std::io::{Read as _, Write as _};

use aurora_confined::Directory;

use crate::error::StorageError;
use crate::project::ProjectDirectory;

const LOCK: &str = ProjectDirectory::WRITER_LOCK;
/// Most bytes that are read of it: it holds a number.
const MOST: u64 = 64;

/// Held as long as a writer is open; the system lets go of it when the process ends, however it ends.
#[derive(Debug)]
pub(crate) struct WriterLock {
    file: File,
}

impl WriterLock {
    /// Takes the lock and leaves the number of this process in the file.
    pub(crate) fn acquire(home: &Directory) -> Result<Self, StorageError> {
        let mut lock = Self::acquire_briefly(home)?;
        let io = |error| StorageError::io(&home.path().join(LOCK), error);
        // As long as any: whatever was there is written over, without a new block for it.
        writeln!(lock.file, "{:<10}", std::process::id()).map_err(io)?;
        Ok(lock)
    }

    /// Takes the lock for a moment, not to write but to keep writers away.
    pub(crate) fn acquire_briefly(home: &Directory) -> Result<Self, StorageError> {
        let path = home.path().join(LOCK);
        let io = |error| StorageError::io(&path, error);
        let file = home.open_or_create(LOCK).map_err(io)?;
        match file.try_lock() {
            Ok(()) => Ok(Self { file }),
            Err(TryLockError::WouldBlock) => {
                let mut text = String::new();
                // Where locks are mandatory the file cannot be read; then the holder stays unnamed.
                let pid = (&file).take(MOST).read_to_string(&mut text).ok().and_then(|_| text.trim().parse().ok());
                Err(StorageError::Locked { path, pid })
            }
            Err(TryLockError::Error(error)) => Err(io(error)),
        }
    }
}

impl Drop for WriterLock {
    fn drop(&mut self) {
        // Closing the file is not enough: a child process that another thread is just starting
        // shares the open file until it runs its program. A lock that cannot be released goes with
        // the process.
        let _ = self.file.unlock();
    }
}
