//! An open directory and access to the files below it.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use crate::metadata::{EntryKind, Metadata};
use crate::refusal::Refusal;
use crate::regular::{check_regular, decode_utf_8, read_open};
use crate::{system, temporary};

/// Maximum number of attempts to open or create a file that another process keeps creating and removing.
const MAX_ATTEMPTS: usize = 16;

/// An open directory. Cheap to clone.
///
/// A *relative path* has one or more normal components; a *name* has exactly one.
#[derive(Debug, Clone)]
pub struct Directory {
    handle: Arc<system::Handle>,
    path: PathBuf,
    /// Whether new entries of a private directory become private too. False for a directory that the user has named,
    /// because that directory may be private for other reasons.
    passes_on_privacy: bool,
}

impl Directory {
    /// Opens a directory that the user has named. Symbolic links in `path` are followed.
    ///
    /// # Errors
    /// Fails if the directory does not exist or cannot be opened.
    pub fn open_root(path: &Path) -> io::Result<Self> {
        let handle = Arc::new(system::Handle::open_root(path)?);
        Ok(Self { handle, path: path.to_owned(), passes_on_privacy: false })
    }

    /// Opens the directory at `path`, and creates it if it does not exist. Only the owner may use the directory and the
    /// files that are created in it later.
    ///
    /// # Errors
    /// Fails if the directory cannot be created or opened. Failing to change the permissions of an existing directory
    /// is not an error.
    pub fn create_private_root(path: &Path) -> io::Result<Self> {
        system::create_private_root(path)?;
        Self::open_private_root(path)
    }

    /// Opens an existing directory, and removes the permissions of the group and of others as
    /// [`Self::create_private_root`] does.
    ///
    /// # Errors
    /// Fails if the directory cannot be opened.
    pub fn open_private_root(path: &Path) -> io::Result<Self> {
        let root = Self { passes_on_privacy: true, ..Self::open_root(path)? };
        // Errors are ignored: only the owner can change the permissions of a directory.
        let _ = root.handle.make_private();
        Ok(root)
    }

    /// Removes the permissions of the group and of others from the directory and everything in it. Entries whose
    /// permissions the user may not change stay unchanged. Symbolic links are not followed.
    pub fn make_private(&self) {
        for (name, kind) in self.entries().unwrap_or_default() {
            match kind {
                EntryKind::Directory => {
                    if let Ok(below) = self.open_directory(&name) {
                        below.make_private();
                    }
                }
                _ => drop(self.handle.make_file_private(&name)),
            }
        }
        let _ = self.handle.make_private();
    }

    /// The path by which the directory was opened. Use it only in messages and for libraries that accept only paths.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Opens the directory at a relative path.
    ///
    /// # Errors
    /// Returns a [`Refusal`] or a system error.
    pub fn open_directory(&self, path: impl AsRef<Path>) -> io::Result<Self> {
        let path = check_relative(path.as_ref())?;
        let handle = Arc::new(self.handle.open_directory(path)?);
        Ok(Self { handle, path: self.path.join(path), passes_on_privacy: true })
    }

    /// Opens the directory called `name`, and creates it if it does not exist. In a directory that only its owner may
    /// use, new directories and files are private as well.
    ///
    /// # Errors
    /// Returns a [`Refusal`] or a system error.
    pub fn create_directory(&self, name: impl AsRef<OsStr>) -> io::Result<Self> {
        self.create(name.as_ref(), self.is_private()?)
    }

    /// Opens the directory called `name`. If it does not exist, creates it so that only the owner may use it. The
    /// permissions of an existing directory do not change.
    ///
    /// # Errors
    /// Returns a [`Refusal`] or a system error.
    pub fn create_private_directory(&self, name: impl AsRef<OsStr>) -> io::Result<Self> {
        self.create(name.as_ref(), true)
    }

    fn create(&self, name: &OsStr, is_private: bool) -> io::Result<Self> {
        let name = check_name(name)?;
        match self.open_directory(name) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            opened => return opened,
        }
        match self.handle.create_directory(name, is_private) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
            _ => self.open_directory(name),
        }
    }

    /// Opens the directory at a relative path, and creates it and its parents if they do not exist.
    ///
    /// # Errors
    /// Returns a [`Refusal`] or a system error.
    pub fn create_directories(&self, path: impl AsRef<Path>) -> io::Result<Self> {
        let mut names = check_relative(path.as_ref())?.iter();
        names.try_fold(self.clone(), |directory, name| directory.create_directory(name))
    }

    /// Writes a file at a relative path, with [`Directory::replace`]. Creates the directories above it if they do not
    /// exist.
    ///
    /// # Errors
    /// Returns a [`Refusal`] or a system error.
    pub fn write(&self, path: impl AsRef<Path>, content: &[u8]) -> io::Result<()> {
        let path = check_relative(path.as_ref())?;
        let above = path.parent().filter(|above| !above.as_os_str().is_empty());
        let directory = above.map_or_else(|| Ok(self.clone()), |above| self.create_directories(above))?;
        directory.replace(path.file_name().ok_or(Refusal::Outside)?, |file| io::Write::write_all(file, content))
    }

    /// Opens the regular file at a relative path for reading.
    ///
    /// # Errors
    /// Returns a [`Refusal`] or a system error.
    pub fn open_file(&self, path: impl AsRef<Path>) -> io::Result<File> {
        check_regular(self.handle.open_file(check_relative(path.as_ref())?, false)?)
    }

    /// Opens the regular file at a relative path for reading and writing.
    ///
    /// # Errors
    /// Returns a [`Refusal`] or a system error.
    pub fn open_for_writing(&self, path: impl AsRef<Path>) -> io::Result<File> {
        check_regular(self.handle.open_file(check_relative(path.as_ref())?, true)?)
    }

    /// Reads the regular file at a relative path, if it has at most `limit` bytes.
    ///
    /// # Errors
    /// Returns a [`Refusal`] or a system error.
    pub fn read(&self, path: impl AsRef<Path>, limit: u64) -> io::Result<Vec<u8>> {
        read_open(self.open_file(path)?, limit)
    }

    /// Reads the regular file at a relative path as text, if it has at most `limit` bytes.
    ///
    /// # Errors
    /// Returns the errors of [`Self::read`], and [`io::ErrorKind::InvalidData`] if the file is not UTF-8.
    pub fn read_to_string(&self, path: impl AsRef<Path>, limit: u64) -> io::Result<String> {
        decode_utf_8(self.read(path, limit)?)
    }

    /// Returns the metadata of the entry at a relative path. Does not follow a symbolic link.
    ///
    /// # Errors
    /// Returns a [`Refusal`] or a system error.
    pub fn metadata(&self, path: impl AsRef<Path>) -> io::Result<Metadata> {
        self.handle.metadata(check_relative(path.as_ref())?)
    }

    /// Whether a relative path exists. A symbolic link counts, even if it is dangling.
    ///
    /// # Errors
    /// Fails if the metadata of an existing entry cannot be read.
    pub fn contains(&self, path: impl AsRef<Path>) -> io::Result<bool> {
        match self.metadata(path) {
            Ok(_) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Returns the names in the directory and the kinds of the entries, in no particular order.
    ///
    /// # Errors
    /// Returns any system error.
    pub fn entries(&self) -> io::Result<Vec<(OsString, EntryKind)>> {
        self.handle.entries()
    }

    /// Creates a file for reading and writing.
    ///
    /// # Errors
    /// Returns [`io::ErrorKind::AlreadyExists`] if an entry with this name exists, even a dangling link.
    pub fn create_new(&self, name: impl AsRef<OsStr>) -> io::Result<File> {
        self.handle.create_new(check_name(name.as_ref())?, self.is_private()?)
    }

    /// Whether only the owner may use the directory, so that new entries become private too. Always false for a
    /// directory that was opened by [`Self::open_root`].
    ///
    /// # Errors
    /// Fails if the system cannot read the permissions.
    pub fn is_private(&self) -> io::Result<bool> {
        Ok(self.passes_on_privacy && self.handle.is_private()?)
    }

    /// Opens a file for reading and writing, and creates it empty if it does not exist.
    ///
    /// # Errors
    /// Returns a [`Refusal`] or a system error.
    pub fn open_or_create(&self, name: impl AsRef<OsStr>) -> io::Result<File> {
        let name = name.as_ref();
        let mut attempts = 0;
        loop {
            attempts += 1;
            match self.open_for_writing(name) {
                Err(error) if error.kind() == io::ErrorKind::NotFound && attempts < MAX_ATTEMPTS => {}
                opened => return opened,
            }
            match self.create_new(name) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                created => return created,
            }
        }
    }

    /// Replaces the file called `name`, or creates it. `write` writes the new content to a file with a random name,
    /// which is then renamed. A reader therefore sees either the old or the new content.
    ///
    /// # Errors
    /// Returns the error of `write`, or a system error. On an error the old file is unchanged.
    pub fn replace(&self, name: impl AsRef<OsStr>, write: impl FnOnce(&mut File) -> io::Result<()>) -> io::Result<()> {
        let name = check_name(name.as_ref())?;
        let temporary = temporary::name_for(name);
        let mut file = self.create_new(&temporary)?;
        let written = write(&mut file).and_then(|()| {
            drop(file);
            self.handle.rename(&temporary, name)
        });
        if written.is_err() {
            // An error of this removal is ignored, because the error of the write is more useful.
            let _ = self.handle.remove_file(&temporary);
        }
        written
    }

    /// Renames the entry called `from` to `to` atomically. An existing file called `to` is replaced.
    ///
    /// # Errors
    /// Returns any system error.
    pub fn rename(&self, from: impl AsRef<OsStr>, to: impl AsRef<OsStr>) -> io::Result<()> {
        self.handle.rename(check_name(from.as_ref())?, check_name(to.as_ref())?)
    }

    /// Removes the entry called `name`. A directory is removed with its content. If the entry is a symbolic link, only
    /// the link is removed. A missing entry is not an error.
    ///
    /// # Errors
    /// Returns any system error.
    pub fn remove(&self, name: impl AsRef<OsStr>) -> io::Result<()> {
        let name = check_name(name.as_ref())?;
        let removed = match self.metadata(name) {
            // `remove_dir_all` works relative to handles and does not follow symbolic links in the tree.
            Ok(found) if found.kind == EntryKind::Directory => std::fs::remove_dir_all(self.path.join(name)),
            Ok(_) => self.handle.remove_file(name),
            Err(error) => Err(error),
        };
        match removed {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }

    /// Flushes the directory's entries to disk.
    ///
    /// # Errors
    /// Returns any system error.
    pub fn synchronise(&self) -> io::Result<()> {
        self.handle.synchronise()
    }
}

/// Returns the path if it has at least one component and all components are normal.
fn check_relative(path: &Path) -> io::Result<&Path> {
    let mut components = path.components().peekable();
    let is_below = components.peek().is_some() && components.all(|part| matches!(part, Component::Normal(_)));
    if is_below { Ok(path) } else { Err(Refusal::Outside.into()) }
}

/// Returns the name if it is a single normal component.
fn check_name(name: &OsStr) -> io::Result<&OsStr> {
    let mut components = Path::new(name).components();
    let is_name = matches!(components.next(), Some(Component::Normal(only)) if only == name);
    if is_name && components.next().is_none() { Ok(name) } else { Err(Refusal::Outside.into()) }
}
