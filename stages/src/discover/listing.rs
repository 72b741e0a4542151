//! Directories as the walk reads them: names and kinds of entries first, metadata where it is asked for.
//!
//! On Linux a directory is opened below the one that holds it and read into a buffer on the stack, which is half of what
//! the standard library's way by whole paths costs.

use std::ffi::{OsStr, OsString};
use std::io;
use std::path::Path;

#[cfg(target_os = "linux")]
pub(super) use linux::Directory;
#[cfg(not(target_os = "linux"))]
pub(super) use portable::Directory;

/// What an entry of a directory is; links are not followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    File,
    Directory,
    Link,
    Other,
}

/// What is asked of a file's metadata.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Metadata {
    /// Bytes.
    pub(super) size: u64,
    /// Modification time, nanoseconds since the epoch; zero where it is earlier, or there is none.
    pub(super) mtime: i64,
}

/// An entry: its name and, if that could be told, what it is.
pub(super) type Entry = (OsString, io::Result<Kind>);

#[cfg(target_os = "linux")]
mod linux {
    use std::mem::MaybeUninit;
    use std::os::fd::OwnedFd;
    use std::os::unix::ffi::OsStrExt as _;

    use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, RawDir, Stat, openat, statat};

    use super::*;

    const FLAGS: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);

    /// An open directory.
    pub(in super::super) struct Directory(OwnedFd);

    impl Directory {
        pub(in super::super) fn open(path: &Path) -> io::Result<Self> {
            Ok(Self(openat(CWD, path, FLAGS, Mode::empty())?))
        }

        /// Opens a directory in this one, whose path is `path`.
        pub(in super::super) fn open_inner(&self, path: &Path) -> io::Result<Self> {
            let Some(name) = path.file_name() else { return Self::open(path) };
            Ok(Self(openat(&self.0, name, FLAGS | OFlags::NOFOLLOW, Mode::empty())?))
        }

        pub(in super::super) fn entries(&self) -> io::Result<Vec<Entry>> {
            let mut buffer = [const { MaybeUninit::uninit() }; 32 << 10];
            let mut listed = RawDir::new(&self.0, &mut buffer);
            let mut entries = Vec::new();
            while let Some(entry) = listed.next() {
                let entry = entry?;
                let name = entry.file_name().to_bytes();
                if !matches!(name, b"." | b"..") {
                    let name = OsStr::from_bytes(name);
                    entries.push((name.to_owned(), self.kind(name, entry.file_type())));
                }
            }
            Ok(entries)
        }

        /// Not every file system tells kinds with names.
        fn kind(&self, name: &OsStr, told: FileType) -> io::Result<Kind> {
            Ok(match told {
                FileType::RegularFile => Kind::File,
                FileType::Directory => Kind::Directory,
                FileType::Symlink => Kind::Link,
                FileType::Unknown => match FileType::from_raw_mode(self.stat(name)?.st_mode) {
                    FileType::Unknown => Kind::Other,
                    known => self.kind(name, known)?,
                },
                _ => Kind::Other,
            })
        }

        pub(in super::super) fn metadata(&self, name: &OsStr) -> io::Result<Metadata> {
            let stat = self.stat(name)?;
            let size = u64::try_from(stat.st_size).unwrap_or(0);
            let nanoseconds = i64::try_from(stat.st_mtime_nsec).unwrap_or(0);
            let mtime = stat.st_mtime.checked_mul(1_000_000_000).and_then(|time| time.checked_add(nanoseconds));
            Ok(Metadata { size, mtime: mtime.unwrap_or(0).max(0) })
        }

        fn stat(&self, name: &OsStr) -> io::Result<Stat> {
            Ok(statat(&self.0, name, AtFlags::SYMLINK_NOFOLLOW)?)
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod portable {
    use std::fs;
    use std::path::PathBuf;
    use std::time::UNIX_EPOCH;

    use super::*;

    /// A directory, by its path.
    pub(in super::super) struct Directory(PathBuf);

    impl Directory {
        pub(in super::super) fn open(path: &Path) -> io::Result<Self> {
            Ok(Self(path.to_owned()))
        }

        /// Opens a directory in this one, whose path is `path`.
        pub(in super::super) fn open_inner(&self, path: &Path) -> io::Result<Self> {
            Self::open(path)
        }

        pub(in super::super) fn entries(&self) -> io::Result<Vec<Entry>> {
            let kind = |kind: fs::FileType| match () {
                () if kind.is_file() => Kind::File,
                () if kind.is_dir() => Kind::Directory,
                () if kind.is_symlink() => Kind::Link,
                () => Kind::Other,
            };
            let entry = |entry: fs::DirEntry| (entry.file_name(), entry.file_type().map(kind));
            fs::read_dir(&self.0)?.map(|found| found.map(entry)).collect()
        }

        pub(in super::super) fn metadata(&self, name: &OsStr) -> io::Result<Metadata> {
            let metadata = self.0.join(name).symlink_metadata()?;
            let since = metadata.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
            let mtime = since.and_then(|time| i64::try_from(time.as_nanos()).ok());
            Ok(Metadata { size: metadata.len(), mtime: mtime.unwrap_or(0) })
        }
    }
}
