//! Deletes removed entries and all versions except the newest ones.

use super::EntryStore;
use crate::error::MemoryError;

/// The result of a compaction.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize)]
pub struct MemoryCompaction {
    /// Number of removed entries that were deleted and can no longer be restored.
    pub removed_entries: usize,
    /// Number of deleted versions other than the newest ones.
    pub versions: usize,
}

impl EntryStore {
    /// Deletes removed entries, all versions except the newest ones, and the change records up to `followed`, which the index has
    /// already processed. None of them can be restored.
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
        // Keeps the newest change, which determines the next number.
        let changes = view.change_keys(followed.min(view.newest_change()?.saturating_sub(1)))?;
        self.write(|writer| {
            // An entry may have been written in the meantime.
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
