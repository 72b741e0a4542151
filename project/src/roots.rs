//! Names of projects, and the projects that the user has indexed.

use std::path::{Path, PathBuf};

use aurora_storage::{ProjectDirectory, StorageError};

use crate::user;

/// Creates distinct names for directories from the last components of each path, with as few components as possible.
///
/// ```
/// use std::path::Path;
/// let names = aurora_project::root_names(&["/src/app", "/src/lib", "/old/lib"].map(Path::new));
/// assert_eq!(names, ["app", "src/lib", "old/lib"]);
/// ```
pub fn root_names(paths: &[&Path]) -> Vec<String> {
    let last_parts = |path: &Path, count: usize| {
        let mut parts: Vec<_> = path.iter().rev().take(count).map(|part| part.to_string_lossy()).collect();
        parts.reverse();
        parts.join("/")
    };
    let name = |(at, path): (usize, &&Path)| {
        let deepest = path.iter().count().max(1);
        let is_unique = |count: &usize| {
            let name = last_parts(path, *count);
            paths.iter().enumerate().all(|(other, path)| other == at || last_parts(path, *count) != name)
        };
        last_parts(path, (1..deepest).find(is_unique).unwrap_or(deepest))
    };
    paths.iter().enumerate().map(name).collect()
}

/// Returns the directories whose indexes this user has made or accepted, sorted by path.
pub fn indexed_roots() -> Vec<PathBuf> {
    let mut roots: Vec<PathBuf> = Vec::new();
    for directory in user::trust().known.homes() {
        let is_index = directory.file_name().is_some_and(|name| name == ProjectDirectory::NAME);
        roots.extend(directory.parent().filter(|root| is_index && !is_internal(root)).map(Path::to_owned));
    }
    roots.sort_unstable();
    roots.dedup();
    roots
}

/// Removes the records of indexes that no longer exist. Returns the directories that contained these indexes, sorted.
/// If `is_rehearsal` is true, removes nothing.
///
/// # Errors
/// Fails if a record cannot be changed.
pub fn prune_roots(is_rehearsal: bool) -> Result<Vec<PathBuf>, StorageError> {
    let homes = user::trust().known.prune(is_rehearsal)?;
    let mut roots: Vec<PathBuf> = homes.iter().map(|home| home.parent().unwrap_or(home).to_owned()).collect();
    roots.dedup();
    Ok(roots)
}

/// Whether an indexed directory belongs to Aurora itself and contains articles or the entries of a memory.
fn is_internal(root: &Path) -> bool {
    let for_user = user::absolute_directory().and_then(|user| user.path().canonicalize().ok());
    root.iter().any(|part| part == ProjectDirectory::NAME) || for_user.is_some_and(|user| root.starts_with(user))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_as_short_as_possible() {
        let names = |paths: &[&str]| root_names(&paths.iter().map(Path::new).collect::<Vec<_>>());
        assert_eq!(names(&["/a/b"]), ["b"]);
        assert_eq!(names(&["/"]), ["/"]);
        assert_eq!(names(&["/x/one/app", "/x/two/app", "/y/two/app"]), ["one/app", "x/two/app", "y/two/app"]);
        assert_eq!(names(&["/app", "/x/app"]), ["//app", "x/app"]);
    }
}
