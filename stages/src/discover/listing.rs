//! Reads directories: the names and kinds of all entries at once, and the metadata of an entry on request.
//!
//! On Linux a directory is opened relative to its parent and read into a buffer on the stack, which costs half as much
//! as the standard library with full paths. A [`DirectoryStamp`] makes it possible to cache the listing.

use std::ffi::{OsStr, OsString};
use std::io;
use std::path::Path;

use aurora_storage::FileStamp;

#[cfg(target_os = "linux")]
pub(super) use linux::DirectoryHandle;
#[cfg(not(target_os = "linux"))]
pub(super) use portable::DirectoryHandle;

/// The kind of a directory entry. Symbolic links are not followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FileKind {
    File,
    Directory,
    Link,
    Other,
}

/// The metadata of a file that the walk uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct FileMetadata {
    /// Size in bytes.
    pub(super) size: u64,
    /// Stamp of the file. Times before the epoch and unknown times are zero.
    pub(super) stamp: FileStamp,
}

/// The identity and last change of a directory. While the stamp is unchanged, no entry was added, removed or renamed.
///
/// The stamp contains ctime because a program can reset mtime, but doing so updates ctime. The default value is not the
/// stamp of any directory.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct DirectoryStamp {
    pub(super) device: u64,
    pub(super) inode: u64,
    /// Status change time (ctime), in nanoseconds since the epoch.
    pub(super) changed: i64,
    /// Modification time (mtime), in nanoseconds since the epoch.
    pub(super) modified: i64,
}

/// The name of an entry, with its kind or the error that occurred while determining the kind.
pub(super) type RawEntry = (OsString, io::Result<FileKind>);

#[cfg(target_os = "linux")]
mod linux {
    use std::mem::MaybeUninit;
    use std::os::fd::OwnedFd;
    use std::os::unix::ffi::OsStrExt as _;
    use std::path::PathBuf;
    use std::sync::Arc;

    use rustix::fs::{
        AtFlags, CWD, FileType, FsWord, Mode, OFlags, RawDir, ResolveFlags, Stat, fstat, fstatfs, openat, openat2,
        statat,
    };
    use rustix::io::Errno;

    use super::*;

    const OPEN_FLAGS: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);

    /// Magic numbers (see `statfs(2)`) of the local file systems that update the times of directories as POSIX
    /// requires: bcachefs, Btrfs, ext2 to ext4, F2FS, overlayfs, tmpfs, XFS, ZFS.
    const RELIABLE_FILE_SYSTEMS: [u32; 8] =
        [0xCA45_1A4E, 0x9123_683E, 0xEF53, 0xF2F5_2010, 0x794C_7630, 0x0102_1994, 0x5846_5342, 0x2FC1_2FC1];

    /// A directory, identified by its path relative to an open directory.
    #[derive(Clone)]
    pub(crate) struct DirectoryHandle {
        open: Arc<OwnedFd>,
        /// Path below `open`. Empty for the open directory itself.
        below: PathBuf,
        /// Device of the root of the walk, if its file system is one of [`RELIABLE_FILE_SYSTEMS`]. Network file systems
        /// and file systems in user space may assign different inode numbers at every mount.
        stable_device: Option<u64>,
    }

    impl DirectoryHandle {
        pub(crate) fn open(path: &Path) -> io::Result<Self> {
            let open = Arc::new(openat(CWD, path, OPEN_FLAGS, Mode::empty())?);
            let opened = Self { open, below: PathBuf::new(), stable_device: None };
            Ok(Self { stable_device: opened.device_with_stamps(), ..opened })
        }

        /// Returns a subdirectory without opening it. The subdirectory need not exist.
        pub(crate) fn inner(&self, name: &OsStr) -> Self {
            Self { open: Arc::clone(&self.open), below: self.below.join(name), stable_device: self.stable_device }
        }

        /// Opens the directory, which makes `stat` of its entries cheaper.
        pub(crate) fn opened(&self) -> io::Result<Self> {
            if self.below.as_os_str().is_empty() {
                return Ok(self.clone());
            }
            let mut components = self.below.components();
            let open = match (components.next(), components.next()) {
                (Some(_), None) => openat(&self.open, &self.below, OPEN_FLAGS | OFlags::NOFOLLOW, Mode::empty())?,
                _ => open_beneath(&self.open, &self.below)?,
            };
            Ok(Self { open: Arc::new(open), below: PathBuf::new(), stable_device: self.stable_device })
        }

        /// Returns the device if its file system is known to change a [`DirectoryStamp`] whenever entries change.
        pub(crate) fn device_with_stamps(&self) -> Option<u64> {
            let kind = fstatfs(&self.open).ok()?.f_type;
            RELIABLE_FILE_SYSTEMS.iter().find(|known| kind == **known as FsWord)?;
            Some(self.stamp()?.device)
        }

        /// Returns the stamp, or `None` if the directory does not exist.
        pub(crate) fn stamp(&self) -> Option<DirectoryStamp> {
            let stat = if self.below.as_os_str().is_empty() {
                fstat(&self.open)
            } else {
                statat(&self.open, &self.below, AtFlags::SYMLINK_NOFOLLOW)
            };
            let stat = stat.ok().filter(|stat| FileType::from_raw_mode(stat.st_mode) == FileType::Directory)?;
            let changed = nanoseconds(stat.st_ctime, stat.st_ctime_nsec)?;
            let modified = nanoseconds(stat.st_mtime, stat.st_mtime_nsec)?;
            Some(DirectoryStamp { device: stat.st_dev, inode: stat.st_ino, changed, modified })
        }

        /// Returns the entries of the directory, which must be [`opened`](Self::opened).
        // The buffer must not become part of the stack frames of the walk, whose recursion is as deep as the tree.
        #[inline(never)]
        pub(crate) fn entries(&self) -> io::Result<Vec<RawEntry>> {
            let mut buffer = [const { MaybeUninit::uninit() }; 32 << 10];
            let mut listed = RawDir::new(&self.open, &mut buffer);
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

        /// Returns the kind of an entry. Calls `stat` if the file system does not report the kinds of entries.
        fn kind(&self, name: &OsStr, reported: FileType) -> io::Result<FileKind> {
            Ok(match reported {
                FileType::RegularFile => FileKind::File,
                FileType::Directory => FileKind::Directory,
                FileType::Symlink => FileKind::Link,
                FileType::Unknown => match FileType::from_raw_mode(self.stat(name)?.st_mode) {
                    FileType::Unknown => FileKind::Other,
                    known => self.kind(name, known)?,
                },
                _ => FileKind::Other,
            })
        }

        pub(crate) fn metadata(&self, name: &OsStr) -> io::Result<FileMetadata> {
            let stat = self.stat(name)?;
            let size = u64::try_from(stat.st_size).unwrap_or(0);
            let modified = nanoseconds(stat.st_mtime, stat.st_mtime_nsec).unwrap_or(0).max(0);
            let changed = nanoseconds(stat.st_ctime, stat.st_ctime_nsec).unwrap_or(0).max(0);
            let inode = if self.stable_device == Some(stat.st_dev) { stat.st_ino } else { 0 };
            Ok(FileMetadata { size, stamp: FileStamp { modified, changed, inode } })
        }

        fn stat(&self, name: &OsStr) -> io::Result<Stat> {
            let stat = if self.below.as_os_str().is_empty() {
                statat(&self.open, name, AtFlags::SYMLINK_NOFOLLOW)
            } else {
                statat(&self.open, self.below.join(name), AtFlags::SYMLINK_NOFOLLOW)
            };
            Ok(stat?)
        }
    }

    /// Opens a directory several levels below another directory. No component of the path may be a symbolic link.
    fn open_beneath(directory: &OwnedFd, path: &Path) -> io::Result<OwnedFd> {
        let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS;
        match openat2(directory, path, OPEN_FLAGS, Mode::empty(), resolve) {
            // Old kernels do not have the call, and sandboxes reject it.
            Err(Errno::NOSYS | Errno::PERM | Errno::AGAIN) => {}
            opened => return Ok(opened?),
        }
        let mut inner: Option<OwnedFd> = None;
        for component in path {
            inner = Some(openat(
                inner.as_ref().unwrap_or(directory),
                component,
                OPEN_FLAGS | OFlags::NOFOLLOW,
                Mode::empty(),
            )?);
        }
        inner.ok_or_else(|| Errno::NOENT.into())
    }

    fn nanoseconds(seconds: i64, part: u64) -> Option<i64> {
        seconds.checked_mul(1_000_000_000)?.checked_add(i64::try_from(part).ok()?)
    }
}

#[cfg(not(target_os = "linux"))]
mod portable {
    use std::fs;
    #[cfg(unix)]
    use std::os::unix::fs::MetadataExt as _;
    use std::path::PathBuf;
    use std::time::{SystemTime, UNIX_EPOCH};

    use super::*;

    /// A directory, identified by its path.
    #[derive(Clone)]
    pub(crate) struct DirectoryHandle(PathBuf);

    impl DirectoryHandle {
        pub(crate) fn open(path: &Path) -> io::Result<Self> {
            Ok(Self(path.to_owned()))
        }

        /// Returns a subdirectory without opening it. The subdirectory need not exist.
        pub(crate) fn inner(&self, name: &OsStr) -> Self {
            Self(self.0.join(name))
        }

        /// Returns the same handle, because opening has no effect on this system.
        pub(crate) fn opened(&self) -> io::Result<Self> {
            Ok(self.clone())
        }

        /// Returns `None`, because stamps are not reliable on this system.
        pub(crate) fn device_with_stamps(&self) -> Option<u64> {
            None
        }

        /// Returns `None`, because stamps are not used on this system.
        pub(crate) fn stamp(&self) -> Option<DirectoryStamp> {
            None
        }

        pub(crate) fn entries(&self) -> io::Result<Vec<RawEntry>> {
            let kind = |kind: fs::FileType| {
                if kind.is_file() {
                    FileKind::File
                } else if kind.is_dir() {
                    FileKind::Directory
                } else if kind.is_symlink() {
                    FileKind::Link
                } else {
                    FileKind::Other
                }
            };
            let entry = |entry: fs::DirEntry| (entry.file_name(), entry.file_type().map(kind));
            self.0.read_dir()?.map(|found| found.map(entry)).collect()
        }

        pub(crate) fn metadata(&self, name: &OsStr) -> io::Result<FileMetadata> {
            let metadata = self.0.join(name).symlink_metadata()?;
            let nanoseconds = |time: io::Result<SystemTime>| {
                let since = time.ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
                since.and_then(|since| i64::try_from(since.as_nanos()).ok()).unwrap_or(0)
            };
            #[cfg(unix)]
            let changed = metadata.ctime().saturating_mul(1_000_000_000).saturating_add(metadata.ctime_nsec()).max(0);
            #[cfg(not(unix))]
            let changed = nanoseconds(metadata.created());
            let stamp = FileStamp { modified: nanoseconds(metadata.modified()), changed, inode: 0 };
            Ok(FileMetadata { size: metadata.len(), stamp })
        }
    }
}
