//! Which directories of a tree an index run looks into.

use std::path::{Path, PathBuf};

use aurora_storage::{ProjectDirectory, Snapshot};

use crate::discover;
use crate::services::CacheFiles;

/// The directories that the last run over `root` has listed, relative to it; the root itself is empty. Ignored ones are not among
/// them. `None` where runs keep no listings, or none has been kept yet.
pub fn directories(root: &Path, snapshot: &Snapshot) -> Option<Vec<PathBuf>> {
    let home = ProjectDirectory::of(root).open().ok()?;
    let caches = CacheFiles::new(home, &snapshot.id()?).read_only();
    discover::directories(&caches.file(ProjectDirectory::TREE_WALK, discover::MAX_WALK_BYTES))
}
