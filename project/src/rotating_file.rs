//! A file of lines with a maximum size, to which several processes append.
//!
//! A process appends while it holds a lock, and opens the file for each append. Therefore no process writes to a file
//! that another process has renamed. A full file is renamed to `NAME.1`, `NAME.1` to `NAME.2`, and so on; the oldest
//! file is replaced.

use std::fs::{File, TryLockError};
use std::io::{self, Seek as _, SeekFrom, Write as _};
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use aurora_confined::Directory;

/// Maximum time that [`RotatingFile::append`] waits for other processes.
const MAX_WAIT: Duration = Duration::from_millis(50);
/// Time between two attempts to lock the file.
const RETRY_INTERVAL: Duration = Duration::from_micros(500);

/// A file of lines with a maximum size. Only its owner can read it, and no symbolic link is followed.
#[derive(Debug)]
pub struct RotatingFile {
    directory: PathBuf,
    name: &'static str,
    max_bytes: u64,
    old_files: usize,
    /// The directory and the lock file after the first append. The lock file stays open, so that an append opens only
    /// one file.
    opened: Mutex<Option<(Directory, File)>>,
}

impl RotatingFile {
    /// Creates a handle to the file called `name` in a directory. The first append creates both. The current file and
    /// each of the `old_files` have at most `max_bytes`.
    pub fn new(directory: PathBuf, name: &'static str, max_bytes: u64, old_files: usize) -> Self {
        Self { directory, name, max_bytes, old_files, opened: Mutex::default() }
    }

    /// Path of the current file, for messages.
    pub fn path(&self) -> PathBuf {
        self.directory.join(self.name)
    }

    /// Appends complete lines. They are not synchronised to disk.
    ///
    /// # Errors
    /// Fails if the file cannot be written, is a symbolic link or not a regular file, if the lines are longer than the
    /// maximum size, or if other processes keep the file locked.
    pub fn append(&self, lines: &[u8]) -> io::Result<()> {
        if lines.len() as u64 > self.max_bytes {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        let mut opened = self.opened.lock().unwrap_or_else(PoisonError::into_inner);
        let (directory, lock) = match &mut *opened {
            Some(opened) => opened,
            none => {
                let directory = Directory::create_private_root(&self.directory)?;
                let lock = directory.open_or_create(format!("{}.lock", self.name))?;
                none.insert((directory, lock))
            }
        };
        acquire(lock)?;
        let written = self.write(directory, lines);
        // An unlocked file is no error: closing the file also releases the lock.
        let _ = lock.unlock();
        if written.is_err() {
            // The directory may have been replaced, so the next append opens it again.
            *opened = None;
        }
        written
    }

    fn write(&self, directory: &Directory, lines: &[u8]) -> io::Result<()> {
        let mut file = directory.open_or_create(self.name)?;
        let len = file.seek(SeekFrom::End(0))?;
        if len > 0 && len + lines.len() as u64 > self.max_bytes {
            drop(file);
            self.rotate(directory)?;
            file = directory.open_or_create(self.name)?;
        }
        file.write_all(lines)
    }

    fn rotate(&self, directory: &Directory) -> io::Result<()> {
        let names: Vec<String> = self.names().collect();
        if self.old_files == 0 {
            return directory.remove(self.name);
        }
        for (from, to) in names.iter().zip(&names[1..]).rev() {
            match directory.rename(from, to) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                renamed => renamed?,
            }
        }
        Ok(())
    }

    /// Returns the names of the current file and the old files, latest first.
    fn names(&self) -> impl Iterator<Item = String> {
        let old = |number| format!("{}.{number}", self.name);
        std::iter::once(self.name.to_owned()).chain((1..=self.old_files).map(old))
    }

    /// Reads the existing files, oldest first. A missing directory has no files.
    ///
    /// # Errors
    /// Fails if a file cannot be read.
    pub fn read(&self) -> io::Result<Vec<Vec<u8>>> {
        let directory = match Directory::open_root(&self.directory) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            opened => opened?,
        };
        let mut files = Vec::new();
        for name in self.names().collect::<Vec<_>>().into_iter().rev() {
            match directory.read(name, self.max_bytes.max(MAX_READ_BYTES)) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                read => files.push(read?),
            }
        }
        Ok(files)
    }
}

/// Maximum size of a file that is read, in bytes. A file may exceed the configured maximum after the configuration has
/// changed.
const MAX_READ_BYTES: u64 = 1 << 30;

/// Locks the file. Does not wait indefinitely, because the process that holds the lock may be suspended.
fn acquire(lock: &File) -> io::Result<()> {
    let end = Instant::now() + MAX_WAIT;
    loop {
        match lock.try_lock() {
            Err(TryLockError::WouldBlock) if Instant::now() < end => std::thread::sleep(RETRY_INTERVAL),
            Err(TryLockError::WouldBlock) => return Err(io::ErrorKind::ResourceBusy.into()),
            Err(TryLockError::Error(error)) => return Err(error),
            Ok(()) => return Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_several_writers_are_complete_and_old_lines_are_dropped() {
        let directory = tempfile::tempdir().unwrap();
        // Each writer has its own handle, as each process has.
        let write = |writer: usize| {
            let file = RotatingFile::new(directory.path().join("logs"), "x.log", 1_000, 2);
            for number in 0..100 {
                file.append(format!("writer {writer} line {number:03}\n").as_bytes()).unwrap();
            }
        };
        std::thread::scope(|scope| (0..4).for_each(|writer| drop(scope.spawn(move || write(writer)))));
        let files = RotatingFile::new(directory.path().join("logs"), "x.log", 1_000, 2).read().unwrap();
        assert_eq!(files.len(), 3);
        assert!(files.iter().all(|file| file.len() <= 1_000), "{files:?}");
        let text = String::from_utf8(files.concat()).unwrap();
        assert!(text.lines().count() > 100);
        for line in text.lines() {
            assert!(line.len() == "writer 0 line 000".len() && line.starts_with("writer "), "{line}");
        }
        // The last line of each writer may only be followed by lines of other writers.
        assert!(text.contains("line 099"));
    }

    #[cfg(unix)]
    #[test]
    fn files_are_private_and_links_are_refused() {
        use std::os::unix::fs::PermissionsExt as _;
        let directory = tempfile::tempdir().unwrap();
        let logs = directory.path().join("logs");
        let file = RotatingFile::new(logs.clone(), "x.log", 100, 0);
        file.append(b"first\n").unwrap();
        let mode = |path: &std::path::Path| path.metadata().unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&logs), mode(&logs.join("x.log"))), (0o700, 0o600));
        std::fs::remove_file(logs.join("x.log")).unwrap();
        std::fs::write(directory.path().join("target"), "").unwrap();
        std::os::unix::fs::symlink("../target", logs.join("x.log")).unwrap();
        assert!(file.append(b"second\n").is_err());
        assert_eq!(std::fs::read(directory.path().join("target")).unwrap(), b"");
    }

    #[test]
    fn an_append_does_not_wait_for_a_suspended_process() {
        let directory = tempfile::tempdir().unwrap();
        let file = RotatingFile::new(directory.path().to_owned(), "x.log", 100, 0);
        file.append(b"first\n").unwrap();
        let lock = File::options().write(true).open(directory.path().join("x.log.lock")).unwrap();
        lock.lock().unwrap();
        assert_eq!(file.append(b"second\n").unwrap_err().kind(), io::ErrorKind::ResourceBusy);
        lock.unlock().unwrap();
        file.append(b"third\n").unwrap();
        assert_eq!(file.read().unwrap(), [b"first\nthird\n"]);
    }
}
