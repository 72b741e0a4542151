//! Determines whether a directory can be indexed.

use super::error::IndexError;
use super::options::IndexOptions;

/// Returns the options with the absolute path of the directory, if it can be indexed.
pub(super) fn with_indexable_root(options: &IndexOptions) -> Result<IndexOptions, IndexError> {
    let path = &options.root;
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
    Ok(IndexOptions { root, ..options.clone() })
}
