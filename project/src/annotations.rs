//! Tags that users add to the chunks of a project.

use aurora_storage::{Annotations, Governance, OpenMode, StorageError};

use crate::error::ProjectError;
use crate::project::Project;
use crate::user;

/// Opens the annotations of a project and checks all of them. Returns `None` if the project has no annotations.
///
/// # Errors
/// Fails if the annotations are damaged or unreadable, or if the user has neither created nor accepted them.
pub fn annotations(project: &Project) -> Result<Option<Annotations>, StorageError> {
    let opened = Annotations::open(&project.directory(), OpenMode::Existing, user::trust().known);
    match opened.and_then(|found| found.check().map(|()| found)) {
        Ok(found) => Ok(Some(found)),
        Err(StorageError::NoIndex { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Adds and removes tags of the chunk with this key, and returns the new annotations. Secrets in tags are masked. The
/// change is durable when the function returns.
///
/// # Errors
/// Fails if the annotations cannot be opened or written.
pub fn tag(project: &Project, key: &str, add: &[String], remove: &[String]) -> Result<Governance, ProjectError> {
    let annotations = Annotations::open(&project.directory(), OpenMode::Create, user::trust().known)?;
    let changed = annotations.change(key, |governance| {
        governance.tags.retain(|tag| !remove.contains(tag));
        governance.tags.extend(add.iter().map(|tag| aurora_redact::masked(tag.clone())));
        governance.tags.sort_unstable();
        governance.tags.dedup();
    });
    Ok(changed?)
}
