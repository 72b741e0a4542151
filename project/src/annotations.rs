//! Tags that users give to chunks of a project.

use aurora_storage::{Annotations, Governance, OpenMode, Origin, StorageError};

use crate::error::ProjectError;
use crate::project::Project;
use crate::user;

/// The annotations of a project; `None` where there are none, or somebody else has made them.
pub(crate) fn of(project: &Project) -> Result<Option<Annotations>, ProjectError> {
    let trust = user::trust();
    let found = match Annotations::open(&project.directory(), OpenMode::Existing, trust.known) {
        Ok(found) => found,
        Err(StorageError::NoIndex { .. }) => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    Ok(Some(found)
        .filter(|found| trust.accepts_unknown || found.origin().is_ok_and(|origin| origin != Origin::Unknown)))
}

/// Adds and removes tags of a chunk, by its key, and returns the new annotations. Secrets in tags are masked. The change is durable
/// when the function returns.
///
/// # Errors
/// When the annotations cannot be written.
pub fn tag(project: &Project, key: &str, add: &[&str], remove: &[&str]) -> Result<Governance, ProjectError> {
    let annotations = Annotations::open(&project.directory(), OpenMode::Create, user::trust().known)?;
    let changed = annotations.change(key, |governance| {
        governance.tags.retain(|tag| !remove.contains(&tag.as_str()));
        governance.tags.extend(add.iter().map(|tag| aurora_redact::masked((*tag).to_owned())));
        governance.tags.sort_unstable();
        governance.tags.dedup();
    });
    Ok(changed?)
}
