//! Implementation for systems other than Unix, where paths are not opened relative to handles. It examines every
//! component of a path before it uses the path.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File, FileType, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use crate::metadata::{EntryKind, Metadata};
use crate::refusal::Refusal;

/// A directory, identified by its path.
#[derive(Debug)]
pub(crate) struct Handle(PathBuf);

impl Handle {
    pub(crate) fn open_root(path: &Path) -> io::Result<Self> {
        if fs::metadata(path)?.is_dir() { Ok(Self(path.to_owned())) } else { Err(Refusal::NotDirectory.into()) }
    }

    pub(crate) fn open_directory(&self, path: &Path) -> io::Result<Self> {
        match self.metadata(path)?.kind {
            EntryKind::Directory => Ok(Self(self.0.join(path))),
            EntryKind::Link => Err(Refusal::SymbolicLink.into()),
            _ => Err(Refusal::NotDirectory.into()),
        }
    }

    /// Opens a file. The caller checks that it is a regular file.
    pub(crate) fn open_file(&self, path: &Path, for_writing: bool) -> io::Result<File> {
        match self.metadata(path)?.kind {
            EntryKind::File => OpenOptions::new().read(true).write(for_writing).open(self.0.join(path)),
            EntryKind::Link => Err(Refusal::SymbolicLink.into()),
            _ => Err(Refusal::NotRegular.into()),
        }
    }

    /// Creates a file. It inherits its access rights from the directory, so `_is_private` is ignored.
    pub(crate) fn create_new(&self, name: &OsStr, _is_private: bool) -> io::Result<File> {
        OpenOptions::new().read(true).write(true).create_new(true).open(self.0.join(name))
    }

    pub(crate) fn create_directory(&self, name: &OsStr, _is_private: bool) -> io::Result<()> {
        fs::create_dir(self.0.join(name))
    }

    pub(crate) fn is_private(&self) -> io::Result<bool> {
        Ok(false)
    }

    pub(crate) fn make_private(&self) -> io::Result<()> {
        Ok(())
    }

    pub(crate) fn make_file_private(&self, _name: &OsStr) -> io::Result<()> {
        Ok(())
    }

    pub(crate) fn metadata(&self, path: &Path) -> io::Result<Metadata> {
        let mut whole = self.0.clone();
        let mut components = path.components().peekable();
        while let Some(component) = components.next() {
            whole.push(component);
            let found = fs::symlink_metadata(&whole)?;
            if components.peek().is_none() {
                return Ok(metadata(&found));
            }
            match kind(found.file_type()) {
                EntryKind::Directory => {}
                EntryKind::Link => return Err(Refusal::SymbolicLink.into()),
                _ => return Err(Refusal::NotDirectory.into()),
            }
        }
        Err(Refusal::Outside.into())
    }

    pub(crate) fn entries(&self) -> io::Result<Vec<(OsString, EntryKind)>> {
        let entry = |entry: io::Result<fs::DirEntry>| {
            let entry = entry?;
            Ok((entry.file_name(), kind(entry.file_type()?)))
        };
        fs::read_dir(&self.0)?.map(entry).collect()
    }

    pub(crate) fn rename(&self, from: &OsStr, to: &OsStr) -> io::Result<()> {
        fs::rename(self.0.join(from), self.0.join(to))
    }

    pub(crate) fn remove_file(&self, name: &OsStr) -> io::Result<()> {
        fs::remove_file(self.0.join(name))
    }

    /// Does nothing: directories cannot be opened for flushing on these systems.
    pub(crate) fn synchronise(&self) -> io::Result<()> {
        Ok(())
    }
}

/// Creates a directory and its missing parents. An existing directory is not an error.
pub(crate) fn create_private_root(path: &Path) -> io::Result<()> {
    fs::create_dir_all(path)
}

/// Opens a file by a path that the user has given.
pub(crate) fn open_named(path: &Path) -> io::Result<File> {
    // Checks the type first, because opening a device may block.
    if fs::metadata(path)?.is_file() { File::open(path) } else { Err(Refusal::NotRegular.into()) }
}

fn metadata(found: &fs::Metadata) -> Metadata {
    let nanoseconds = |time: io::Result<SystemTime>| {
        let since = time.ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
        since.and_then(|since| i64::try_from(since.as_nanos()).ok()).unwrap_or(0)
    };
    let kind = kind(found.file_type());
    let (modified, changed) = (nanoseconds(found.modified()), nanoseconds(found.created()));
    Metadata { kind, len: found.len(), modified, changed, device: 0, inode: 0 }
}

fn kind(kind: FileType) -> EntryKind {
    match () {
        () if kind.is_symlink() => EntryKind::Link,
        () if kind.is_dir() => EntryKind::Directory,
        () if kind.is_file() => EntryKind::File,
        () => EntryKind::Other,
    }
}
