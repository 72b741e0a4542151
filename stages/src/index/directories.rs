//! The directories of a tree that an index run reads.

use std::path::{Path, PathBuf};

use aurora_storage::{ProjectDirectory, Snapshot};

use crate::discover;
use crate::services::CacheFiles;

/// Returns the directories that the last run over `root` listed, relative to the root. The path of the root is empty.
/// Ignored directories are excluded. Returns `None` if no run has cached the directory listings.
pub fn directories(root: &Path, snapshot: &Snapshot) -> Option<Vec<PathBuf>> {
    let project = ProjectDirectory::in_root(root).open().ok()?;
    let caches = CacheFiles::new(project, &snapshot.id()?).read_only();
    discover::directories(&caches.file(ProjectDirectory::TREE_WALK, discover::MAX_WALK_BYTES))
}
