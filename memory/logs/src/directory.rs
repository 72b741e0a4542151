//! The directory of the logs: its months, what it is locked by, and who may read it.

use std::ffi::OsStr;
use std::fs::{DirBuilder, File};
use std::io;
use std::path::Path;

use aurora_confined::{Directory, EntryKind};

use crate::error::{LogError, UnreadLog};
use crate::layout::{DateRange, LogFile, Month};
use crate::reader::LogReader;

/// Who changes names, or lists them, has locked this file.
const LOCK: &str = ".lock";

/// The directory of the logs. Cheap to clone.
///
/// Only the user may read what is made here: files have mode 0600 and directories 0700.
#[derive(Debug, Clone)]
pub struct LogDirectory {
    root: Directory,
}

impl LogDirectory {
    /// Opens the directory at a path that the user has named; `None` if there is none.
    ///
    /// # Errors
    /// It may not be opened, or is none.
    pub fn open(path: &Path) -> Result<Option<Self>, LogError> {
        match Directory::open_root(path) {
            Ok(root) => Ok(Some(Self { root })),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(LogError::io("open", path)(error)),
        }
    }

    /// Opens it, and makes it and those above it where there are none.
    ///
    /// # Errors
    /// It cannot be made or opened.
    pub fn create(path: &Path) -> Result<Self, LogError> {
        if let Some(logs) = Self::open(path)? {
            return Ok(logs);
        }
        let missing: Vec<&Path> = path.ancestors().take_while(|above| !above.exists()).collect();
        private_directories().recursive(true).create(path).map_err(LogError::io("create", path))?;
        for made in missing {
            let above = made.parent().filter(|above| !above.as_os_str().is_empty()).unwrap_or(Path::new("."));
            let synchronised = Directory::open_root(above).and_then(|above| above.synchronise());
            synchronised.map_err(LogError::io("synchronise", above))?;
        }
        Ok(Self { root: Directory::open_root(path).map_err(LogError::io("open", path))? })
    }

    /// Its path.
    pub fn path(&self) -> &Path {
        self.root.path()
    }

    /// Opens a log to read it.
    ///
    /// # Errors
    /// It cannot be opened. [`io::ErrorKind::NotFound`] if it is gone.
    pub fn read(&self, log: &LogFile) -> io::Result<LogReader> {
        LogReader::open(&self.month(log.month)?, &log.name)
    }

    /// The months that have a directory, the newest first. Symbolic links are not followed.
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
        months.retain(|month| range.touches(*month));
        months.sort_unstable_by(|a, b| b.cmp(a));
        Ok((months, unread))
    }

    /// The directory of a month.
    pub(crate) fn month(&self, month: Month) -> io::Result<Directory> {
        let [year, name] = month.names();
        self.root.open_directory(Path::new(&year).join(name))
    }

    /// The same, made durably where there is none.
    pub(crate) fn create_month(&self, month: Month) -> Result<Directory, LogError> {
        let [year, name] = month.names();
        let make = || {
            let year = self.root.create_private_directory(&year)?;
            let month = year.create_private_directory(&name)?;
            // Another process may have made them, and not have come so far yet.
            year.synchronise()?;
            self.root.synchronise()?;
            Ok(month)
        };
        make().map_err(LogError::io("create", self.path().join(month.to_string())))
    }

    /// Waits until nobody else changes the names of logs, and keeps others from it.
    pub(crate) fn lock(&self) -> Result<NamesLock, LogError> {
        self.try_lock().map_err(LogError::io("lock", self.path().join(LOCK)))
    }

    /// The same with the error of the system.
    pub(crate) fn try_lock(&self) -> io::Result<NamesLock> {
        let file = self.root.open_or_create(LOCK)?;
        make_private(&file)?;
        NamesLock::take(file, File::lock)
    }

    /// Waits until nobody changes the names of logs. Where the lock cannot be had, as in a directory that may only be read,
    /// goes on without.
    pub(crate) fn lock_shared(&self) -> Option<NamesLock> {
        NamesLock::take(self.root.open_file(LOCK).ok()?, File::lock_shared).ok()
    }

    /// The handle of the directory.
    pub(crate) fn root(&self) -> &Directory {
        &self.root
    }
}

/// A lock on the names of logs, which ends with the value or with the process.
#[derive(Debug)]
pub(crate) struct NamesLock(File);

impl NamesLock {
    fn take(file: File, lock: fn(&File) -> io::Result<()>) -> io::Result<Self> {
        loop {
            match lock(&file) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                // A file system without locks: names are still taken exclusively.
                Err(error) if error.kind() == io::ErrorKind::Unsupported => return Ok(Self(file)),
                taken => return taken.map(|()| Self(file)),
            }
        }
    }
}

impl Drop for NamesLock {
    fn drop(&mut self) {
        // A child process that is being started shares the open file, so closing it is not enough.
        let _ = self.0.unlock();
    }
}

/// The names of the directories among the entries.
fn directories(entries: &[(std::ffi::OsString, EntryKind)]) -> impl Iterator<Item = &str> {
    entries.iter().filter(|(_, kind)| *kind == EntryKind::Directory).filter_map(|(name, _)| OsStr::to_str(name))
}

fn is_number(name: &str, digits: usize) -> bool {
    name.len() == digits && name.bytes().all(|byte| byte.is_ascii_digit())
}

/// Removes a file. Nothing there is no error; a directory is one.
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

/// Lets nobody but the user read or write the file.
#[cfg(unix)]
pub(crate) fn make_private(file: &File) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;

    file.set_permissions(std::fs::Permissions::from_mode(0o600))
}

#[cfg(not(unix))]
pub(crate) fn make_private(_: &File) -> io::Result<()> {
    Ok(())
}
