//! An index: the handle shared by its readers and its writer.
//!
//! LMDB follows the references in its pages, so a file that was changed or created by another program could make it
//! write anywhere. Therefore the whole structure is checked before a process writes for the first time. If the caller
//! knows that only this program has changed the file, only the pages that a write uses are checked.

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
    /// Fails if there is no index, or if the file is not an index, is truncated, or is not writable. In
    /// [`OpenMode::Create`], also fails if the index has another format.
    pub fn open(directory: &Path, mode: OpenMode) -> Result<Self, StorageError> {
        if mode == OpenMode::Existing {
            return Self::open_in(&open_project_directory(directory)?, mode);
        }
        let home = ProjectDirectory::at(directory).create().map_err(|error| StorageError::io(directory, error))?;
        Self::open_in(&home, mode)
    }

    /// Opens the index of a project, given its `.aurora` directory. Creates the index if it does not exist, but not the
    /// directory.
    ///
    /// # Errors
    /// Returns [`StorageError::NoIndex`] if the directory does not exist, and the errors of [`Environment::open`].
    pub fn open_in_existing(directory: &Path) -> Result<Self, StorageError> {
        Self::open_in(&open_project_directory(directory)?, OpenMode::Create)
    }

    fn open_in(home: &Directory, mode: OpenMode) -> Result<Self, StorageError> {
        if mode == OpenMode::Create {
            keep_out_of_git(home)?;
        }
        let environment = Self { store: open_index(home, mode)?, mode };
        // In the other mode, the caller opens a snapshot next, and opening it reports errors of the index.
        if mode == OpenMode::Create && environment.store.length()? > 0 {
            environment.snapshot()?;
        }
        Ok(environment)
    }

    /// Whether a project has an index, given its `.aurora` directory.
    pub fn is_present(directory: &Path) -> bool {
        ProjectDirectory::at(directory).open().is_ok_and(|home| interrupted::is_present(&home))
    }

    /// Assumes that only this program has written the file. A write then checks only the pages that it uses.
    pub fn assume_sound(&self) {
        self.store.set_valid();
    }

    /// Checks every page of the file that LMDB can reach through references, but not the values. Later writes do not
    /// repeat the check.
    ///
    /// # Errors
    /// Returns [`StorageError::Damaged`] with the first problem, or the errors of [`Environment::snapshot`].
    pub fn validate_structure(&self) -> Result<(), StorageError> {
        let snapshot = self.snapshot()?;
        snapshot.check(first_damage(&snapshot.pages(), snapshot.meta()))?;
        self.store.set_valid();
        Ok(())
    }

    /// Returns a snapshot of the newest published generation. Later writes do not change it.
    ///
    /// # Errors
    /// Fails if the file belongs to another program, has another format, or is damaged. Returns
    /// [`StorageError::NoIndex`] if nothing was ever published, unless the environment was opened with
    /// [`OpenMode::Create`].
    pub fn snapshot(&self) -> Result<Snapshot, StorageError> {
        let snapshot = Snapshot::open(&self.store)?;
        // A first run that was killed may have created tables without publishing anything.
        if snapshot.manifest().generation > 0 || self.mode == OpenMode::Create {
            Ok(snapshot)
        } else {
            Err(StorageError::NoIndex { path: self.store.home.path().join(INDEX) })
        }
    }
}

/// Opens the `.aurora` directory of a project. Fails with [`StorageError::NoIndex`] if it does not exist.
fn open_project_directory(directory: &Path) -> Result<Directory, StorageError> {
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

/// Opens the index of a project. If the index is replaced while this function opens it, the new index is opened.
fn open_index(home: &Directory, mode: OpenMode) -> Result<Arc<IndexStore>, StorageError> {
    let mut attempts = 0;
    loop {
        wait_or_restore(home)?;
        // `reserve` takes a lock, so that no empty index is created while another process is moving a new index to this
        // path.
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
        let directory = tempfile::tempdir().expect("a temporary directory can be created");
        let write = |value: u8| {
            let environment = Environment::open(directory.path(), OpenMode::Create).expect("the index can be opened");
            assert!(!environment.store.unlocked);
            let mut committer = Committer::new(&environment.snapshot().expect("the index can be opened"), 1 << 20);
            let operation = Operation::put(Table::Postings, *b"key", vec![value; 10_000]);
            committer.push(operation).expect("the operation can be written");
            committer.finish().expect("the transaction can be committed");
        };
        write(1);
        let flags = EnvFlags::READ_ONLY | EnvFlags::NO_LOCK;
        let home = Directory::open_root(directory.path()).expect("the directory can be opened");
        let store = IndexStore::open(INDEX, &home, OpenMode::Existing, flags).expect("the index can be opened");
        assert!(store.unlocked);
        let snapshot = Snapshot::open(&store).expect("the index can be opened");
        let read =
            |snapshot: &Snapshot| snapshot.get(Table::Postings, b"key").expect("the page is valid").map(<[u8]>::to_vec);
        assert_eq!(read(&snapshot), Some(vec![1; 10_000]));
        drop((snapshot, store));
        write(2);
        let store = IndexStore::open(INDEX, &home, OpenMode::Existing, flags).expect("the index can be opened");
        assert_eq!(read(&Snapshot::open(&store).expect("the index can be opened")), Some(vec![2; 10_000]));
    }
}
