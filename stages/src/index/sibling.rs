//! Initialises the first index of a git work tree from the index of another work tree of the same repository.

use std::path::{Path, PathBuf};

use aurora_history::sibling_directories;
use aurora_storage::{Environment, OpenMode, Origin, ProjectDirectory, Snapshot, StorageError};

use super::options::{GitUse, IndexOptions};

/// Copies the index of a sibling work tree to `root`, if `root` has no index and a run of this user made the sibling's
/// index. Returns the path of the sibling. The copy is marked as incomplete until a run has updated it.
///
/// # Errors
/// Fails if the index cannot be written. A sibling whose index cannot be read is skipped.
pub(super) fn adopt(options: &IndexOptions) -> Result<Option<PathBuf>, StorageError> {
    let root = &options.root;
    let project = ProjectDirectory::in_root(root);
    if options.force || options.git == GitUse::Off || Environment::is_present(project.path()) {
        return Ok(None);
    }
    let known = &options.trust.known;
    let newest = sibling_directories(root)
        .into_iter()
        .filter_map(|sibling| Some((own_index(&sibling, options)?, sibling)))
        .max_by_key(|(snapshot, _)| snapshot.manifest().updated);
    let Some((snapshot, sibling)) = newest else { return Ok(None) };
    match Environment::adopt(project.path(), &snapshot, &root.display().to_string(), known, options.workers()) {
        Ok(is_copied) => Ok(is_copied.then_some(sibling)),
        // If the sibling's index is damaged, the run builds a new index.
        Err(error) if error.unusable_index().is_some() => Ok(None),
        Err(error) => Err(error),
    }
}

/// Returns a snapshot of the index of a directory, if the index is complete and a run of this user made it.
fn own_index(root: &Path, options: &IndexOptions) -> Option<Snapshot> {
    let project = ProjectDirectory::in_root(root);
    let snapshot = Environment::open(project.path(), OpenMode::Existing).ok()?.snapshot().ok()?;
    let is_own = options.trust.known.origin(project.path(), &snapshot) == Origin::Own;
    (is_own && snapshot.manifest().complete).then_some(snapshot)
}
