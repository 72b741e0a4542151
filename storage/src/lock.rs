//! Locks between processes: the writer's lock, which only one process on a machine can hold, and locks that a process
//! waits for.

use std::fs::{File, TryLockError};
use std::io::{self, Read as _, Write as _};

use aurora_confined::Directory;

use crate::error::StorageError;
use crate::project::ProjectDirectory;

const LOCK: &str = ProjectDirectory::WRITER_LOCK;
/// Maximum number of bytes read from the lock file, which contains a process id.
const MAX_LOCK_BYTES: u64 = 64;

/// A locked file. The system releases the lock when the process ends for any reason.
#[derive(Debug)]
pub(crate) struct FileLock(File);

impl FileLock {
    /// Takes the writer's lock and writes the id of this process into the file.
    pub(crate) fn writer(home: &Directory) -> Result<Self, StorageError> {
        let mut lock = Self::writer_briefly(home)?;
        let io = |error| StorageError::io(&home.path().join(LOCK), error);
        // The id is padded to the maximum length of an id, so it overwrites the previous id and the file never grows.
        writeln!(lock.0, "{:<10}", std::process::id()).map_err(io)?;
        Ok(lock)
    }

    /// Takes the writer's lock without writing the process id, for a caller that keeps writers out for a short time.
    pub(crate) fn writer_briefly(home: &Directory) -> Result<Self, StorageError> {
        let path = home.path().join(LOCK);
        let io = |error| StorageError::io(&path, error);
        let file = home.open_or_create(LOCK).map_err(io)?;
        match file.try_lock() {
            Ok(()) => Ok(Self(file)),
            Err(TryLockError::WouldBlock) => {
                let mut text = String::new();
                // On systems with mandatory locks, the file cannot be read, and the error does not name the process.
                let pid =
                    (&file).take(MAX_LOCK_BYTES).read_to_string(&mut text).ok().and_then(|_| text.trim().parse().ok());
                Err(StorageError::Locked { path, pid })
            }
            Err(TryLockError::Error(error)) => Err(io(error)),
        }
    }

    /// Waits until the lock file `name` in a directory is unlocked, and locks it.
    pub(crate) fn wait(home: &Directory, name: &str) -> io::Result<Self> {
        let lock = Self(home.open_or_create(name)?);
        lock.0.lock().map(|()| lock)
    }
}

impl Drop for FileLock {
    fn drop(&mut self) {
        // Closing the file is not enough: a child process that another thread is spawning shares the open file until
        // `exec`. A lock that cannot be released is held until the process ends.
        let _ = self.0.unlock();
    }
}
