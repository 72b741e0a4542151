//! Copies of a tree at one commit, with a history that ends there.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use gix::ObjectId;

use crate::mine::MineError;
use crate::mine::history::History;

/// Writes the files of `commit` below `directory`, with a `.git` of its own whose only branch ends at that commit: no
/// later commit can be seen from it. Objects are borrowed from the repository, not copied. Line ends and filters are left
/// alone. Returns how many files could not be written because the clone lacks their content.
pub(crate) fn check_out(history: &History, commit: ObjectId, directory: &Path) -> Result<usize, MineError> {
    let mut missing = 0;
    for file in history.files(commit)? {
        match history.blob(file.blob) {
            Some(bytes) => write(&directory.join(&file.path), &bytes)?,
            None => missing += 1,
        }
    }
    let git = directory.join(".git");
    let (version, format) = match history.is_sha256() {
        true => (1, "[extensions]\n\tobjectformat = sha256\n"),
        false => (0, ""),
    };
    let config = format!(
        "[core]\n\trepositoryformatversion = {version}\n\tbare = false\n\tfilemode = false\n\tautocrlf = false\n{format}"
    );
    let objects = history.objects();
    let objects = objects.canonicalize().map_err(|error| failed(&objects, error))?;
    write(&git.join("HEAD"), b"ref: refs/heads/main\n")?;
    write(&git.join("config"), config.as_bytes())?;
    write(&git.join("objects/info/alternates"), format!("{}\n", objects.display()).as_bytes())?;
    write(&git.join("refs/heads/main"), format!("{commit}\n").as_bytes())?;
    if let Some(shallow) = history.shallow_file().and_then(|path| fs::read(path).ok()) {
        write(&git.join("shallow"), &shallow)?;
    }
    list(directory, history.tree(commit).unwrap_or(commit))
        .map_err(|reason| MineError::Git { path: directory.to_owned(), reason })?;
    Ok(missing)
}

/// The index file, by which tracked files are known.
fn list(directory: &Path, tree: ObjectId) -> Result<(), String> {
    let repository = gix::open(directory).map_err(|error| error.to_string())?;
    let mut index = repository.index_from_tree(&tree).map_err(|error| error.to_string())?;
    index.write(gix::index::write::Options::default()).map_err(|error| error.to_string())
}

/// Copies `paths` from one directory to another.
pub(crate) fn copy(from: &Path, paths: &[String], to: &Path) -> Result<(), MineError> {
    for path in paths {
        let source = from.join(path);
        let bytes = fs::read(&source).map_err(|error| failed(&source, error))?;
        write(&to.join(path), &bytes)?;
    }
    Ok(())
}

/// Writes a file, making its directories.
pub(crate) fn write(path: &Path, bytes: &[u8]) -> Result<(), MineError> {
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent).map_err(|error| failed(parent, error))?;
    }
    fs::write(path, bytes).map_err(|error| failed(path, error))
}

/// Removes a directory and all below it; one that is not there is removed already.
pub(crate) fn remove(directory: &Path) -> Result<(), MineError> {
    match fs::remove_dir_all(directory) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(failed(directory, error)),
        _ => Ok(()),
    }
}

pub(crate) fn failed(path: &Path, source: io::Error) -> MineError {
    MineError::File { path: PathBuf::from(path), source }
}
