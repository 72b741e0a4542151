//! A private copy of a database.
//!
//! SQLite writes beside a database that it reads: a file that processes share, and what it recovers from a journal. It follows
//! what a journal says, which may be a path. So only the database and its write-ahead log are copied, into a directory that
//! nobody else can open, and the copy is read.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use aurora_confined::{Directory, Metadata, Refusal, open_regular};
use rusqlite::ffi;
use tempfile::TempDir;

use super::error::ActrError;

/// Largest database and largest log, in bytes.
const LARGEST: u64 = 64 << 30;
/// How often a copy is made that another program has written to meanwhile.
const ATTEMPTS: usize = 3;
/// Name of the copy.
const NAME: &str = "memory.db";

/// Begins the names of the directories of copies.
const PREFIX: &str = "aurora-import-";
/// Name of the file that an import holds a lock on while it uses a directory, and the name before it is locked.
const LOCK: (&str, &str) = ("lock", "lock.new");
/// Begins every database of SQLite.
const HEADER: &[u8; 16] = b"SQLite format 3\0";

/// A directory for a copy. Only the user may open it.
pub(super) struct CopyDirectory {
    /// Closed before the directory is removed.
    _lock: File,
    opened: Directory,
    directory: TempDir,
}

impl CopyDirectory {
    /// Creates one, and removes those of imports that were killed.
    pub(super) fn create() -> Result<Self, ActrError> {
        let temporary = std::env::temp_dir();
        remove_stale(&temporary);
        let make = || -> io::Result<Self> {
            let directory = tempfile::Builder::new().prefix(PREFIX).tempdir_in(&temporary)?;
            let opened = Directory::open_private_root(directory.path())?;
            let (locked, new) = LOCK;
            let lock = opened.create_new(new)?;
            // On a file system without locks, no copy is removed.
            let _ = lock.try_lock();
            opened.rename(new, locked)?;
            Ok(Self { _lock: lock, opened, directory })
        };
        make().map_err(|source| ActrError::Io { path: temporary.clone(), source })
    }

    /// Path of the directory.
    pub(super) fn path(&self) -> &Path {
        self.directory.path()
    }
}

/// Removes the directories of copies whose locks nobody holds. Those of other users cannot be opened.
fn remove_stale(temporary: &Path) {
    let Ok(all) = Directory::open_root(temporary) else { return };
    for (name, _) in all.entries().unwrap_or_default() {
        if !name.to_str().is_some_and(|name| name.starts_with(PREFIX)) {
            continue;
        }
        let lock = all.open_for_writing(Path::new(&name).join(LOCK.0));
        if lock.is_ok_and(|lock| lock.try_lock().is_ok()) {
            // It takes space, and hinders nothing.
            let _ = all.remove(&name);
        }
    }
}

/// Copies a database with its log; returns the path of the copy.
pub(super) fn copy(path: &Path, into: &CopyDirectory) -> Result<PathBuf, ActrError> {
    let io = |source| ActrError::Io { path: path.to_owned(), source };
    // A log lies beside the file itself, not beside a link to it.
    let real = path.canonicalize().map_err(io)?;
    let (Some(parent), Some(name)) = (real.parent(), real.file_name()) else {
        return Err(io(Refusal::NotRegular.into()));
    };
    let database = open_regular(&real).map_err(io)?;
    let directory = Directory::open_root(parent).map_err(io)?;
    let beside = |suffix: &str| {
        let mut beside = name.to_owned();
        beside.push(suffix);
        beside
    };
    let (log, journal) = (beside("-wal"), beside("-journal"));
    if found(&directory, &journal).is_some_and(|metadata| metadata.len > 0) {
        let journal = parent.join(journal);
        return Err(ActrError::Unfinished { database: path.to_owned(), journal });
    }
    if !may_be_database(database).map_err(io)? {
        let error = ffi::Error::new(ffi::SQLITE_NOTADB);
        let source = rusqlite::Error::SqliteFailure(error, Some("file is not a database".to_owned()));
        return Err(ActrError::Database { path: path.to_owned(), source });
    }
    let target = &into.opened;
    for _ in 0..ATTEMPTS {
        let state = || (found(&directory, name), found(&directory, &log));
        let before = state();
        copy_file(&directory, name, target, NAME).map_err(io)?;
        target.remove(format!("{NAME}-wal")).map_err(io)?;
        if before.1.is_some_and(|metadata| metadata.len > 0) {
            let source = |source| ActrError::Io { path: parent.join(&log), source };
            copy_file(&directory, &log, target, &format!("{NAME}-wal")).map_err(source)?;
        }
        if state() == before {
            return Ok(into.path().join(NAME));
        }
    }
    Err(ActrError::Busy(path.to_owned()))
}

/// Whether a file begins like a database, or is empty, as a database without tables may be.
fn may_be_database(file: File) -> io::Result<bool> {
    let mut start = Vec::new();
    file.take(HEADER.len() as u64).read_to_end(&mut start)?;
    Ok(start.is_empty() || start == HEADER)
}

fn found(directory: &Directory, name: &std::ffi::OsStr) -> Option<Metadata> {
    directory.metadata(OsString::from(name)).ok()
}

fn copy_file(from: &Directory, name: &std::ffi::OsStr, to: &Directory, copy: &str) -> io::Result<()> {
    let source: File = from.open_file(name)?;
    let source_length = source.metadata()?.len();
    if source_length > LARGEST {
        return Err(Refusal::TooLarge { limit: LARGEST }.into());
    }
    to.remove(copy)?;
    let mut target = to.create_new(copy)?;
    io::copy(&mut source.take(LARGEST), &mut target).map(drop)
}
