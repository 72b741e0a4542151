//! Where a memory lies.

use std::path::{Path, PathBuf};

use aurora_project::user;
use aurora_storage::ProjectDirectory;

use crate::scope::Scope;

/// Whose memory it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Owner {
    /// The user's, in the user's own directory.
    User,
    /// A project's, in its `.aurora` directory.
    Project,
}

/// The directory of a memory, which need not exist.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemoryPlace {
    owner: Owner,
    directory: PathBuf,
}

impl Owner {
    /// Its name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Project => "project",
        }
    }

    /// Whose memory holds the entries of a scope.
    pub fn of(scope: Scope) -> Self {
        match scope {
            Scope::Project => Self::Project,
            Scope::Session | Scope::User | Scope::Global => Self::User,
        }
    }
}

impl MemoryPlace {
    /// The user's; `None` where no home directory is known.
    pub fn of_user() -> Option<Self> {
        Some(Self { owner: Owner::User, directory: user::memory()? })
    }

    /// That of the project at an absolute path.
    pub fn of_project(root: &Path) -> Self {
        let directory = ProjectDirectory::of(root).path_of(ProjectDirectory::MEMORY);
        Self { owner: Owner::Project, directory }
    }

    /// One in a directory of its own, for tests and imports.
    pub fn at(owner: Owner, directory: impl Into<PathBuf>) -> Self {
        Self { owner, directory: directory.into() }
    }

    /// Whose it is.
    pub fn owner(&self) -> Owner {
        self.owner
    }

    /// The directory.
    pub fn directory(&self) -> &Path {
        &self.directory
    }
}
