//! The first index of a git work tree begins with that of another work tree of the same repository.

use std::path::{Path, PathBuf};

use aurora_history::sibling_directories;
use aurora_storage::{Environment, OpenMode, Origin, ProjectDirectory, Snapshot, StorageError};

use super::options::IndexOptions;

/// Copies the index of a sibling to `root`, if `root` has none and a sibling has one that this user's runs have made. Returns the
/// sibling. The copy counts as incomplete until a run has brought it in line with the tree.
///
/// # Errors
/// When the index cannot be written. A sibling whose index cannot be read is passed over.
pub(super) fn adopt(root: &Path, options: &IndexOptions) -> Result<Option<PathBuf>, StorageError> {
    let home = ProjectDirectory::of(root);
    if options.force || Environment::is_present(home.path()) {
        return Ok(None);
    }
    let known = &options.trust.known;
    let newest = sibling_directories(root)
        .into_iter()
        .filter_map(|sibling| Some((own_index(&sibling, options)?, sibling)))
        .max_by_key(|(snapshot, _)| snapshot.manifest().updated);
    let Some((snapshot, sibling)) = newest else { return Ok(None) };
    match Environment::adopt(home.path(), &snapshot, &root.display().to_string(), known, options.workers()) {
        Ok(is_copied) => Ok(is_copied.then_some(sibling)),
        // A damaged index is of no use here; the run builds one.
        Err(error) if error.unusable_index().is_some() => Ok(None),
        Err(error) => Err(error),
    }
}

/// The published generation of a directory whose index this user's runs have made.
fn own_index(root: &Path, options: &IndexOptions) -> Option<Snapshot> {
    let home = ProjectDirectory::of(root);
    let snapshot = Environment::open(home.path(), OpenMode::Existing).ok()?.snapshot().ok()?;
    let is_own = options.trust.known.origin(home.path(), &snapshot) == Origin::Own;
    (is_own && snapshot.manifest().complete).then_some(snapshot)
}
