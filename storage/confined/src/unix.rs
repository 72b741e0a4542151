//! Implementation for Unix, which opens everything relative to directory handles.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Component, Path};

use rustix::fs::{
    AtFlags, CWD, Dir, FileType, Mode, OFlags, RawMode, Stat, chmodat, fchmod, fstat, fsync, mkdirat, openat, renameat,
    statat, unlinkat,
};
use rustix::io::Errno;

use crate::metadata::{EntryKind, Metadata};
use crate::refusal::Refusal;

const DIRECTORY: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);
/// Flags for opening a file. With these flags, opening a terminal or a pipe without a writer does not block.
const FILE: OFlags = OFlags::NONBLOCK.union(OFlags::NOCTTY).union(OFlags::CLOEXEC);

/// Permissions that the owner of a new file always gets. Some umasks would remove them, and the file could not be
/// reopened.
const OWNER_OF_FILE: RawMode = 0o600;
/// Permissions that the owner of a new directory always gets, regardless of the umask.
const OWNER_OF_DIRECTORY: RawMode = 0o700;
/// Permissions of the group and of others.
const EVERYBODY_ELSE: RawMode = 0o077;

/// An open directory.
#[derive(Debug)]
pub(crate) struct Handle(OwnedFd);

impl Handle {
    pub(crate) fn open_root(path: &Path) -> io::Result<Self> {
        Ok(Self(openat(CWD, path, DIRECTORY, Mode::empty())?))
    }

    pub(crate) fn open_directory(&self, path: &Path) -> io::Result<Self> {
        match open_beneath(&self.0, path, DIRECTORY) {
            // The error may also mean a symbolic link, depending on the system call.
            Err(Errno::NOTDIR) => Err(self.not_a_directory(path)),
            opened => opened.map(Self).map_err(map_refusal),
        }
    }

    fn not_a_directory(&self, path: &Path) -> io::Error {
        match self.metadata(path) {
            Ok(found) if found.kind != EntryKind::Link => Refusal::NotDirectory.into(),
            Ok(_) => Refusal::SymbolicLink.into(),
            Err(error) => error,
        }
    }

    /// Opens a file. The caller checks that it is a regular file.
    pub(crate) fn open_file(&self, path: &Path, for_writing: bool) -> io::Result<File> {
        let access = if for_writing { OFlags::RDWR } else { OFlags::RDONLY };
        match open_beneath(&self.0, path, access | FILE) {
            // The system returns these errors for sockets, for pipes without a reader, and for directories opened for
            // writing.
            Err(Errno::NXIO | Errno::ISDIR) => Err(Refusal::NotRegular.into()),
            opened => opened.map(File::from).map_err(map_refusal),
        }
    }

    pub(crate) fn create_new(&self, name: &OsStr, is_private: bool) -> io::Result<File> {
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mode = if is_private { OWNER_OF_FILE } else { 0o666 };
        let file = openat(&self.0, name, flags, Mode::from_raw_mode(mode))?;
        let mode = fstat(&file)?.st_mode;
        if mode & OWNER_OF_FILE != OWNER_OF_FILE {
            fchmod(&file, Mode::from_raw_mode(mode | OWNER_OF_FILE))?;
        }
        Ok(file.into())
    }

    pub(crate) fn create_directory(&self, name: &OsStr, is_private: bool) -> io::Result<()> {
        let mode = if is_private { OWNER_OF_DIRECTORY } else { 0o777 };
        mkdirat(&self.0, name, Mode::from_raw_mode(mode))?;
        let mode = statat(&self.0, name, AtFlags::SYMLINK_NOFOLLOW)?.st_mode;
        if mode & OWNER_OF_DIRECTORY != OWNER_OF_DIRECTORY {
            chmodat(&self.0, name, Mode::from_raw_mode(mode | OWNER_OF_DIRECTORY), AtFlags::empty())?;
        }
        Ok(())
    }

    /// Whether the group and others have no permissions on the directory.
    pub(crate) fn is_private(&self) -> io::Result<bool> {
        Ok(fstat(&self.0)?.st_mode & EVERYBODY_ELSE == 0)
    }

    /// Removes the permissions of the group and of others from the directory.
    pub(crate) fn make_private(&self) -> io::Result<()> {
        let mode = fstat(&self.0)?.st_mode;
        if mode & EVERYBODY_ELSE != 0 {
            fchmod(&self.0, Mode::from_raw_mode(mode & !EVERYBODY_ELSE))?;
        }
        Ok(())
    }

    /// Removes the permissions of the group and of others from the regular file called `name`.
    pub(crate) fn make_file_private(&self, name: &OsStr) -> io::Result<()> {
        let stat = statat(&self.0, name, AtFlags::SYMLINK_NOFOLLOW)?;
        if FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile && stat.st_mode & EVERYBODY_ELSE != 0 {
            let mode = Mode::from_raw_mode(stat.st_mode & !EVERYBODY_ELSE);
            chmodat(&self.0, name, mode, AtFlags::empty())?;
        }
        Ok(())
    }

    pub(crate) fn metadata(&self, path: &Path) -> io::Result<Metadata> {
        let stat = match (path.parent(), path.file_name()) {
            (Some(parent), Some(name)) if !parent.as_os_str().is_empty() => {
                statat(self.open_directory(parent)?.0, name, AtFlags::SYMLINK_NOFOLLOW)?
            }
            _ => statat(&self.0, path, AtFlags::SYMLINK_NOFOLLOW)?,
        };
        Ok(metadata(&stat))
    }

    pub(crate) fn entries(&self) -> io::Result<Vec<(OsString, EntryKind)>> {
        let mut entries = Vec::new();
        for entry in Dir::read_from(&self.0)? {
            let entry = entry?;
            let name = OsStr::from_bytes(entry.file_name().to_bytes());
            if name == "." || name == ".." {
                continue;
            }
            let kind = match entry.file_type() {
                FileType::Unknown => self.metadata(Path::new(name))?.kind,
                file_type => kind(file_type),
            };
            entries.push((name.to_owned(), kind));
        }
        Ok(entries)
    }

    pub(crate) fn rename(&self, from: &OsStr, to: &OsStr) -> io::Result<()> {
        Ok(renameat(&self.0, from, &self.0, to)?)
    }

    pub(crate) fn remove_file(&self, name: &OsStr) -> io::Result<()> {
        Ok(unlinkat(&self.0, name, AtFlags::empty())?)
    }

    pub(crate) fn synchronise(&self) -> io::Result<()> {
        Ok(fsync(&self.0)?)
    }
}

/// Creates a directory that only its owner may use, and its missing parents. An existing directory is not an error.
pub(crate) fn create_private_root(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::DirBuilderExt as _;

    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(path)
}

/// Opens a file by a path that the user has given.
pub(crate) fn open_named(path: &Path) -> io::Result<File> {
    match openat(CWD, path, OFlags::RDONLY | FILE, Mode::empty()) {
        Err(Errno::NXIO) => Err(Refusal::NotRegular.into()),
        opened => Ok(opened?.into()),
    }
}

/// Opens a path below a directory without following a symbolic link.
#[cfg(any(target_os = "linux", target_os = "android"))]
fn open_beneath(directory: &OwnedFd, path: &Path, flags: OFlags) -> rustix::io::Result<OwnedFd> {
    use std::sync::atomic::{AtomicBool, Ordering};

    use rustix::fs::{ResolveFlags, openat2};

    /// Whether an earlier call showed that `openat2` is not supported. Linux before 5.6 and some sandboxes do not
    /// support it.
    static IS_MISSING: AtomicBool = AtomicBool::new(false);

    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    if !IS_MISSING.load(Ordering::Relaxed) {
        loop {
            match openat2(directory, path, flags | OFlags::NOFOLLOW, Mode::empty(), resolve) {
                // Another process renamed an entry while the kernel resolved the path, or a signal interrupted the
                // call: try again.
                Err(Errno::AGAIN | Errno::INTR) => {}
                Err(Errno::NOSYS | Errno::PERM | Errno::INVAL) => break,
                opened => return opened,
            }
        }
        // If opening by components succeeds, the kernel refused the system call and not the file.
        let opened = open_by_components(directory, path, flags);
        if opened.is_ok() {
            IS_MISSING.store(true, Ordering::Relaxed);
        }
        return opened;
    }
    open_by_components(directory, path, flags)
}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
fn open_beneath(directory: &OwnedFd, path: &Path, flags: OFlags) -> rustix::io::Result<OwnedFd> {
    open_by_components(directory, path, flags)
}

/// Opens a path below a directory one component at a time, without following a symbolic link.
pub(crate) fn open_by_components(directory: &OwnedFd, path: &Path, flags: OFlags) -> rustix::io::Result<OwnedFd> {
    let mut components = path.components().peekable();
    let mut inner: Option<OwnedFd> = None;
    while let Some(component) = components.next() {
        let Component::Normal(name) = component else { return Err(Errno::XDEV) };
        let flags = if components.peek().is_none() { flags } else { DIRECTORY };
        let from = inner.as_ref().unwrap_or(directory);
        inner = Some(openat(from, name, flags | OFlags::NOFOLLOW, Mode::empty())?);
    }
    inner.ok_or(Errno::NOENT)
}

/// Converts a system error. An error for a symbolic link, or for a path that leads outside, becomes a refusal.
fn map_refusal(error: Errno) -> io::Error {
    match error {
        Errno::LOOP | Errno::XDEV => Refusal::SymbolicLink.into(),
        // FreeBSD and NetBSD return these errors for a symbolic link.
        #[cfg(any(target_os = "freebsd", target_os = "netbsd"))]
        Errno::MLINK | Errno::FTYPE => Refusal::SymbolicLink.into(),
        error => error.into(),
    }
}

#[allow(clippy::unnecessary_cast, reason = "the types of these fields differ between systems")]
fn metadata(stat: &Stat) -> Metadata {
    Metadata {
        kind: kind(FileType::from_raw_mode(stat.st_mode)),
        len: u64::try_from(stat.st_size).unwrap_or(0),
        modified: nanoseconds(stat.st_mtime as i64, stat.st_mtime_nsec as i64),
        changed: nanoseconds(stat.st_ctime as i64, stat.st_ctime_nsec as i64),
        device: stat.st_dev as u64,
        inode: stat.st_ino as u64,
    }
}

fn nanoseconds(seconds: i64, part: i64) -> i64 {
    seconds.saturating_mul(1_000_000_000).saturating_add(part)
}

fn kind(file_type: FileType) -> EntryKind {
    match file_type {
        FileType::RegularFile => EntryKind::File,
        FileType::Directory => EntryKind::Directory,
        FileType::Symlink => EntryKind::Link,
        _ => EntryKind::Other,
    }
}
