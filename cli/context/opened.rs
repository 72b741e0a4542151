//! An index opened for reading, as most commands need it.

use std::path::Path;

use aurora_project::Project;
use aurora_storage::{Snapshot, StorageError};

use crate::context::failure::{Failure, Outcome};
use crate::context::place;
use crate::context::program::Program;

/// A project and one generation of its index.
pub(crate) struct OpenedIndex {
    pub(crate) project: Project,
    pub(crate) snapshot: Snapshot,
}

/// Opens the index of the project that the user means.
pub(crate) fn open(asked: Option<&Path>, program: &Program) -> Outcome<OpenedIndex> {
    let project = program.project(place::for_search(asked)?);
    let snapshot = project.snapshot()?;
    Ok(OpenedIndex { project, snapshot })
}

/// The same without asking whether the index is to be trusted.
pub(crate) fn open_any(asked: Option<&Path>, program: &Program) -> Outcome<OpenedIndex> {
    let project = program.project(place::for_search(asked)?);
    let snapshot = project.any_snapshot().map_err(failure)?;
    Ok(OpenedIndex { project, snapshot })
}

/// A storage error as the failure of a command.
pub(crate) fn failure(error: StorageError) -> Failure {
    Failure::from_error(&error)
}
