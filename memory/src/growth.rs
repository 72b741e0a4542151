//! The growth of a memory in a period.

use serde::Serialize;

use crate::error::MemoryError;
use crate::memory::Memory;

/// The entries of a memory, and their changes since a time.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct MemoryGrowth {
    /// Number of entries.
    pub entries: u64,
    /// Size of the documents of all entries as JSON, in bytes.
    pub bytes: u64,
    /// Number of entries that were added since the time and still exist.
    pub added: u64,
    /// Size of the documents of these entries, in bytes.
    pub added_bytes: u64,
    /// Number of entries that existed at the time and were removed since.
    pub removed: u64,
}

impl Memory {
    /// Counts the entries, and their changes since `since`, in Unix seconds.
    ///
    /// # Errors
    /// Fails if the entries cannot be read.
    pub fn growth(&self, since: i64) -> Result<MemoryGrowth, MemoryError> {
        let mut growth = MemoryGrowth::default();
        for entry in self.view()?.from("")? {
            let (_, version) = entry?;
            let is_new = version.created >= since;
            let Some(document) = &version.document else {
                growth.removed += u64::from(!is_new && version.time >= since);
                continue;
            };
            let bytes = serde_json::to_vec(document).map_or(0, |json| json.len() as u64);
            growth.entries += 1;
            growth.bytes += bytes;
            if is_new {
                growth.added += 1;
                growth.added_bytes += bytes;
            }
        }
        Ok(growth)
    }
}
