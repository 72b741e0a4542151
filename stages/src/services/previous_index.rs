//! What the last published generation knows, and how much of it has to be made again.

use std::collections::HashMap;
use std::sync::OnceLock;

use aurora_storage::{Snapshot, StorageError};

use super::source_tree::SourceTree;
use crate::columns::RelativePath;

/// How much of an index has to be made again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum RunScope {
    /// What has changed in the tree.
    Changes,
    /// Also, for every unchanged file, everything that is derived from its stored chunks.
    Derived,
    /// Everything.
    Everything,
}

/// The generation that was published when the run began.
pub(crate) struct PreviousIndex {
    pub(crate) snapshot: Snapshot,
    scope: OnceLock<RunScope>,
    vanished: OnceLock<HashMap<[u8; 32], Vec<RelativePath>>>,
}

impl PreviousIndex {
    pub(crate) fn new(snapshot: Snapshot) -> Self {
        Self { snapshot, scope: OnceLock::new(), vanished: OnceLock::new() }
    }

    /// How much has to be made again.
    pub(crate) fn scope(&self) -> RunScope {
        self.scope.get().copied().unwrap_or(RunScope::Everything)
    }

    /// Decides the scope. It depends on the fingerprints of the stages, so it is known only after they are built.
    pub(crate) fn decide(&self, scope: RunScope) {
        self.scope.get_or_init(|| scope);
    }

    /// The indexed paths that no longer exist, by the hash of their content, sorted by path.
    pub(crate) fn vanished(&self, tree: &SourceTree) -> Result<&HashMap<[u8; 32], Vec<RelativePath>>, StorageError> {
        if let Some(vanished) = self.vanished.get() {
            return Ok(vanished);
        }
        let mut vanished: HashMap<_, Vec<RelativePath>> = HashMap::new();
        for record in self.snapshot.files() {
            let record = record?;
            if tree.is_gone(&record.path) {
                vanished.entry(record.hash).or_default().push(record.path.into());
            }
        }
        Ok(self.vanished.get_or_init(|| vanished))
    }
}
