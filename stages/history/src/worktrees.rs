//! Finds the git directory and the other work trees of a repository.

use std::path::{Path, PathBuf};

use crate::open::discover;

/// Returns the directory with HEAD and the index of the work tree that contains `root`, or `None` if `root` is not in a
/// repository.
pub fn git_directory(root: &Path) -> Option<PathBuf> {
    let (repository, _) = discover(root).ok()??;
    repository.to_thread_local().git_dir().canonicalize().ok()
}

/// Returns the directories that correspond to `root` in the other work trees of the repository, sorted by path. A work
/// tree is included only if its `.git` belongs to the same repository.
pub fn sibling_directories(root: &Path) -> Vec<PathBuf> {
    siblings(root).unwrap_or_default()
}

fn siblings(root: &Path) -> Option<Vec<PathBuf>> {
    let root = root.canonicalize().ok()?;
    let (repository, _) = discover(&root).ok()??;
    let local = repository.to_thread_local();
    let own = local.workdir()?.canonicalize().ok()?;
    let below = root.strip_prefix(&own).ok()?;
    let common = local.common_dir().canonicalize().ok()?;
    let main = local.main_repo().ok().and_then(|main| main.workdir().map(Path::to_owned));
    let linked = local.worktrees().ok()?.into_iter().filter_map(|linked| linked.base().ok());
    let others = main.into_iter().chain(linked).filter_map(|work_tree| work_tree.canonicalize().ok());
    let mut others: Vec<PathBuf> = others
        .filter(|work_tree| *work_tree != own && common_directory(work_tree).as_ref() == Some(&common))
        .map(|work_tree| work_tree.components().chain(below.components()).collect())
        .collect();
    others.sort_unstable();
    others.dedup();
    Some(others)
}

/// Returns the directory with the objects and branches of the repository to which a work tree belongs.
fn common_directory(work_tree: &Path) -> Option<PathBuf> {
    let (repository, _) = discover(work_tree).ok()??;
    repository.to_thread_local().common_dir().canonicalize().ok()
}
