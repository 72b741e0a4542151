//! The location of a memory.

use aurora_memory_policy::Scope;
use std::path::{Path, PathBuf};

use aurora_project::user;
use aurora_storage::ProjectDirectory;

/// The owner of a memory.
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Owner {
    /// The user, in `~/.aurora/memory`.
    User,
    /// The project, in `.aurora/memory`.
    Project,
}

/// The owner and directory of a memory. The directory does not have to exist.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemoryPlace {
    owner: Owner,
    directory: PathBuf,
}

impl Owner {
    /// Returns the name of the owner.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Project => "project",
        }
    }

    /// Returns the owner of the memory that stores the entries of a scope.
    pub fn for_scope(scope: Scope) -> Self {
        match scope {
            Scope::Project => Self::Project,
            Scope::Session | Scope::User | Scope::Global => Self::User,
        }
    }
}

impl MemoryPlace {
    /// Returns the location of the user's memory; `None` if the user's home directory cannot be determined.
    pub fn for_user() -> Option<Self> {
        Some(Self { owner: Owner::User, directory: user::absolute_directory()?.memory() })
    }

    /// Returns the location of a project's memory. `root` is the absolute path of the project.
    pub fn for_project(root: &Path) -> Self {
        let directory = ProjectDirectory::in_root(root).path_of(ProjectDirectory::MEMORY);
        Self { owner: Owner::Project, directory }
    }

    /// Returns the locations of the memories that a search in these projects covers. The user's memory is the last.
    pub fn for_search<'r>(roots: impl IntoIterator<Item = &'r Path>) -> Vec<Self> {
        roots.into_iter().map(Self::for_project).chain(Self::for_user()).collect()
    }

    /// Returns the location of a memory in any directory, for tests and imports.
    pub fn at(owner: Owner, directory: impl Into<PathBuf>) -> Self {
        Self { owner, directory: directory.into() }
    }

    /// Returns the owner.
    pub fn owner(&self) -> Owner {
        self.owner
    }

    /// Returns the directory.
    pub fn directory(&self) -> &Path {
        &self.directory
    }
}
