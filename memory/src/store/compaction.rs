//! Forgets what was removed, and the versions before the newest ones.

use super::EntryStore;
use crate::error::MemoryError;

/// What a compaction has dropped.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize)]
pub struct MemoryCompaction {
    /// Entries that had been removed, and can no longer be restored.
    pub removed_entries: usize,
    /// Versions before the newest ones.
    pub versions: usize,
}

impl EntryStore {
    /// Drops entries that were removed, versions before the newest ones, and the changes that the index has followed, up to
    /// `followed`. None of them can be restored.
    pub(crate) fn compact(&self, followed: u64) -> Result<MemoryCompaction, MemoryError> {
        let view = self.view()?;
        let mut removed = Vec::new();
        for entry in view.from("")? {
            let (id, version) = entry?;
            if version.document.is_none() {
                removed.push((id.to_owned(), version.number));
            }
        }
        let history = view.history_keys()?;
        // The newest change stays: it says which number is next.
        let changes = view.change_keys(followed.min(view.newest_change()?.saturating_sub(1)))?;
        self.write(|writer| {
            // A write may have come in between.
            let mut entries = Vec::new();
            for (id, number) in removed {
                if writer.get(&id)?.is_some_and(|version| version.number == number && version.document.is_none()) {
                    entries.push(id.into_bytes());
                }
            }
            let done = MemoryCompaction { removed_entries: entries.len(), versions: history.len() };
            writer.drop_keys((entries, history, changes))?;
            Ok(done)
        })
    }
}
