//! Determines whether a directory can be indexed.

use std::path::{Path, PathBuf};

use super::error::IndexError;

/// Returns the absolute path of a directory that can be indexed.
pub(super) fn indexable(path: &Path) -> Result<PathBuf, IndexError> {
    let refuse = |reason: &str| Err(IndexError::Root { path: path.to_owned(), reason: reason.to_owned() });
    let root = match path.canonicalize() {
        Ok(root) => root,
        Err(error) => return refuse(&error.to_string()),
    };
    if !root.is_dir() {
        return refuse("it is not a directory");
    }
    let is_git_directory = root.join("HEAD").is_file() && root.join("objects").is_dir() && root.join("refs").is_dir();
    if is_git_directory {
        return refuse("it is a git directory without a work tree; check out a branch and index its work tree");
    }
    Ok(root)
}
