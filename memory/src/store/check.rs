//! Reads every record of a store, and checks each.

use serde::Serialize;

use super::version::Version;
use super::view::{EntryView, decode, searches_of, text};
use super::writer::turns_of;
use super::{CHANGES, ENTRIES, HISTORY, SEARCHES, SESSIONS, TABLES};
use crate::error::MemoryError;

/// What a check of all records has found.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct MemoryCheck {
    /// Entries.
    pub entries: u64,
    /// Entries that were removed and can be restored.
    pub removed: u64,
    /// Versions before the newest ones.
    pub versions: u64,
    /// Records of all tables.
    pub records: u64,
    /// The digest of the entries: see [`crate::Memory::digest`]. `None` where an entry cannot be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
    /// What is wrong, one sentence for each damaged table.
    pub problems: Vec<String>,
}

impl EntryView {
    /// Reads every record, and compares it with its checksum; `see` checks what an entry says. A table is read up to its first
    /// damage. Whether all entries are sound is the second part of the result, which has no digest.
    pub(crate) fn check(&self, mut see: impl FnMut(&str, &Version) -> Result<(), MemoryError>) -> (MemoryCheck, bool) {
        let mut check = MemoryCheck::default();
        let entries = self.check_entries(&mut check, &mut see);
        let is_sound = entries.is_ok();
        let tables = (HISTORY..TABLES.len()).map(|table| self.check_table(table, &mut check)).collect::<Vec<_>>();
        let wrong = std::iter::once(entries).chain(tables).filter_map(Result::err);
        check.problems = wrong.map(|error| error.to_string()).collect();
        if check.problems.is_empty() {
            // Pages that no record of a table lies in.
            check.problems.extend(self.records.check().err().map(|error| error.to_string()));
        }
        (check, is_sound)
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
        self.all(ENTRIES, found)
    }

    fn check_table(&self, table: usize, check: &mut MemoryCheck) -> Result<(), MemoryError> {
        let mut found = 0;
        for record in self.records.from(table, &[])? {
            let (key, bytes) = record?;
            found += 1;
            check.records += 1;
            match table {
                HISTORY => {
                    // Behind the id stand a zero and the number of the version.
                    let id = key.split_last_chunk::<5>().map_or(key, |(id, _)| id);
                    decode(text(id)?, bytes)?;
                    check.versions += 1;
                }
                CHANGES => drop(text(bytes)?),
                SESSIONS => drop(turns_of(text(key)?, bytes)?),
                SEARCHES => drop(searches_of(text(key)?, bytes)?),
                // Their checksums say that they are what was written.
                _ => {}
            }
        }
        self.all(table, found)
    }

    /// Whether a table has the records that it counts.
    fn all(&self, table: usize, found: u64) -> Result<(), MemoryError> {
        let expected = self.records.count(table);
        let name = TABLES[table].name;
        let missing = || MemoryError::Damaged(format!("`{name}` has {found} records, and counts {expected}"));
        if found == expected { Ok(()) } else { Err(missing()) }
    }
}
