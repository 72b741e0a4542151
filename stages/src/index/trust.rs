//! Whether an index may be used: a repository can bring one of its own.

use std::path::Path;

use aurora_storage::{KnownIndexes, Origin, ProjectDirectory, Snapshot};

use crate::git_signal::is_tracked;

/// Which indexes are used.
#[derive(Debug, Clone)]
pub struct Trust {
    /// Those that the user's runs have made.
    pub known: KnownIndexes,
    /// Whether all others are used too.
    pub accepts_unknown: bool,
}

/// Why an index is not used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Distrust {
    /// The user's runs did not make it.
    #[error("no index run of this user made it")]
    Unknown,
    /// Git tracks it, and it has been written since the user's last run: perhaps by git.
    #[error("git tracks it, and it was written since the last index run of this user")]
    Tracked,
}

impl Trust {
    /// Every index, known or not.
    pub fn everything() -> Self {
        Self { known: KnownIndexes::none(), accepts_unknown: true }
    }

    /// Where the index of `root` comes from, if it may be used.
    ///
    /// # Errors
    /// Why it may not.
    pub fn check(&self, root: &Path, snapshot: &Snapshot) -> Result<Origin, Distrust> {
        let origin = self.known.origin(ProjectDirectory::of(root).path(), snapshot);
        let is_tracked = |name| is_tracked(root, &format!("{}/{name}", ProjectDirectory::NAME));
        match origin {
            _ if self.accepts_unknown => Ok(origin),
            Origin::Own => Ok(origin),
            Origin::OwnButChanged if ProjectDirectory::INDEXES.into_iter().any(is_tracked) => Err(Distrust::Tracked),
            Origin::OwnButChanged => Ok(origin),
            Origin::Unknown => Err(Distrust::Unknown),
        }
    }
}
