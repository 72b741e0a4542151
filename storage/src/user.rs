//! The user's Aurora directory, outside of any project.

use std::env;
use std::path::{Path, PathBuf};

use crate::project::ProjectDirectory;

/// The user's Aurora directory: configuration, models, conversation logs, and the records of trusted indexes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UserDirectory {
    path: PathBuf,
}

impl UserDirectory {
    /// Prefix of the indexed paths of conversation logs, which are outside of any project.
    pub const CONVERSATIONS_PREFIX: &'static str = ".aurora/logs/conversations/";

    /// Returns the directory that `AURORA_HOME` specifies, or `.aurora` in the user's home directory; `None` if the
    /// variable is not set and there is no home directory.
    pub fn from_environment() -> Option<Self> {
        let set = env::var_os("AURORA_HOME").filter(|home| !home.is_empty());
        Some(Self::at(set.map(PathBuf::from).or_else(|| Some(env::home_dir()?.join(ProjectDirectory::NAME)))?))
    }

    /// Returns the directory at `path`, which may not exist yet.
    pub fn at(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into() }
    }

    /// Path of the directory.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Path of the user's configuration file.
    pub fn config(&self) -> PathBuf {
        self.path.join("config.toml")
    }

    /// Directory of the user's models.
    pub fn models(&self) -> PathBuf {
        self.path.join("models")
    }

    /// Directory of the sessions in which articles are stored.
    pub fn knowledge(&self) -> PathBuf {
        self.path.join("knowledge")
    }

    /// Directory of the repository copies from which evaluation questions were mined.
    pub fn mined_trees(&self) -> PathBuf {
        self.path.join("cache").join("eval-trees")
    }

    /// Directory of the clones that catalogues made, and of the results of their index runs.
    pub fn catalogs(&self) -> PathBuf {
        self.path.join("catalogs")
    }

    /// Directory of the user's memory.
    pub fn memory(&self) -> PathBuf {
        self.path.join("memory")
    }

    /// Directory of the conversation logs.
    pub fn conversations(&self) -> PathBuf {
        self.path.join("logs").join("conversations")
    }

    /// Directory with records of the programs that the user has allowed to run.
    pub fn program_records(&self) -> PathBuf {
        self.path.join("state").join("programs")
    }

    /// Directory of the modules that custom stages import.
    pub fn helpers(&self) -> PathBuf {
        self.path.join("state").join("helpers")
    }

    /// Directory of compiled WebAssembly modules.
    pub fn compiled_modules(&self) -> PathBuf {
        self.path.join("state").join("modules")
    }

    /// Directory of the records of the newest manifests seen in remotes.
    pub fn remote_records(&self) -> PathBuf {
        self.path.join("state").join("remotes")
    }

    /// Directory of the records of [`KnownIndexes`](crate::KnownIndexes).
    pub fn index_records(&self) -> PathBuf {
        self.path.join("state").join("indexes")
    }
}
