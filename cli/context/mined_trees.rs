//! Copies of repositories. `aur mem eval` searches a copy with the questions that were mined from its repository. The
//! copies are large caches that `aur mem eval mine` can create again.

use std::io;
use std::path::{Path, PathBuf};

use aurora_confined::Directory;
use aurora_project::user;
use aurora_storage::ProjectDirectory;

/// Subdirectory for the copies, used if the user specified the directory of golden sets.
const TREES: &str = "trees";
/// Name of a file in a directory of copies. The file contains the path of the directory of golden sets.
const OWNER: &str = "owner";
/// Maximum size of the owner file in bytes.
const MAX_OWNER_BYTES: u64 = 64 << 10;

/// Returns the directory of the copies for a directory of golden sets. The sets of a project are in `.aurora`. Caches
/// and backups include `.aurora`, so the large copies are in the user's directory instead. If the user specified
/// another directory of golden sets, the copies are in its subdirectory [`TREES`].
pub(crate) fn path_for(sets: &Path) -> PathBuf {
    in_user_directory(sets).unwrap_or_else(|| sets.join(TREES))
}

/// Creates the directory of the copies if it belongs in the user's directory, and removes the copies of projects that
/// no longer exist. Only the user may read the copies.
///
/// # Errors
///
/// Fails if the user's directory cannot be written.
pub(crate) fn create(sets: &Path) -> io::Result<Option<Directory>> {
    let Some(path) = in_user_directory(sets) else { return Ok(None) };
    let (Some(all), Some(name)) = (path.parent(), path.file_name()) else { return Ok(None) };
    let all = Directory::create_private_root(all)?;
    remove_orphans(&all)?;
    let trees = all.create_private_directory(name)?;
    trees.make_private();
    trees.write(OWNER, sets.canonicalize()?.as_os_str().as_encoded_bytes())?;
    Ok(Some(trees))
}

/// Returns the path of the copies in the user's directory. Returns `None` if the user specified `sets`, or if there is
/// no user directory.
fn in_user_directory(sets: &Path) -> Option<PathBuf> {
    let sets = sets.canonicalize().ok()?;
    let is_of_project = sets.ends_with(Path::new(ProjectDirectory::NAME).join(ProjectDirectory::MINED_SETS));
    let name = blake3::hash(sets.as_os_str().as_encoded_bytes()).to_hex();
    Some(user::absolute_directory().filter(|_| is_of_project)?.mined_trees().join(&name[..32]))
}

fn remove_orphans(all: &Directory) -> io::Result<()> {
    for (name, _) in all.entries()? {
        let owner = all.read(Path::new(&name).join(OWNER), MAX_OWNER_BYTES).ok();
        let owner = owner.and_then(|path| String::from_utf8(path).ok());
        let is_gone = |owner: String| {
            Path::new(&owner).symlink_metadata().is_err_and(|error| error.kind() == io::ErrorKind::NotFound)
        };
        if owner.is_some_and(is_gone) {
            all.remove(&name)?;
        }
    }
    Ok(())
}
