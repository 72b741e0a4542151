//! Deletes removed entries and all versions except the newest version of each entry.

use super::EntryStore;
use crate::error::MemoryError;

/// The result of a compaction.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize)]
pub struct MemoryCompaction {
    /// Number of removed entries that the compaction deleted. They can no longer be restored.
    pub removed_entries: usize,
    /// Number of earlier versions that the compaction deleted.
    pub versions: usize,
}

impl EntryStore {
    /// Deletes removed entries, earlier versions, and the change records up to the change `indexed`, which the index
    /// already contains. The deleted data cannot be restored.
    pub(crate) fn compact(&self, indexed: u64) -> Result<MemoryCompaction, MemoryError> {
        let view = self.view()?;
        let mut removed = Vec::new();
        for entry in view.from("")? {
            let (id, version) = entry?;
            if version.document.is_none() {
                removed.push((id.to_owned(), version.number));
            }
        }
        let history = view.history_keys()?;
        // Keeps the record of the newest change, because it determines the number of the next change.
        let changes = view.change_keys(indexed.min(view.newest_change()?.saturating_sub(1)))?;
        self.write(|writer| {
            // Another process may have restored an entry in the meantime.
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
