//! An index opened for reading, as most commands need it.

use std::path::{Path, PathBuf};

use aurora_storage::{Environment, KnownIndexes, OpenMode, Snapshot, StorageError};

use crate::failure::{Failure, Outcome};
use crate::place;

/// The root, its index, and one generation of it.
pub(crate) struct OpenedIndex {
    pub(crate) root: PathBuf,
    pub(crate) snapshot: Snapshot,
}

/// Opens the index of the root that the user means.
pub(crate) fn open(asked: Option<&Path>) -> Outcome<OpenedIndex> {
    let root = place::for_search(asked)?;
    let snapshot = snapshot(&root)?;
    Ok(OpenedIndex { root, snapshot })
}

/// The same without asking whether it is to be trusted.
pub(crate) fn open_any(asked: Option<&Path>) -> Outcome<OpenedIndex> {
    let root = place::for_search(asked)?;
    let snapshot = any_snapshot(&root)?;
    Ok(OpenedIndex { root, snapshot })
}

/// The published generation of a root's index, if the index is trusted.
pub(crate) fn snapshot(root: &Path) -> Outcome<Snapshot> {
    let snapshot = any_snapshot(root)?;
    let distrusted = |reason| {
        Failure::new(format!("the index of {} is not trusted: {reason}", root.display())).with_help(
            "`aur mem index` builds it again; `aur mem trust-index`, or AURORA_TRUST_INDEX=1, accepts it as it is",
        )
    };
    place::trust().check(root, &snapshot).map_err(distrusted)?;
    Ok(snapshot)
}

/// The same without asking whether it is to be trusted.
pub(crate) fn any_snapshot(root: &Path) -> Outcome<Snapshot> {
    let directory = place::index_dir(root);
    let environment = Environment::open(&directory, OpenMode::Existing).map_err(failure)?;
    environment.snapshot().map_err(failure)
}

/// Records the index of a root, which a command has just written, as the user's own.
pub(crate) fn record(root: &Path) -> Outcome {
    recorded(root, KnownIndexes::record)
}

/// Records the index of a root, which somebody else has made, as one that the user accepts.
pub(crate) fn accept(root: &Path) -> Outcome {
    recorded(root, KnownIndexes::accept)
}

fn recorded(root: &Path, record: fn(&KnownIndexes, &Path, &Snapshot) -> Result<(), StorageError>) -> Outcome {
    let trust = place::trust();
    match record(&trust.known, &place::index_dir(root), &any_snapshot(root)?) {
        Err(error) if !trust.accepts_unknown => Err(failure(error)),
        _ => Ok(()),
    }
}

/// A storage error as the failure of a command.
pub(crate) fn failure(error: StorageError) -> Failure {
    Failure::from_error(&error)
}
