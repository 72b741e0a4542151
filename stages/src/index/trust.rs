//! Decides whether an index may be used. A repository can contain a forged index.

use std::path::Path;

use aurora_storage::{KnownIndexes, Origin, ProjectDirectory, Snapshot};

use crate::git_signal::is_tracked;

/// The policy that decides which indexes may be used.
#[derive(Debug, Clone)]
pub struct Trust {
    /// The indexes that runs of the user have made.
    pub known: KnownIndexes,
    /// Whether indexes of unknown origin may also be used.
    pub accepts_unknown: bool,
}

/// Reason why an index is not used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Distrust {
    /// No run of the user made the index.
    #[error("no index run of this user made it")]
    Unknown,
    /// Git tracks the index, and the index was written after the user's last run, possibly by git.
    #[error("git tracks it, and it was written since the last index run of this user")]
    Tracked,
}

impl Trust {
    /// Creates a policy that trusts every index.
    pub fn everything() -> Self {
        Self { known: KnownIndexes::none(), accepts_unknown: true }
    }

    /// Returns the origin of the index of `root` if the index may be used.
    ///
    /// # Errors
    /// Returns the reason why the index may not be used.
    pub fn check(&self, root: &Path, snapshot: &Snapshot) -> Result<Origin, Distrust> {
        let origin = self.known.origin(ProjectDirectory::in_root(root).path(), snapshot);
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
