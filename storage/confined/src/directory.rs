//! An open directory, and what lies below it.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use crate::metadata::{EntryKind, Metadata};
use crate::refusal::Refusal;
use crate::regular::{read_open, regular, text};
use crate::{system, temporary};

/// How often a file is looked for and created in turn, while somebody else creates and removes it.
const ATTEMPTS: usize = 16;

/// An open directory. Cheap to clone.
///
/// A *relative path* has one or more normal components; a *name* has exactly one.
#[derive(Debug, Clone)]
pub struct Directory {
    handle: Arc<system::Handle>,
    path: PathBuf,
    /// Whether new files and directories inherit the permissions of the directory. False if the user has named the
    /// directory, which may be private for other reasons.
    passes_on_privacy: bool,
}

impl Directory {
    /// Opens a directory that the user has named: symbolic links in `path` are followed.
    ///
    /// # Errors
    /// When there is none, or it may not be opened.
    pub fn open_root(path: &Path) -> io::Result<Self> {
        let handle = Arc::new(system::Handle::open_root(path)?);
        Ok(Self { handle, path: path.to_owned(), passes_on_privacy: false })
    }

    /// Opens a directory of the user, and creates it if it does not exist. Nobody else may use it or anything created
    /// in it.
    ///
    /// # Errors
    /// When it cannot be created or opened. Failing to change the permissions of an existing directory is not an error.
    pub fn create_private_root(path: &Path) -> io::Result<Self> {
        system::create_private_root(path)?;
        Self::open_private_root(path)
    }

    /// The same for a directory that is there.
    ///
    /// # Errors
    /// When it cannot be opened.
    pub fn open_private_root(path: &Path) -> io::Result<Self> {
        let root = Self { passes_on_privacy: true, ..Self::open_root(path)? };
        // The permissions of somebody else's directory cannot be changed.
        let _ = root.handle.make_private();
        Ok(root)
    }

    /// Takes the permissions of the group and of others away from the directory and from everything in it, as far as the user
    /// may do so. Symbolic links are not followed.
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

    /// The path that it was opened by, for messages and for libraries that take nothing else.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Opens the directory at a relative path.
    ///
    /// # Errors
    /// [`Refusal`], or what the system says.
    pub fn open_directory(&self, path: impl AsRef<Path>) -> io::Result<Self> {
        let path = relative(path.as_ref())?;
        let handle = Arc::new(self.handle.open_directory(path)?);
        Ok(Self { handle, path: self.path.join(path), passes_on_privacy: true })
    }

    /// Opens the directory called `name`, and creates it if it does not exist. In a directory that only its owner may
    /// use, new directories and files are private as well.
    ///
    /// # Errors
    /// [`Refusal`], or what the system says.
    pub fn create_directory(&self, name: impl AsRef<OsStr>) -> io::Result<Self> {
        self.create(name.as_ref(), self.is_private()?)
    }

    /// The same for a directory that only its owner may use. The permissions of an existing directory do not change.
    ///
    /// # Errors
    /// [`Refusal`], or what the system says.
    pub fn create_private_directory(&self, name: impl AsRef<OsStr>) -> io::Result<Self> {
        self.create(name.as_ref(), true)
    }

    fn create(&self, name: &OsStr, is_private: bool) -> io::Result<Self> {
        let name = self::name(name)?;
        match self.open_directory(name) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            opened => return opened,
        }
        match self.handle.create_directory(name, is_private) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
            _ => self.open_directory(name),
        }
    }

    /// Opens the directory at a relative path, and makes it and those above it where there are none.
    ///
    /// # Errors
    /// [`Refusal`], or what the system says.
    pub fn create_directories(&self, path: impl AsRef<Path>) -> io::Result<Self> {
        let mut names = relative(path.as_ref())?.iter();
        names.try_fold(self.clone(), |directory, name| directory.create_directory(name))
    }

    /// Puts a file with this content at a relative path, with [`Directory::replace`]; its directories are made.
    ///
    /// # Errors
    /// [`Refusal`], or what the system says.
    pub fn write(&self, path: impl AsRef<Path>, content: &[u8]) -> io::Result<()> {
        let path = relative(path.as_ref())?;
        let above = path.parent().filter(|above| !above.as_os_str().is_empty());
        let directory = above.map_or_else(|| Ok(self.clone()), |above| self.create_directories(above))?;
        directory.replace(path.file_name().ok_or(Refusal::Outside)?, |file| io::Write::write_all(file, content))
    }

    /// Opens the regular file at a relative path for reading.
    ///
    /// # Errors
    /// [`Refusal`], or what the system says.
    pub fn open_file(&self, path: impl AsRef<Path>) -> io::Result<File> {
        regular(self.handle.open_file(relative(path.as_ref())?, false)?)
    }

    /// Opens the regular file at a relative path for reading and writing.
    ///
    /// # Errors
    /// [`Refusal`], or what the system says.
    pub fn open_for_writing(&self, path: impl AsRef<Path>) -> io::Result<File> {
        regular(self.handle.open_file(relative(path.as_ref())?, true)?)
    }

    /// The content of the regular file at a relative path, if it has no more than `limit` bytes.
    ///
    /// # Errors
    /// [`Refusal`], or what the system says.
    pub fn read(&self, path: impl AsRef<Path>, limit: u64) -> io::Result<Vec<u8>> {
        read_open(self.open_file(path)?, limit)
    }

    /// The same as text.
    ///
    /// # Errors
    /// Also [`io::ErrorKind::InvalidData`] if it is not UTF-8.
    pub fn read_to_string(&self, path: impl AsRef<Path>, limit: u64) -> io::Result<String> {
        text(self.read(path, limit)?)
    }

    /// Metadata of what lies at a relative path; that of a symbolic link is its own.
    ///
    /// # Errors
    /// [`Refusal`], or what the system says.
    pub fn metadata(&self, path: impl AsRef<Path>) -> io::Result<Metadata> {
        self.handle.metadata(relative(path.as_ref())?)
    }

    /// Whether a name or relative path stands for something, a symbolic link included.
    ///
    /// # Errors
    /// When that cannot be told.
    pub fn contains(&self, path: impl AsRef<Path>) -> io::Result<bool> {
        match self.metadata(path) {
            Ok(_) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// The names in the directory and what they stand for, in no order.
    ///
    /// # Errors
    /// What the system says.
    pub fn entries(&self) -> io::Result<Vec<(OsString, EntryKind)>> {
        self.handle.entries()
    }

    /// Creates a file for reading and writing.
    ///
    /// # Errors
    /// [`io::ErrorKind::AlreadyExists`] when the name stands for something, even for a dangling link.
    pub fn create_new(&self, name: impl AsRef<OsStr>) -> io::Result<File> {
        self.handle.create_new(self::name(name.as_ref())?, self.is_private()?)
    }

    /// Whether only the owner may use the directory, so that what is created in it is private as well. False for a directory that
    /// was opened by [`Self::open_root`].
    ///
    /// # Errors
    /// When the system cannot read the permissions.
    pub fn is_private(&self) -> io::Result<bool> {
        Ok(self.passes_on_privacy && self.handle.is_private()?)
    }

    /// Opens a file for reading and writing, and creates it empty if there is none.
    ///
    /// # Errors
    /// [`Refusal`], or what the system says.
    pub fn open_or_create(&self, name: impl AsRef<OsStr>) -> io::Result<File> {
        let name = name.as_ref();
        let mut attempts = 0;
        loop {
            attempts += 1;
            match self.open_for_writing(name) {
                Err(error) if error.kind() == io::ErrorKind::NotFound && attempts < ATTEMPTS => {}
                opened => return opened,
            }
            match self.create_new(name) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                created => return created,
            }
        }
    }

    /// Puts a new file into the place of the one called `name`, if any: it is written under a random name first, so that
    /// a reader sees the old content or the new one.
    ///
    /// # Errors
    /// Those of `write`, or what the system says; what was there stays, then.
    pub fn replace(&self, name: impl AsRef<OsStr>, write: impl FnOnce(&mut File) -> io::Result<()>) -> io::Result<()> {
        let name = self::name(name.as_ref())?;
        let temporary = temporary::name_for(name);
        let mut file = self.create_new(&temporary)?;
        let written = write(&mut file).and_then(|()| {
            drop(file);
            self.handle.rename(&temporary, name)
        });
        if written.is_err() {
            // The error that is returned says more than one of this.
            let _ = self.handle.remove_file(&temporary);
        }
        written
    }

    /// Gives what is called `from` the name `to`, in one step; a file of that name is replaced.
    ///
    /// # Errors
    /// What the system says.
    pub fn rename(&self, from: impl AsRef<OsStr>, to: impl AsRef<OsStr>) -> io::Result<()> {
        self.handle.rename(self::name(from.as_ref())?, self::name(to.as_ref())?)
    }

    /// Removes what a name stands for: a directory with all that is in it, or the link itself. Nothing there is no
    /// error.
    ///
    /// # Errors
    /// What the system says.
    pub fn remove(&self, name: impl AsRef<OsStr>) -> io::Result<()> {
        let name = self::name(name.as_ref())?;
        let removed = match self.metadata(name) {
            // The standard library removes a tree relative to handles, and the links in it as what they are.
            Ok(found) if found.kind == EntryKind::Directory => std::fs::remove_dir_all(self.path.join(name)),
            Ok(_) => self.handle.remove_file(name),
            Err(error) => Err(error),
        };
        match removed {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }

    /// Makes sure that the entries are on disk.
    ///
    /// # Errors
    /// What the system says.
    pub fn synchronise(&self) -> io::Result<()> {
        self.handle.synchronise()
    }
}

/// The path, if every component is a normal one and there is at least one.
fn relative(path: &Path) -> io::Result<&Path> {
    let mut components = path.components().peekable();
    let is_below = components.peek().is_some() && components.all(|part| matches!(part, Component::Normal(_)));
    if is_below { Ok(path) } else { Err(Refusal::Outside.into()) }
}

/// The name, if it is a single normal component.
fn name(name: &OsStr) -> io::Result<&OsStr> {
    let mut components = Path::new(name).components();
    let is_name = matches!(components.next(), Some(Component::Normal(only)) if only == name);
    if is_name && components.next().is_none() { Ok(name) } else { Err(Refusal::Outside.into()) }
}
