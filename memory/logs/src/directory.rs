//! The log directory: access to months, locking and permissions.

use std::ffi::OsStr;
use std::fs::{DirBuilder, File};
use std::io;
use std::path::Path;

use aurora_confined::{Directory, EntryKind};

use crate::error::{LogError, UnreadLog};
use crate::layout::{DateRange, LogFile, Month};
use crate::reader::LogReader;

/// Name of the file that a process locks while it lists or changes the names of logs.
const LOCK: &str = ".lock";

/// A handle to the log directory, which is cheap to clone.
///
/// On Unix, new files have mode 0600 and new directories have mode 0700, so that only the user can read them.
#[derive(Debug, Clone)]
pub struct LogDirectory {
    root: Directory,
}

impl LogDirectory {
    /// Opens the log directory at a path. Returns `None` if the path does not exist.
    ///
    /// # Errors
    /// Fails if the directory cannot be opened or the path is not a directory.
    pub fn open(path: &Path) -> Result<Option<Self>, LogError> {
        match Directory::open_root(path) {
            Ok(root) => Ok(Some(Self { root })),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(LogError::io("open", path)(error)),
        }
    }

    /// Opens the log directory at a path. Creates the directory and its parents if they do not exist.
    ///
    /// # Errors
    /// Fails if the directory cannot be created or opened.
    pub fn create(path: &Path) -> Result<Self, LogError> {
        if let Some(logs) = Self::open(path)? {
            return Ok(logs);
        }
        let missing: Vec<&Path> = path.ancestors().take_while(|above| !above.exists()).collect();
        private_directories().recursive(true).create(path).map_err(LogError::io("create", path))?;
        for created in missing {
            let above = created.parent().filter(|above| !above.as_os_str().is_empty()).unwrap_or(Path::new("."));
            let synchronised = Directory::open_root(above).and_then(|above| above.synchronise());
            synchronised.map_err(LogError::io("synchronise", above))?;
        }
        Ok(Self { root: Directory::open_root(path).map_err(LogError::io("open", path))? })
    }

    /// Returns the path of the directory.
    pub fn path(&self) -> &Path {
        self.root.path()
    }

    /// Opens a log for reading.
    ///
    /// # Errors
    /// Fails if the log cannot be opened. The kind is [`io::ErrorKind::NotFound`] if the log no longer exists.
    pub fn read(&self, log: &LogFile) -> io::Result<LogReader> {
        LogReader::open(&self.month(log.month)?, &log.name)
    }

    /// Lists the months in a range that have a directory, newest first. Also returns the directories of years that
    /// cannot be read. Ignores symbolic links.
    pub(crate) fn months(&self, range: &DateRange) -> Result<(Vec<Month>, Vec<UnreadLog>), LogError> {
        let (mut months, mut unread) = (Vec::new(), Vec::new());
        let years = self.root.entries().map_err(LogError::io("read", self.path()))?;
        for year in directories(&years).filter(|year| is_number(year, 4)) {
            match self.root.open_directory(year).and_then(|directory| directory.entries()) {
                Ok(entries) => {
                    let found = directories(&entries).filter(|month| is_number(month, 2));
                    months.extend(found.filter_map(|month| Month::named(year, month)));
                }
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => unread.push(UnreadLog::new(year, &error)),
            }
        }
        months.retain(|month| range.overlaps(*month));
        months.sort_unstable_by(|a, b| b.cmp(a));
        Ok((months, unread))
    }

    /// Opens the directory of a month.
    pub(crate) fn month(&self, month: Month) -> io::Result<Directory> {
        let [year, name] = month.directory_names();
        self.root.open_directory(Path::new(&year).join(name))
    }

    /// Opens the directory of a month. Creates it durably if it does not exist.
    pub(crate) fn create_month(&self, month: Month) -> Result<Directory, LogError> {
        let [year, name] = month.directory_names();
        let make = || {
            let year = self.root.create_private_directory(&year)?;
            let month = year.create_private_directory(&name)?;
            // Another process may have created the directories, but may not have synchronised them yet.
            year.synchronise()?;
            self.root.synchronise()?;
            Ok(month)
        };
        make().map_err(LogError::io("create", self.path().join(month.to_string())))
    }

    /// Acquires the exclusive lock on the names of logs. Waits until other processes release the lock.
    pub(crate) fn lock(&self) -> Result<NamesLock, LogError> {
        self.try_lock().map_err(LogError::io("lock", self.path().join(LOCK)))
    }

    /// Acquires the lock like [`lock`](Self::lock), but returns the error of the operating system.
    pub(crate) fn try_lock(&self) -> io::Result<NamesLock> {
        let file = self.root.open_or_create(LOCK)?;
        make_private(&file)?;
        NamesLock::acquire(file, File::lock)
    }

    /// Acquires a shared lock on the names of logs. Waits until other processes have finished changing names. Returns
    /// `None` if the lock file cannot be opened or locked.
    pub(crate) fn lock_shared(&self) -> Option<NamesLock> {
        NamesLock::acquire(self.root.open_file(LOCK).ok()?, File::lock_shared).ok()
    }

    /// Returns the handle of the directory, which does not allow access outside the directory.
    pub(crate) fn root(&self) -> &Directory {
        &self.root
    }
}

/// A lock on the names of logs. The lock is released when the value is dropped or the process ends.
#[derive(Debug)]
pub(crate) struct NamesLock(File);

impl NamesLock {
    fn acquire(file: File, lock: fn(&File) -> io::Result<()>) -> io::Result<Self> {
        loop {
            match lock(&file) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                // The file system does not support locks. New logs are still created exclusively.
                Err(error) if error.kind() == io::ErrorKind::Unsupported => return Ok(Self(file)),
                acquired => return acquired.map(|()| Self(file)),
            }
        }
    }
}

impl Drop for NamesLock {
    fn drop(&mut self) {
        // Closing the file is not enough, because a child process that is just being started may have inherited the
        // open file.
        let _ = self.0.unlock();
    }
}

/// Iterates over the names of the entries that are directories.
fn directories(entries: &[(std::ffi::OsString, EntryKind)]) -> impl Iterator<Item = &str> {
    entries.iter().filter(|(_, kind)| *kind == EntryKind::Directory).filter_map(|(name, _)| OsStr::to_str(name))
}

fn is_number(name: &str, digits: usize) -> bool {
    name.len() == digits && name.bytes().all(|byte| byte.is_ascii_digit())
}

/// Removes a regular file. Does nothing if the file does not exist. Fails if the name refers to anything else, such as
/// a directory or a symbolic link.
pub(crate) fn remove_file(directory: &Directory, name: &str) -> io::Result<()> {
    match directory.metadata(name) {
        Ok(found) if found.kind != EntryKind::File => Err(aurora_confined::Refusal::NotRegular.into()),
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => directory.remove(name),
    }
}

#[cfg(unix)]
fn private_directories() -> DirBuilder {
    use std::os::unix::fs::DirBuilderExt as _;

    let mut builder = DirBuilder::new();
    builder.mode(0o700);
    builder
}

#[cfg(not(unix))]
fn private_directories() -> DirBuilder {
    DirBuilder::new()
}

/// Sets the permissions of a file so that only the user can read and write it.
#[cfg(unix)]
pub(crate) fn make_private(file: &File) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;

    file.set_permissions(std::fs::Permissions::from_mode(0o600))
}

#[cfg(not(unix))]
pub(crate) fn make_private(_: &File) -> io::Result<()> {
    Ok(())
}
