//! The directory of a project's memory.

use std::io;
use std::path::Path;

use aurora_confined::Directory;
use aurora_storage::{OpenMode, ProjectDirectory};

/// Opens the directory of a project's memory. Fails if one of the last two components of its path is a symbolic link.
pub(crate) fn open_project(path: &Path, mode: OpenMode) -> io::Result<Directory> {
    let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
        return Err(io::Error::from(io::ErrorKind::NotFound));
    };
    let parent = ProjectDirectory::at(parent);
    match mode {
        OpenMode::Create => parent.create()?.create_private_directory(name),
        OpenMode::Existing => parent.open()?.open_directory(name),
    }
}
