//! Opens an index for reading.

use std::path::Path;

use aurora_project::Project;
use aurora_storage::{Snapshot, StorageError};

use crate::context::failure::{Failure, Outcome};
use crate::context::place;
use crate::context::program::Program;

/// Opens the index of the selected project.
pub(crate) fn open(asked: Option<&Path>, program: &Program) -> Outcome<(Project, Snapshot)> {
    let project = program.project(place::for_search(asked)?);
    let snapshot = project.snapshot()?;
    Ok((project, snapshot))
}

/// Opens the index of the selected project even if it is not trusted.
pub(crate) fn open_any(asked: Option<&Path>, program: &Program) -> Outcome<(Project, Snapshot)> {
    let project = program.project(place::for_search(asked)?);
    let snapshot = project.any_snapshot().map_err(failure)?;
    Ok((project, snapshot))
}

/// Converts a storage error to a failure of a command.
pub(crate) fn failure(error: StorageError) -> Failure {
    Failure::from_error(&error)
}
