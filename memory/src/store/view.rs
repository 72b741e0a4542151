//! A read-only snapshot of the entries.

use aurora_storage::RecordReader;

use super::searches::SessionSearches;
use super::version::Version;
use super::{CHANGES, DIFFICULT, ENTRIES, HISTORY, SEARCHES, history_key, query_key};
use crate::error::MemoryError;

/// A snapshot of the entries. Later writes do not affect it.
pub(crate) struct EntryView {
    /// The random id of the store; `None` before the first entry.
    id: Option<String>,
    pub(super) records: RecordReader,
}

impl EntryView {
    pub(super) fn new(id: Option<String>, records: RecordReader) -> Self {
        Self { id, records }
    }

    /// Returns the random id of the store; empty before the first entry.
    pub(crate) fn store_id(&self) -> &str {
        self.id.as_deref().unwrap_or_default()
    }

    /// Returns the number of the newest change; 0 before the first change.
    pub(crate) fn newest_change(&self) -> Result<u64, MemoryError> {
        Ok(self.records.last(CHANGES)?.map_or(0, |(key, _)| number(key)))
    }

    /// Returns the newest version of an entry, even if the entry was removed.
    pub(crate) fn get(&self, id: &str) -> Result<Option<Version>, MemoryError> {
        // The empty string is not a valid id, and the record store does not accept empty keys.
        let found = if id.is_empty() { None } else { self.records.get(ENTRIES, id.as_bytes())? };
        found.map(|bytes| decode(id, bytes)).transpose()
    }

    /// Iterates over the entries from `id` on, in the order of ids. Returns the id and the newest version of each
    /// entry. Includes removed entries.
    pub(crate) fn from(
        &self,
        id: &str,
    ) -> Result<impl Iterator<Item = Result<(&str, Version), MemoryError>>, MemoryError> {
        let records = self.records.from(ENTRIES, id.as_bytes())?;
        Ok(records.map(|record| {
            let (key, bytes) = record?;
            let id = text(key)?;
            Ok((id, decode(id, bytes)?))
        }))
    }

    /// Returns the versions of an entry, oldest first.
    pub(crate) fn versions(&self, id: &str) -> Result<Vec<Version>, MemoryError> {
        let mut versions = Vec::new();
        let first = history_key(id, 0);
        let prefix = &first[..=id.len()];
        for record in self.records.from(HISTORY, &first)? {
            let (key, bytes) = record?;
            if !key.starts_with(prefix) {
                break;
            }
            versions.push(decode(id, bytes)?);
        }
        versions.extend(self.get(id)?);
        Ok(versions)
    }

    /// Returns the keys of all earlier versions in the table `history`.
    pub(super) fn history_keys(&self) -> Result<Vec<Vec<u8>>, MemoryError> {
        self.records.from(HISTORY, &[])?.map(|record| Ok(record?.0.to_vec())).collect()
    }

    /// Returns the queries and retrieved chunks of a session since its last task outcome.
    pub(crate) fn searches(&self, session: &str) -> Result<Option<SessionSearches>, MemoryError> {
        let found = self.records.get(SEARCHES, session.as_bytes())?;
        found.map(|bytes| decode_searches(session, bytes)).transpose()
    }

    /// Calls `visit` for every query of the recorded searches.
    pub(crate) fn for_each_query(&self, mut visit: impl FnMut(&str)) -> Result<(), MemoryError> {
        for record in self.records.from(SEARCHES, &[])? {
            let (session, bytes) = record?;
            decode_searches(text(session)?, bytes)?.queries.iter().for_each(|query| visit(query));
        }
        Ok(())
    }

    /// Returns the number of failed tasks in which a query was searched.
    pub(crate) fn failures(&self, query: &str) -> Result<u32, MemoryError> {
        Ok(self.records.get(DIFFICULT, &query_key(query))?.map_or(0, decode_count))
    }

    /// Returns the ids of the entries that were changed after the change `since`, sorted and without duplicates.
    /// Returns `None` if the store does not have all of these changes, or has no change with this number.
    pub(crate) fn changed_since(&self, since: u64) -> Result<Option<Vec<String>>, MemoryError> {
        let oldest = self.records.from(CHANGES, &[])?.next().transpose()?.map_or(0, |(key, _)| number(key));
        if since + 1 < oldest || since > self.newest_change()? {
            return Ok(None);
        }
        let mut ids = Vec::new();
        for record in self.records.from(CHANGES, &(since + 1).to_be_bytes())? {
            ids.push(text(record?.1)?.to_owned());
        }
        ids.sort_unstable();
        ids.dedup();
        Ok(Some(ids))
    }

    /// Returns the keys of the changes up to and including the number `up_to`.
    pub(super) fn change_keys(&self, up_to: u64) -> Result<Vec<Vec<u8>>, MemoryError> {
        let mut keys = Vec::new();
        for record in self.records.from(CHANGES, &[])? {
            let (key, _) = record?;
            if number(key) > up_to {
                break;
            }
            keys.push(key.to_vec());
        }
        Ok(keys)
    }
}

/// Decodes the number of a change from its key.
pub(super) fn number(key: &[u8]) -> u64 {
    key.as_array().map_or(0, |bytes| u64::from_be_bytes(*bytes))
}

pub(super) fn decode(id: &str, bytes: &[u8]) -> Result<Version, MemoryError> {
    Version::decode(bytes).ok_or_else(|| MemoryError::Damaged(format!("the entry {id} cannot be read")))
}

pub(super) fn decode_searches(session: &str, bytes: &[u8]) -> Result<SessionSearches, MemoryError> {
    let damaged = |_| MemoryError::Damaged(format!("the searches of session {session} cannot be read"));
    serde_json::from_slice(bytes).map_err(damaged)
}

/// Decodes a stored number of failures.
pub(super) fn decode_count(bytes: &[u8]) -> u32 {
    bytes.as_array().map_or(0, |bytes| u32::from_le_bytes(*bytes))
}

pub(super) fn text(bytes: &[u8]) -> Result<&str, MemoryError> {
    std::str::from_utf8(bytes).map_err(|_| MemoryError::Damaged("an id is not UTF-8".to_owned()))
}
