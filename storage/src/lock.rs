//! The lock that makes a writer the only one on this machine.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Write};
use std::path::Path;

use crate::error::StorageError;

/// Held as long as a writer is open; the system lets go of it when the process ends, however it ends.
#[derive(Debug)]
pub(crate) struct WriterLock {
    file: File,
}

impl WriterLock {
    /// Takes the lock and leaves the number of this process in the file.
    pub(crate) fn acquire(path: &Path) -> Result<Self, StorageError> {
        let mut lock = Self::acquire_briefly(path)?;
        let io = |error| StorageError::io(path, error);
        // As long as any: whatever was there is written over, without a new block for it.
        writeln!(lock.file, "{:<10}", std::process::id()).map_err(io)?;
        Ok(lock)
    }

    /// Takes the lock for a moment, not to write but to keep writers away.
    pub(crate) fn acquire_briefly(path: &Path) -> Result<Self, StorageError> {
        let io = |error| StorageError::io(path, error);
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false);
        let mut file = options.open(path).map_err(io)?;
        match file.try_lock() {
            Ok(()) => Ok(Self { file }),
            Err(TryLockError::WouldBlock) => {
                let mut text = String::new();
                // Where locks are mandatory the file cannot be read; then the holder stays unnamed.
                let pid = file.read_to_string(&mut text).ok().and_then(|_| text.trim().parse().ok());
                Err(StorageError::Locked { path: path.to_owned(), pid })
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
