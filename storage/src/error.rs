//! Everything that can go wrong with an index on disk.

use std::fmt;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use aurora_confined::{Directory, Refusal, refusal_of};

use crate::distrust::Distrust;

/// An error of the index store. Every message names the path. What to do next it names where that is the same for every
/// program; which command builds an index again is for the program to say.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StorageError {
    /// There is no index at the path.
    #[error("no index at {}", path.display())]
    NoIndex {
        /// The index directory.
        path: PathBuf,
    },
    /// A store of records, which is no copy of anything, cannot be used: it is damaged, or of another format.
    #[error("the records in {} cannot be used: {what}; restore them from a backup, or move them away", path.display())]
    DamagedRecords {
        /// The data file.
        path: PathBuf,
        /// What was found.
        what: String,
    },
    /// A store of records that the user has neither made nor accepted.
    #[error("the store at {} is not used: {reason}", path.display())]
    ForeignRecords {
        /// The directory of the store.
        path: PathBuf,
        /// Why the store is not trusted.
        reason: Distrust,
    },
    /// A key that no table can hold.
    #[error("a key has {length} bytes, not 1 to {most}")]
    Key {
        /// Its length in bytes.
        length: usize,
        /// The greatest length.
        most: usize,
    },
    /// The data file was made by something else.
    #[error("{} is not an Aurora index ({reason})", path.display())]
    Foreign {
        /// The data file.
        path: PathBuf,
        /// What gave it away.
        reason: String,
    },
    /// The data file ends before its last page.
    #[error("{} is truncated: {actual} bytes of at least {expected}", path.display())]
    Truncated {
        /// The data file.
        path: PathBuf,
        /// Length in bytes that the file's own header asks for.
        expected: u64,
        /// Length in bytes that it has.
        actual: u64,
    },
    /// A page, a record or a reference between records is not what it should be.
    #[error("the index at {} is damaged: {what}", path.display())]
    Damaged {
        /// The data file.
        path: PathBuf,
        /// What was found.
        what: String,
    },
    /// The access history is damaged, or was written in another format: it is done without, and begun anew by the next
    /// write.
    #[error("the access history at {} cannot be used ({what}); the next search or feedback that is recorded begins it anew", path.display())]
    LogUnusable {
        /// The directory of the history.
        path: PathBuf,
        /// What was found.
        what: String,
    },
    /// The index was written in another format.
    #[error("the index at {} has format {found}, this program reads format {expected}", path.display())]
    FormatVersion {
        /// The index directory.
        path: PathBuf,
        /// The format found.
        found: u32,
        /// The format that this build reads.
        expected: u32,
    },
    /// Another process, or another writer of this one, is writing.
    #[error("the index is being written by {}; wait for it to finish, or stop it (lock file {})", Holder(*pid), path.display())]
    Locked {
        /// The lock file.
        path: PathBuf,
        /// The process that holds it, where the system lets us read that.
        pid: Option<u32>,
    },
    /// LMDB's lock file names an older transaction than the data file, and another program that has it open keeps it so.
    #[error("{} is out of date, and another program that has it open keeps it so; end that program and run the command again", path.display())]
    StaleLock {
        /// LMDB's lock file.
        path: PathBuf,
    },
    /// Another index was put into the place of the one that is open.
    #[error("the index at {} was replaced by another one meanwhile; run the command again", path.display())]
    Replaced {
        /// The index directory.
        path: PathBuf,
    },
    /// A file that is no artefact of an index.
    #[error("{} is no exported index: {reason}", path.display())]
    NotArtefact {
        /// The file.
        path: PathBuf,
        /// What makes it so.
        reason: &'static str,
    },
    /// An artefact that another version of the program wrote.
    #[error("{} has {what} {found}, this build reads {expected}; export the index again with this build", path.display())]
    ArtefactVersion {
        /// The file.
        path: PathBuf,
        /// Which version it is about.
        what: &'static str,
        /// The version found.
        found: u32,
        /// The version that this build reads.
        expected: u32,
    },
    /// An artefact that is not as it was exported, or was never sound.
    #[error("{} is damaged in its {part}: {what}; nothing was imported", path.display())]
    ArtefactDamaged {
        /// The file.
        path: PathBuf,
        /// The part of the artefact.
        part: String,
        /// What is wrong.
        what: String,
    },
    /// The file may not be read.
    #[error("{} cannot be read ({source}); change its permissions", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The directory cannot be written.
    #[error("{} cannot be written ({source}); change its permissions, or copy the index to a place that can", path.display())]
    ReadOnly {
        /// The directory or file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// What lies at the path is not opened, because it may lead outside of the project.
    #[error("{} is not used: {refusal}; remove it and run the command again", path.display())]
    Unsafe {
        /// The file or directory.
        path: PathBuf,
        /// What is wrong with it.
        refusal: Refusal,
    },
    /// The disk is full.
    #[error("no space left on the disk of {}; free some and run the command again: the index is as it was before", path.display())]
    DiskFull {
        /// The directory.
        path: PathBuf,
    },
    /// The address space of this process is too small for the index, or for it to grow.
    #[error("no address space is left for the index at {} to grow in this process; raise its limit (`ulimit -v`), or use a 64-bit build", path.display())]
    MapFull {
        /// The data file.
        path: PathBuf,
    },
    /// Too many processes read at the same time.
    #[error("too many readers of the index at {}; wait for some to finish", path.display())]
    TooManyReaders {
        /// The index directory.
        path: PathBuf,
    },
    /// All 4 294 967 295 chunk ids have been used.
    #[error("the index at {} has used up its chunk ids", path.display())]
    IdsExhausted {
        /// The index directory.
        path: PathBuf,
    },
    /// A call that the writer refuses: the caller's mistake.
    #[error("{0}")]
    Refused(String),
    /// The writer stopped earlier; its first error has been reported.
    #[error("the writer of {} has stopped after an error: {reason}", path.display())]
    WriterStopped {
        /// The index directory.
        path: PathBuf,
        /// The first error.
        reason: String,
    },
    /// A value could not be serialised.
    #[error("cannot serialise a {what}: {reason}")]
    Encode {
        /// What it was.
        what: &'static str,
        /// Why.
        reason: String,
    },
    /// Another error of the file system.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file or directory.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// Another error of LMDB.
    #[error("{}: {source}", path.display())]
    Lmdb {
        /// The index directory.
        path: PathBuf,
        /// What LMDB said.
        source: heed::Error,
    },
}

impl StorageError {
    /// Converts an error into one of a store of records: unlike an index, its content cannot be built again.
    pub(crate) fn into_records_error(self, data: &Path) -> Self {
        match self.unusable_index() {
            Some(what) => Self::DamagedRecords { path: data.to_owned(), what },
            None => self,
        }
    }

    /// An error of serialisation.
    pub(crate) fn encode(what: &'static str, reason: &dyn fmt::Display) -> Self {
        Self::Encode { what, reason: reason.to_string() }
    }

    /// Sorts an error of reading a file by what a user has to do about it.
    pub(crate) fn read(path: &Path, source: io::Error) -> Self {
        match source.kind() {
            io::ErrorKind::PermissionDenied => Self::Unreadable { path: path.to_owned(), source },
            _ => Self::io(path, source),
        }
    }

    /// Sorts an error of the file system by what a user has to do about it.
    pub(crate) fn io(path: &Path, source: io::Error) -> Self {
        let path = path.to_owned();
        if let Some(refusal) = refusal_of(&source) {
            return Self::Unsafe { path, refusal };
        }
        match source.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Self::DiskFull { path },
            // LMDB reports a write that was cut short as an input/output error.
            _ if source.raw_os_error() == Some(EIO) && disk_is_full(&path) => Self::DiskFull { path },
            io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => Self::ReadOnly { path, source },
            _ => Self::Io { path, source },
        }
    }

    /// Sorts an error of LMDB by what a user has to do about it.
    pub(crate) fn lmdb(path: &Path, source: heed::Error) -> Self {
        use heed::MdbError;
        let owned = path.to_owned();
        match source {
            heed::Error::Io(error) => Self::io(path, error),
            heed::Error::Mdb(MdbError::Other(code)) => Self::io(path, io::Error::from_raw_os_error(code)),
            // The second one: another process, which has a larger map, has made the file longer than the map of this one.
            heed::Error::Mdb(MdbError::MapFull | MdbError::MapResized) => Self::MapFull { path: owned },
            heed::Error::Mdb(MdbError::ReadersFull) => Self::TooManyReaders { path: owned },
            heed::Error::Mdb(MdbError::Invalid | MdbError::VersionMismatch) => {
                Self::Foreign { path: owned, reason: source.to_string() }
            }
            heed::Error::Mdb(MdbError::Corrupted | MdbError::PageNotFound | MdbError::CursorFull | MdbError::Panic) => {
                Self::Damaged { path: owned, what: source.to_string() }
            }
            _ => Self::Lmdb { path: owned, source },
        }
    }
}

/// The number of an input/output error on Unix systems.
const EIO: i32 = 5;
/// Bytes that are written to find out whether a disk is full.
const PROBE: usize = 256 << 10;

/// Whether nothing can be written beside a file.
fn disk_is_full(path: &Path) -> bool {
    let directory = path.parent().filter(|directory| !directory.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let Ok(directory) = Directory::open_root(directory) else { return false };
    // Nothing is put into place: a probe that was written is one that failed.
    let written = directory.replace("space.probe", |file| {
        file.write_all(&vec![0; PROBE])?;
        Err(io::ErrorKind::Other.into())
    });
    written.is_err_and(|error| matches!(error.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded))
}

/// Names the holder of a lock.
struct Holder(Option<u32>);

impl fmt::Display for Holder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(pid) => write!(f, "process {pid}"),
            None => f.write_str("another process"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_of_the_system_say_what_to_do() {
        let path = Path::new("project/.aurora/index/data.mdb");
        let told = |kind: io::ErrorKind| StorageError::lmdb(path, heed::Error::Io(kind.into()));
        let full = told(io::ErrorKind::StorageFull);
        assert!(matches!(full, StorageError::DiskFull { .. }));
        let denied = told(io::ErrorKind::PermissionDenied);
        assert!(matches!(denied, StorageError::ReadOnly { .. }));
        for (error, advice) in [(full, "free some"), (denied, "change its permissions")] {
            let message = error.to_string();
            assert!(message.contains("project/.aurora/index") && message.contains(advice), "{message}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_full_disk_is_known_by_its_number() {
        const ENOSPC: i32 = 28;
        let error = heed::Error::from(heed::MdbError::Other(ENOSPC));
        let error = StorageError::lmdb(Path::new("index"), error);
        assert!(matches!(error, StorageError::DiskFull { .. }), "{error:?}");
    }
}
