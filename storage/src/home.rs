//! The `.aurora` directory of a project, opened so that nothing in it leads elsewhere.

use std::fs;
use std::io;
use std::path::Path;

use aurora_confined::{Directory, Refusal};

use crate::error::StorageError;
use crate::store::DATA;

/// Opens the `.aurora` directory at a path, which must be a real directory; what is above it is followed as it is.
///
/// # Errors
/// Of the kind [`io::ErrorKind::NotFound`] when there is none.
pub(crate) fn open(path: &Path) -> io::Result<Directory> {
    let (above, name) = split(path)?;
    Directory::open_root(above)?.open_directory(name)
}

/// The same, made if there is none.
pub(crate) fn create(path: &Path) -> io::Result<Directory> {
    let (above, name) = split(path)?;
    #[allow(clippy::disallowed_methods, reason = "what is above the directory is trusted")]
    fs::create_dir_all(above)?;
    Directory::open_root(above)?.create_directory(name)
}

/// Writes a `.gitignore` that keeps the whole directory out of the repository.
pub(crate) fn keep_out_of_git(home: &Directory) -> Result<(), StorageError> {
    const NAME: &str = ".gitignore";
    let written = match home.create_new(NAME) {
        Ok(mut file) => io::Write::write_all(&mut file, b"*\n"),
        // Any other content is the user's decision.
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        Err(error) => Err(error),
    };
    written.map_err(|error| StorageError::io(&home.path().join(NAME), error))
}

/// What tells a file from another one that was put into its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Identity {
    device: u64,
    inode: u64,
    /// Only where files have no numbers.
    created: i64,
}

/// The identity of the data file in a directory of `home`; `None` where there is none.
pub(crate) fn identity(home: &Directory, directory: &str) -> Option<Identity> {
    let found = home.metadata(Path::new(directory).join(DATA)).ok()?;
    let created = if found.inode == 0 { found.changed } else { 0 };
    Some(Identity { device: found.device, inode: found.inode, created })
}

fn split(path: &Path) -> io::Result<(&Path, &std::ffi::OsStr)> {
    let name = path.file_name().ok_or(Refusal::Outside)?;
    let above = path.parent().filter(|above| !above.as_os_str().is_empty());
    Ok((above.unwrap_or(Path::new(".")), name))
}
