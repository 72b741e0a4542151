//! An index: the handle shared by its readers and its writer.
//!
//! LMDB follows the references in its pages, so a file that was changed or created by another program could make it
//! write anywhere. Therefore the whole structure is checked before the first write of a process, unless the caller
//! knows that the file is unchanged since a run of this program. In that case only the pages that a write uses are
//! checked.

use std::io;
use std::path::Path;
use std::sync::Arc;

use aurora_confined::Directory;
use aurora_lmdb_pages::first_damage;
use heed::EnvFlags;

use crate::error::StorageError;
use crate::interrupted::{self, reserve, wait_or_restore};
use crate::opening::OpenMode;
use crate::project::{ProjectDirectory, identity, keep_out_of_git};
use crate::read::Snapshot;
use crate::store::{IndexStore, MAX_ATTEMPTS};

const INDEX: &str = ProjectDirectory::INDEX;

/// An open index: a cheaply cloned handle for any number of readers and one writer.
#[derive(Clone)]
pub struct Environment {
    pub(crate) store: Arc<IndexStore>,
    mode: OpenMode,
}

impl Environment {
    /// Opens the index of a project, given its `.aurora` directory.
    ///
    /// # Errors
    /// There is no index, the file is not an index, is truncated, or is not writable; in [`OpenMode::Create`] also if
    /// the index has another format.
    pub fn open(directory: &Path, mode: OpenMode) -> Result<Self, StorageError> {
        if mode == OpenMode::Existing {
            return Self::in_home(&existing_home(directory)?, mode);
        }
        let home = ProjectDirectory::at(directory).create().map_err(|error| StorageError::io(directory, error))?;
        Self::in_home(&home, mode)
    }

    /// Opens the index of a project, given its `.aurora` directory. Creates the index if it does not exist, but not the
    /// directory.
    ///
    /// # Errors
    /// [`StorageError::NoIndex`] if the directory does not exist, and the errors of [`Environment::open`].
    pub fn open_in_existing(directory: &Path) -> Result<Self, StorageError> {
        Self::in_home(&existing_home(directory)?, OpenMode::Create)
    }

    fn in_home(home: &Directory, mode: OpenMode) -> Result<Self, StorageError> {
        if mode == OpenMode::Create {
            keep_out_of_git(home)?;
        }
        let environment = Self { store: open_index(home, mode)?, mode };
        // A reader opens a snapshot next, which reports whether the index can be read.
        if mode == OpenMode::Create && environment.store.length()? > 0 {
            environment.snapshot()?;
        }
        Ok(environment)
    }

    /// Whether a project has an index, given its `.aurora` directory.
    pub fn is_present(directory: &Path) -> bool {
        ProjectDirectory::at(directory).open().is_ok_and(|home| interrupted::is_present(&home))
    }

    /// Assumes that only this program has written the file. Writers then check only the pages that they use.
    pub fn assume_sound(&self) {
        self.store.set_sound();
    }

    /// Checks the whole structure of the file now: every page that LMDB could follow, but no values.
    ///
    /// # Errors
    /// [`StorageError::Damaged`] with the first problem, and the errors of [`Environment::snapshot`].
    pub fn validate_structure(&self) -> Result<(), StorageError> {
        let snapshot = self.snapshot()?;
        snapshot.check(first_damage(&snapshot.pages(), snapshot.meta()))?;
        self.store.set_sound();
        Ok(())
    }

    /// Returns a snapshot of the newest published generation. Later writes do not change it.
    ///
    /// # Errors
    /// The file belongs to another program, has another format, or is damaged; [`StorageError::NoIndex`] if nothing was
    /// ever published, unless the environment was opened with [`OpenMode::Create`].
    pub fn snapshot(&self) -> Result<Snapshot, StorageError> {
        let snapshot = Snapshot::open(&self.store)?;
        // A first run that was killed has created tables but published nothing.
        if snapshot.manifest().generation > 0 || self.mode == OpenMode::Create {
            Ok(snapshot)
        } else {
            Err(StorageError::NoIndex { path: self.store.home.path().join(INDEX) })
        }
    }
}

/// The `.aurora` directory of a project.
fn existing_home(directory: &Path) -> Result<Directory, StorageError> {
    ProjectDirectory::at(directory).open().map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => StorageError::NoIndex { path: directory.join(INDEX) },
        _ => StorageError::io(directory, error),
    })
}

impl std::fmt::Debug for Environment {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Environment").field("data", &self.store.data).finish_non_exhaustive()
    }
}

/// Opens the index of a project. If it is replaced in the meantime, opens the new index.
fn open_index(home: &Directory, mode: OpenMode) -> Result<Arc<IndexStore>, StorageError> {
    let mut attempts = 0;
    loop {
        wait_or_restore(home)?;
        // No empty index may be created while a replacement is about to move its index to this path.
        let is_missing = mode == OpenMode::Create && home.metadata(INDEX).is_err();
        let _reserved = if is_missing { Some(reserve(home)?) } else { None };
        let before = identity(home, INDEX);
        let opened = IndexStore::open(INDEX, home, mode, EnvFlags::empty());
        attempts += 1;
        // LMDB opens its two files by name; both must be from the same directory.
        let is_same = before.is_none() || identity(home, INDEX) == before;
        if is_same || attempts == MAX_ATTEMPTS {
            return opened;
        }
    }
}
#[cfg(test)]
mod tests {
    use super::*;
    use crate::tables::{Operation, Table};
    use crate::write::commit::Committer;

    #[test]
    fn an_index_can_be_read_without_a_lock() {
        let directory = tempfile::tempdir().expect("a directory");
        let write = |value: u8| {
            let environment = Environment::open(directory.path(), OpenMode::Create).expect("opens");
            assert!(!environment.store.unlocked);
            let mut committer = Committer::new(&environment.snapshot().expect("opens"), 1 << 20);
            let operation = Operation::put(Table::Postings, *b"key", vec![value; 10_000]);
            committer.push(operation).expect("is taken");
            committer.finish().expect("is written");
        };
        write(1);
        let flags = EnvFlags::READ_ONLY | EnvFlags::NO_LOCK;
        let home = Directory::open_root(directory.path()).expect("opens");
        let store = IndexStore::open(INDEX, &home, OpenMode::Existing, flags).expect("opens");
        assert!(store.unlocked);
        let snapshot = Snapshot::open(&store).expect("opens");
        let read = |snapshot: &Snapshot| snapshot.get(Table::Postings, b"key").expect("sound").map(<[u8]>::to_vec);
        assert_eq!(read(&snapshot), Some(vec![1; 10_000]));
        drop((snapshot, store));
        write(2);
        let store = IndexStore::open(INDEX, &home, OpenMode::Existing, flags).expect("opens");
        assert_eq!(read(&Snapshot::open(&store).expect("opens")), Some(vec![2; 10_000]));
    }
}
