//! Writes copies of a tree at one commit, with a history that ends at this commit.

use std::io;
use std::path::Path;

use aurora_confined::{Directory, read_regular};
use gix::ObjectId;

use crate::mine::error::MineError;
use crate::mine::history::CommitHistory;

/// Maximum size of the file that lists the boundary commits of a shallow clone, in bytes.
const MAX_SHALLOW_BYTES: u64 = 64 << 20;
/// Maximum size of a file that is copied, in bytes.
const MAX_COPIED_BYTES: u64 = 1 << 30;

/// Writes the files of `commit` below `directory`. A separate `.git` has a single branch that ends at this commit, so
/// that no later commit is visible. It refers to the objects of the repository instead of copying them. Line ending
/// conversions and filters are not applied. Returns the number of files that were skipped, mostly because the clone
/// lacks their content.
pub(crate) fn check_out(history: &CommitHistory, commit: ObjectId, directory: &Directory) -> Result<usize, MineError> {
    let mut missing = 0;
    for file in history.files(commit)? {
        match history.blob(file.blob) {
            // Git never creates a commit with such a path, but the file would become part of the copy's repository.
            Some(_) if is_git_directory(&file.path) => missing += 1,
            Some(bytes) => write(directory, &file.path, &bytes)?,
            None => missing += 1,
        }
    }
    let (version, format) = if history.is_sha256() { (1, "[extensions]\n\tobjectformat = sha256\n") } else { (0, "") };
    let config = format!(
        "[core]\n\trepositoryformatversion = {version}\n\tbare = false\n\tfilemode = false\n\tautocrlf = false\n{format}"
    );
    let objects = history.objects();
    let objects = objects.canonicalize().map_err(|error| failed(&objects, error))?;
    write(directory, ".git/HEAD", b"ref: refs/heads/main\n")?;
    write(directory, ".git/config", config.as_bytes())?;
    write(directory, ".git/objects/info/alternates", format!("{}\n", objects.display()).as_bytes())?;
    write(directory, ".git/refs/heads/main", format!("{commit}\n").as_bytes())?;
    if let Some(shallow) = history.shallow_file().and_then(|path| read_regular(&path, MAX_SHALLOW_BYTES).ok()) {
        write(directory, ".git/shallow", &shallow)?;
    }
    write_index(directory.path(), history.tree(commit).unwrap_or(commit))
        .map_err(|reason| MineError::Git { path: directory.path().to_owned(), reason })?;
    Ok(missing)
}

/// Writes git's index, which lists the tracked files.
fn write_index(directory: &Path, tree: ObjectId) -> Result<(), String> {
    let repository = gix::open(directory).map_err(|error| error.to_string())?;
    let mut index = repository.index_from_tree(&tree).map_err(|error| error.to_string())?;
    index.write(gix::index::write::Options::default()).map_err(|error| error.to_string())
}

/// Returns `true` if a path contains a `.git` component. Upper case counts, too, because some file systems ignore case.
fn is_git_directory(path: &str) -> bool {
    path.split('/').any(|part| part.eq_ignore_ascii_case(".git"))
}

/// Copies `paths` from one directory to another.
pub(crate) fn copy(from: &Path, paths: &[String], to: &Directory) -> Result<(), MineError> {
    let source = Directory::open_root(from).map_err(|error| failed(from, error))?;
    for path in paths {
        let bytes = source.read(path, MAX_COPIED_BYTES).map_err(|error| failed(&from.join(path), error))?;
        write(to, path, &bytes)?;
    }
    Ok(())
}

/// Writes a file below a directory, and creates its parent directories.
pub(crate) fn write(directory: &Directory, path: &str, bytes: &[u8]) -> Result<(), MineError> {
    directory.write(path, bytes).map_err(|error| failed(&directory.path().join(path), error))
}

pub(crate) fn failed(path: &Path, source: io::Error) -> MineError {
    MineError::File { path: path.to_owned(), source }
}
