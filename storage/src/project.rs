//! The `.aurora` directory of a project: the names of all files in it, and how they are opened.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use aurora_confined::{Directory, Refusal};

use crate::error::StorageError;

/// LMDB's data file, in the directories of the index and of the access history.
pub(crate) const DATA: &str = "data.mdb";

/// The `.aurora` directory of a project. Its associated constants name the files and directories in it. The names are
/// relative to the directory, for use with the [`Directory`] that [`ProjectDirectory::open`] returns.
///
/// | name | content | safe to delete |
/// |---|---|---|
/// | `pipeline.toml`, `config.toml` | the project's configuration | no: written by people |
/// | `plugins/` | custom stages | no: written by people |
/// | `reasoning/` | reasoning patterns, which are indexed | no: written by people |
/// | `memory/` | the project's memory: entries, their index and its access history | no: the entries exist only here |
/// | `eval/`, `tuned.toml` | golden sets from `aur mem eval mine`, learned weights | yes, they can be created again |
/// | `index/` | the index | yes, the next run builds it again |
/// | `annotations/` | tags that users have given to chunks | no: they exist only here |
/// | `access/` | the access history | no: it exists only here |
/// | `tree.walk`, `history.walk`, `history.comparisons` | caches of an index run | yes |
/// | `parts/` | parts downloaded from remotes, which the next pull uses again | yes |
/// | `tree.check` | stat data of the tree when a search last found it unchanged | yes |
/// | `runs` | statistics of the last index runs | yes |
/// | `writer.lock`, `tmp/` | the lock and the temporary files of the writer | yes, while no run is writing |
/// | `records.lock`, `create.lock` | locks of processes that write or create a store | yes, while no process holds them |
/// | `watch.lock` | the lock of the process that keeps the index up to date | yes, while no process holds it |
/// | `index.new/`, `index.old/` | indexes during a replacement, see `maintain/replacement.rs` | no: `index.old/` may be the only index |
/// | `index.unusable/`, `access.unusable/` | unusable data that was moved aside | yes |
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProjectDirectory {
    path: PathBuf,
}

impl ProjectDirectory {
    /// Name of the directory below the project's root.
    pub const NAME: &'static str = ".aurora";

    /// The pipeline of the project.
    pub const PIPELINE: &'static str = "pipeline.toml";
    /// The configuration of the project.
    pub const CONFIG: &'static str = "config.toml";
    /// A configuration with learned weights. Searches do not read it: it has an effect only after its tables have been
    /// copied to a configuration file.
    pub const TUNED_CONFIG: &'static str = "tuned.toml";
    /// Directory of the golden sets that `aur mem eval mine` creates.
    pub const MINED_SETS: &'static str = "eval";
    /// Directory of the project's reasoning patterns.
    pub const REASONING: &'static str = "reasoning";
    /// Directory of the project's custom stages.
    pub const PLUGINS: &'static str = "plugins";
    /// Path of the directory of reasoning patterns, relative to the root. The indexed path of every pattern begins with
    /// it.
    pub const REASONING_PREFIX: &'static str = ".aurora/reasoning/";

    /// Directory of the index.
    pub const INDEX: &'static str = "index";
    /// Directory of the project's memory.
    pub const MEMORY: &'static str = "memory";
    /// Directory of the tags that users give to chunks.
    pub const ANNOTATIONS: &'static str = "annotations";
    /// Directory of the access history.
    pub const ACCESS: &'static str = "access";
    /// Cache of the directory listings of the last walk over the tree.
    pub const TREE_WALK: &'static str = "tree.walk";
    /// Stat data of the tree when a search last found it unchanged.
    pub const TREE_CHECK: &'static str = "tree.check";
    /// Cache of the walk over git's history.
    pub const HISTORY_WALK: &'static str = "history.walk";
    /// Cache of comparisons between old versions of files.
    pub const HISTORY_COMPARISONS: &'static str = "history.comparisons";
    /// Statistics of the last index runs.
    pub const RUNS: &'static str = "runs";

    /// The lock of the process that watches the tree and keeps the index up to date.
    pub const WATCH_LOCK: &'static str = "watch.lock";
    /// The lock of the process that writes the index.
    pub const WRITER_LOCK: &'static str = "writer.lock";
    /// Directory of the parts that were downloaded from remotes.
    pub const PARTS: &'static str = "parts";
    /// Directory of the writer's temporary files.
    pub const TEMPORARY: &'static str = "tmp";
    /// The `.gitignore` file, which excludes the generated files in the directory.
    pub const GIT_IGNORE: &'static str = ".gitignore";
    /// A new index while it is being written.
    pub const NEW_INDEX: &'static str = "index.new";
    /// The old index while the new one is moved to its path.
    pub const OLD_INDEX: &'static str = "index.old";
    /// An unusable index that was moved aside.
    pub const UNUSABLE_INDEX: &'static str = "index.unusable";
    /// An unusable access history that was moved aside.
    pub const UNUSABLE_ACCESS: &'static str = "access.unusable";

    /// The directories that contain an index, or may contain one after an interrupted replacement.
    pub const INDEXES: [&'static str; 3] = [Self::INDEX, Self::OLD_INDEX, Self::NEW_INDEX];

    /// Returns the directory of the project at `root`. The directory may not exist yet.
    pub fn in_root(root: &Path) -> Self {
        Self::at(root.join(Self::NAME))
    }

    /// Returns the directory at `path`. The directory may not exist yet.
    pub fn at(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into() }
    }

    /// Path of the directory.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the path of an entry of the directory, for messages. To open an entry, use [`ProjectDirectory::open`].
    pub fn path_of(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// Opens the directory. Refuses a symbolic link at its path, but follows links in the path of the project.
    ///
    /// # Errors
    /// Returns [`io::ErrorKind::NotFound`] if the directory does not exist, a [`Refusal`] if it is a link, or any other
    /// system error.
    pub fn open(&self) -> io::Result<Directory> {
        let (parent, name) = self.split()?;
        Directory::open_root(parent)?.open_directory(name)
    }

    /// Opens the directory, and creates it if it does not exist.
    ///
    /// # Errors
    /// Returns a [`Refusal`] if the directory is a link, or any system error.
    pub fn create(&self) -> io::Result<Directory> {
        let (parent, name) = self.split()?;
        #[allow(clippy::disallowed_methods, reason = "the path of the project is trusted")]
        fs::create_dir_all(parent)?;
        Directory::open_root(parent)?.create_directory(name)
    }

    /// Opens the directory in the project's `root`, and creates it if it does not exist.
    ///
    /// # Errors
    /// Returns a [`Refusal`] if the directory is a link, [`io::ErrorKind::NotFound`] if `root` was deleted, or any
    /// other system error.
    pub fn create_in(&self, root: &Directory) -> io::Result<Directory> {
        root.create_directory(self.split()?.1)
    }

    /// Size of the index's data file in bytes.
    ///
    /// # Errors
    /// Fails if there is no index. Also returns any system error.
    pub fn index_bytes(&self) -> io::Result<u64> {
        Ok(self.open()?.metadata(Path::new(Self::INDEX).join(DATA))?.len)
    }

    /// Whether this process may write the existing index. Creates the writer's lock file if it does not exist, but
    /// writes nothing else.
    pub fn is_index_writable(&self) -> bool {
        let writable = |home: Directory| {
            home.open_for_writing(Path::new(Self::INDEX).join(DATA))?;
            home.open_or_create(Self::WRITER_LOCK)
        };
        self.open().and_then(writable).is_ok()
    }

    fn split(&self) -> io::Result<(&Path, &OsStr)> {
        let name = self.path.file_name().ok_or(Refusal::Outside)?;
        let parent = self.path.parent().filter(|parent| !parent.as_os_str().is_empty());
        Ok((parent.unwrap_or(Path::new(".")), name))
    }
}

/// Content of the `.gitignore` file: git ignores everything except the files that people write.
const GIT_IGNORE: &str = "*\n!/pipeline.toml\n!/config.toml\n!/plugins/\n!/plugins/**\n!/reasoning/\n!/reasoning/**\n";

/// Writes a `.gitignore` that keeps generated files out of the repository.
pub(crate) fn keep_out_of_git(home: &Directory) -> Result<(), StorageError> {
    let name = ProjectDirectory::GIT_IGNORE;
    let written = match home.create_new(name) {
        Ok(mut file) => io::Write::write_all(&mut file, GIT_IGNORE.as_bytes()),
        // An existing file is not replaced, because the user may have changed it.
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        Err(error) => Err(error),
    };
    written.map_err(|error| StorageError::io(&home.path().join(name), error))
}

/// Identifies a file, to detect that another file has replaced it at the same path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Identity {
    device: u64,
    inode: u64,
    /// Creation time; 0 if the file system has inode numbers.
    created: i64,
}

/// Returns the identity of the data file in the directory called `directory` of `home`; `None` if there is no data
/// file.
pub(crate) fn identity(home: &Directory, directory: &str) -> Option<Identity> {
    let found = home.metadata(Path::new(directory).join(DATA)).ok()?;
    let created = if found.inode == 0 { found.changed } else { 0 };
    Some(Identity { device: found.device, inode: found.inode, created })
}

#[cfg(test)]
mod tests {
    use super::ProjectDirectory;

    #[test]
    fn the_prefix_of_reasoning_patterns_is_their_directory() {
        let directory = format!("{}/{}/", ProjectDirectory::NAME, ProjectDirectory::REASONING);
        assert_eq!(ProjectDirectory::REASONING_PREFIX, directory);
    }
}
