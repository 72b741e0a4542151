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
use tempfile::TempDir;

use super::error::ActrError;

/// Largest database and largest log, in bytes.
const LARGEST: u64 = 64 << 30;
/// How often a copy is made that another program has written to meanwhile.
const ATTEMPTS: usize = 3;
/// Name of the copy.
const NAME: &str = "memory.db";

/// A directory for a copy.
pub(super) fn directory() -> Result<TempDir, ActrError> {
    let make = || tempfile::Builder::new().prefix("aurora-import-").tempdir();
    make().map_err(|source| ActrError::Io { path: std::env::temp_dir(), source })
}

/// Copies a database with its log; returns the path of the copy.
pub(super) fn copy(path: &Path, into: &TempDir) -> Result<PathBuf, ActrError> {
    let io = |source| ActrError::Io { path: path.to_owned(), source };
    // A log lies beside the file itself, not beside a link to it.
    let real = path.canonicalize().map_err(io)?;
    let (Some(parent), Some(name)) = (real.parent(), real.file_name()) else {
        return Err(io(Refusal::NotRegular.into()));
    };
    open_regular(&real).map_err(io)?;
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
    let target = Directory::open_root(into.path()).map_err(io)?;
    for _ in 0..ATTEMPTS {
        let state = || (found(&directory, name), found(&directory, &log));
        let before = state();
        copy_file(&directory, name, &target, NAME).map_err(io)?;
        target.remove(format!("{NAME}-wal")).map_err(io)?;
        if before.1.is_some_and(|metadata| metadata.len > 0) {
            let source = |source| ActrError::Io { path: parent.join(&log), source };
            copy_file(&directory, &log, &target, &format!("{NAME}-wal")).map_err(source)?;
        }
        if state() == before {
            return Ok(into.path().join(NAME));
        }
    }
    Err(ActrError::Busy(path.to_owned()))
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
