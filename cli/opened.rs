//! An index opened for reading, as most commands need it.

use std::path::{Path, PathBuf};

use aurora_storage::{Environment, OpenMode, Snapshot, StorageError};

use crate::failure::{Failure, Outcome};
use crate::place;

/// The root, its index, and one generation of it.
pub(crate) struct Opened {
    pub(crate) root: PathBuf,
    pub(crate) snapshot: Snapshot,
}

/// Opens the index of the root that the user means.
pub(crate) fn open(asked: Option<&Path>) -> Outcome<Opened> {
    let root = place::for_search(asked)?;
    let snapshot = snapshot(&root)?;
    Ok(Opened { root, snapshot })
}

/// The published generation of a root's index.
pub(crate) fn snapshot(root: &Path) -> Outcome<Snapshot> {
    let directory = place::index_dir(root);
    let environment = Environment::open(&directory, OpenMode::Existing).map_err(failure)?;
    environment.snapshot().map_err(failure)
}

/// A storage error as the last words of a command.
pub(crate) fn failure(error: StorageError) -> Failure {
    Failure::from_error(&error)
}
