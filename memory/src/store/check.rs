//! Verification of every record in a store.

use serde::Serialize;

use super::version::Version;
use super::view::{EntryView, decode, decode_searches, text};
use super::writer::decode_turns;
use super::{CHANGES, ENTRIES, HISTORY, SEARCHES, SESSIONS, TABLES};
use crate::error::MemoryError;

/// The result of a check of all records.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct MemoryCheck {
    /// Number of entries.
    pub entries: u64,
    /// Number of removed entries that can be restored.
    pub removed: u64,
    /// Number of earlier versions of entries.
    pub versions: u64,
    /// Number of records in all tables.
    pub records: u64,
    /// The digest of the entries; see [`crate::Memory::digest`]. `None` if an entry is damaged or cannot be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
    /// The problems, one sentence per damaged table.
    pub problems: Vec<String>,
}

impl EntryView {
    /// Reads every record and verifies its checksum. Calls `see` for every entry that was not removed, to check its
    /// content.
    ///
    /// Stops reading a table at its first damaged record. Returns the result without a digest, and whether all entries
    /// are valid.
    pub(crate) fn check(&self, mut see: impl FnMut(&str, &Version) -> Result<(), MemoryError>) -> (MemoryCheck, bool) {
        let mut check = MemoryCheck::default();
        let entries = self.check_entries(&mut check, &mut see);
        let is_valid = entries.is_ok();
        let tables = (HISTORY..TABLES.len()).map(|table| self.check_table(table, &mut check)).collect::<Vec<_>>();
        let errors = std::iter::once(entries).chain(tables).filter_map(Result::err);
        check.problems = errors.map(|error| error.to_string()).collect();
        if check.problems.is_empty() {
            // Also checks the pages of the file that contain no records.
            check.problems.extend(self.records.check().err().map(|error| error.to_string()));
        }
        (check, is_valid)
    }

    fn check_entries(
        &self,
        check: &mut MemoryCheck,
        see: &mut dyn FnMut(&str, &Version) -> Result<(), MemoryError>,
    ) -> Result<(), MemoryError> {
        let mut found = 0;
        for entry in self.from("")? {
            let (id, version) = entry?;
            found += 1;
            check.records += 1;
            if version.document.is_some() {
                see(id, &version)?;
                check.entries += 1;
            } else {
                check.removed += 1;
            }
        }
        self.check_count(ENTRIES, found)
    }

    fn check_table(&self, table: usize, check: &mut MemoryCheck) -> Result<(), MemoryError> {
        let mut found = 0;
        for record in self.records.from(table, &[])? {
            let (key, bytes) = record?;
            found += 1;
            check.records += 1;
            match table {
                HISTORY => {
                    // The key is the id, a zero byte, and the number of the version.
                    let id = key.split_last_chunk::<5>().map_or(key, |(id, _)| id);
                    decode(text(id)?, bytes)?;
                    check.versions += 1;
                }
                CHANGES => drop(text(bytes)?),
                SESSIONS => drop(decode_turns(text(key)?, bytes)?),
                SEARCHES => drop(decode_searches(text(key)?, bytes)?),
                // The reader has verified the checksums of the records, and the other tables need no further check.
                _ => {}
            }
        }
        self.check_count(table, found)
    }

    /// Checks that a table contains as many records as the stored count of the table.
    fn check_count(&self, table: usize, found: u64) -> Result<(), MemoryError> {
        let expected = self.records.count(table);
        let name = TABLES[table].name;
        let missing =
            || MemoryError::Damaged(format!("`{name}` has {found} records, but its stored count is {expected}"));
        if found == expected { Ok(()) } else { Err(missing()) }
    }
}
