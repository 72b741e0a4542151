//! Errors of an index on disk.

use std::fmt;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use aurora_confined::{Directory, Refusal, refusal_of};

/// An error of the index store. Almost every message names the path. A message names the next step if that step is the
/// same for every program. The command that rebuilds an index differs between programs, so callers add that command.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StorageError {
    /// There is no index at the path.
    #[error("no index at {}", path.display())]
    NoIndex {
        /// The index directory.
        path: PathBuf,
    },
    /// A store of records is damaged or has another format. The records exist only in the store and cannot be rebuilt.
    #[error("the records in {} cannot be used: {what}; restore them from a backup, or move them away", path.display())]
    DamagedRecords {
        /// The data file.
        path: PathBuf,
        /// Description of the damage.
        what: String,
    },
    /// A store of records that the user has neither created nor accepted.
    #[error("the store at {} is not used: {reason}", path.display())]
    ForeignRecords {
        /// The directory of the store.
        path: PathBuf,
        /// The reason why the store is not trusted.
        reason: Distrust,
    },
    /// A key is empty, or longer than the maximum length of a key.
    #[error("a key has {length} bytes, not 1 to {most}")]
    Key {
        /// Length of the key in bytes.
        length: usize,
        /// Maximum length in bytes.
        most: usize,
    },
    /// The data file was written by another program.
    #[error("{} is not an Aurora index ({reason})", path.display())]
    Foreign {
        /// The data file.
        path: PathBuf,
        /// The reason why it is not an index.
        reason: String,
    },
    /// The data file ends before its last page.
    #[error("{} is truncated: {actual} bytes of at least {expected}", path.display())]
    Truncated {
        /// The data file.
        path: PathBuf,
        /// Minimum length in bytes according to the file's header.
        expected: u64,
        /// Actual length in bytes.
        actual: u64,
    },
    /// A page, a record or a reference between records is invalid.
    #[error("the index at {} is damaged: {what}", path.display())]
    Damaged {
        /// The data file.
        path: PathBuf,
        /// Description of the damage.
        what: String,
    },
    /// The access history is damaged or has another format. Readers ignore it, and the next write starts a new one.
    #[error("the access history at {} cannot be used ({what}); the next recorded search or feedback starts a new one", path.display())]
    LogUnusable {
        /// The directory of the history.
        path: PathBuf,
        /// Description of the damage.
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
    /// Another process, or another writer in this process, is writing.
    #[error("the index is being written by {}; wait for it to finish, or stop it (lock file {})", holder(*pid), path.display())]
    Locked {
        /// The lock file.
        path: PathBuf,
        /// Id of the process that holds the lock, if the lock file can be read.
        pid: Option<u32>,
    },
    /// LMDB's lock file contains an older transaction number than the data file, and another program has the lock file
    /// open.
    #[error("{} is out of date because another program has it open; end that program and run the command again", path.display())]
    StaleLock {
        /// LMDB's lock file.
        path: PathBuf,
    },
    /// The open index was replaced by another one.
    #[error("the index at {} was replaced in the meantime; run the command again", path.display())]
    Replaced {
        /// The index directory.
        path: PathBuf,
    },
    /// The file is not an artefact.
    #[error("{} is not an exported index: {reason}", path.display())]
    NotArtefact {
        /// The file.
        path: PathBuf,
        /// The reason why it is not an artefact.
        reason: &'static str,
    },
    /// The artefact was written by another version of the program.
    #[error("{} has {what} {found}, this build reads {expected}; export the index again with this build", path.display())]
    ArtefactVersion {
        /// The file.
        path: PathBuf,
        /// The version that differs.
        what: &'static str,
        /// The version found.
        found: u32,
        /// The version that this build reads.
        expected: u32,
    },
    /// The artefact was changed after the export, or was never valid.
    #[error("{} is damaged in its {part}: {what}; nothing was imported", path.display())]
    ArtefactDamaged {
        /// The file.
        path: PathBuf,
        /// The part of the artefact.
        part: String,
        /// Description of the damage.
        what: String,
    },
    /// Artefacts of shards that are not the whole of one index.
    #[error("{0}; nothing was written")]
    Shards(String),
    /// The file cannot be read because of its permissions.
    #[error("{} cannot be read ({source}); change its permissions", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// The directory cannot be written because of its permissions.
    #[error("{} cannot be written ({source}); change its permissions, or copy the index to a writable place", path.display())]
    ReadOnly {
        /// The directory or file.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// The file or directory is not opened, because it may lead outside of the project.
    #[error("{} is not used: {refusal}; remove it and run the command again", path.display())]
    Unsafe {
        /// The file or directory.
        path: PathBuf,
        /// The reason why the file or directory is refused.
        refusal: Refusal,
    },
    /// The disk is full.
    #[error("no space left on the disk of {}; free some and run the command again: the index is as it was before", path.display())]
    DiskFull {
        /// The directory.
        path: PathBuf,
    },
    /// The address space of this process is too small for the index or for its growth.
    #[error("this process has no address space left for the index at {} to grow; raise its limit (`ulimit -v`), or use a 64-bit build", path.display())]
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
    /// An invalid call of the writer, or a target that cannot be written. The caller made a mistake.
    #[error("{0}")]
    Refused(String),
    /// The writer has stopped after an error, which it has already returned.
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
        /// The kind of value.
        what: &'static str,
        /// The reason.
        reason: String,
    },
    /// Any other error of the file system or of LMDB.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file or directory.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
}

/// The reason why a store of records is not used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Distrust {
    /// No record shows that the user has created or accepted the store.
    #[error("you have neither created nor accepted it")]
    Unknown,
    /// Git tracks the store, and the store has been written since the user's last change, perhaps by git.
    #[error("git tracks it, and it was written since you last changed it")]
    Tracked,
}

impl StorageError {
    /// Returns the reason why the index cannot be used, if the error means that it must be rebuilt.
    pub fn unusable_index(&self) -> Option<String> {
        match self {
            Self::Foreign { reason, .. } => Some(reason.clone()),
            Self::Truncated { expected, actual, .. } => Some(format!("it had {actual} bytes of at least {expected}")),
            Self::Damaged { what, .. } => Some(what.clone()),
            Self::FormatVersion { found, expected, .. } => {
                Some(format!("it had format {found}, this program reads format {expected}"))
            }
            _ => None,
        }
    }

    /// Converts an error about an unusable index into [`Self::DamagedRecords`]. A store of records cannot be rebuilt,
    /// unlike an index.
    pub(crate) fn into_records_error(self, data: &Path) -> Self {
        match self.unusable_index() {
            Some(what) => Self::DamagedRecords { path: data.to_owned(), what },
            None => self,
        }
    }

    /// Creates an [`Self::Encode`] error.
    pub(crate) fn encode(what: &'static str, reason: &dyn fmt::Display) -> Self {
        Self::Encode { what, reason: reason.to_string() }
    }

    /// Converts an error of reading a file. The variant depends on what the user has to do next.
    pub(crate) fn read(path: &Path, source: io::Error) -> Self {
        match source.kind() {
            io::ErrorKind::PermissionDenied => Self::Unreadable { path: path.to_owned(), source },
            _ => Self::io(path, source),
        }
    }

    /// Converts an error of a file that belongs to an index but is written by another crate.
    pub fn from_io(path: &Path, source: io::Error) -> Self {
        Self::io(path, source)
    }

    /// Converts an error of the file system. The variant depends on what the user has to do next.
    pub(crate) fn io(path: &Path, source: io::Error) -> Self {
        let path = path.to_owned();
        if let Some(refusal) = refusal_of(&source) {
            return Self::Unsafe { path, refusal };
        }
        match source.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Self::DiskFull { path },
            // LMDB reports an incomplete write, for example to a full disk, as an input/output error.
            _ if source.raw_os_error() == Some(EIO) && disk_is_full(&path) => Self::DiskFull { path },
            io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => Self::ReadOnly { path, source },
            _ => Self::Io { path, source },
        }
    }

    /// Converts an error of LMDB. The variant depends on what the user has to do next.
    pub(crate) fn lmdb(path: &Path, source: heed::Error) -> Self {
        use heed::MdbError;
        let owned = path.to_owned();
        match source {
            heed::Error::Io(error) => Self::io(path, error),
            heed::Error::Mdb(MdbError::Other(code)) => Self::io(path, io::Error::from_raw_os_error(code)),
            // `MapResized`: another process with a larger map has made the file longer than the map of this process.
            heed::Error::Mdb(MdbError::MapFull | MdbError::MapResized) => Self::MapFull { path: owned },
            heed::Error::Mdb(MdbError::ReadersFull) => Self::TooManyReaders { path: owned },
            heed::Error::Mdb(MdbError::Invalid | MdbError::VersionMismatch) => {
                Self::Foreign { path: owned, reason: source.to_string() }
            }
            heed::Error::Mdb(MdbError::Corrupted | MdbError::PageNotFound | MdbError::CursorFull | MdbError::Panic) => {
                Self::Damaged { path: owned, what: source.to_string() }
            }
            _ => Self::Io { path: owned, source: io::Error::other(source) },
        }
    }
}

/// The error number `EIO` (input/output error) on Unix systems.
const EIO: i32 = 5;
/// Number of bytes that are written to find out whether a disk is full.
const PROBE_BYTES: usize = 256 << 10;

/// Whether the disk of a file is full. Tries to write a probe file to the file's directory.
fn disk_is_full(path: &Path) -> bool {
    let directory = path.parent().filter(|directory| !directory.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let Ok(directory) = Directory::open_root(directory) else { return false };
    // The closure always fails, so the probe file is always removed. `StorageFull` can only come from the write.
    let written = directory.replace("space.probe", |file| {
        file.write_all(&vec![0; PROBE_BYTES])?;
        Err(io::ErrorKind::Other.into())
    });
    written.is_err_and(|error| matches!(error.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded))
}

/// Describes the process that holds a lock.
fn holder(pid: Option<u32>) -> String {
    pid.map_or_else(|| "another process".to_owned(), |pid| format!("process {pid}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn system_errors_name_the_next_step() {
        let path = Path::new("project/.aurora/index/data.mdb");
        let convert = |kind: io::ErrorKind| StorageError::lmdb(path, heed::Error::Io(kind.into()));
        let full = convert(io::ErrorKind::StorageFull);
        assert!(matches!(full, StorageError::DiskFull { .. }));
        let denied = convert(io::ErrorKind::PermissionDenied);
        assert!(matches!(denied, StorageError::ReadOnly { .. }));
        for (error, advice) in [(full, "free some"), (denied, "change its permissions")] {
            let message = error.to_string();
            assert!(message.contains("project/.aurora/index") && message.contains(advice), "{message}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_full_disk_is_recognised_by_its_error_number() {
        const ENOSPC: i32 = 28;
        let error = heed::Error::from(heed::MdbError::Other(ENOSPC));
        let error = StorageError::lmdb(Path::new("index"), error);
        assert!(matches!(error, StorageError::DiskFull { .. }), "{error:?}");
    }
}
