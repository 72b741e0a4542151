//! A write transaction over the entries.

use aurora_storage::RecordWriter;
use serde::{Deserialize, Serialize};

use super::searches::SessionSearches;
use super::version::{Change, Version};
use super::view::{decode, decode_count, decode_searches, number, text};
use super::{CHANGES, CONTENTS, ContentKey, DIFFICULT, ENTRIES, HISTORY, SEARCHES, SESSIONS, history_key, query_key};
use crate::error::MemoryError;

/// A write transaction over the entries. Reads see the writes of the transaction.
pub(crate) struct EntryWriter<'w, 't> {
    records: &'w mut RecordWriter<'t>,
    /// The number of the next change.
    next_change: u64,
    /// The number of the change up to which the table `contents` was complete when the transaction began.
    covered: u64,
    /// Whether the table `contents` is complete.
    is_covered: bool,
}

/// Key of the record in the table `contents` with the number of the newest change that the table includes. It is
/// shorter than the other keys of the table.
const COVERED: &[u8] = b"changes";

/// The stored state of a session.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct SessionTurns {
    /// Number of turns, including removed turns.
    pub(crate) turns: u32,
}

pub(super) fn decode_turns(session: &str, bytes: &[u8]) -> Result<SessionTurns, MemoryError> {
    let damaged = |_| MemoryError::Damaged(format!("the session {session} cannot be read"));
    serde_json::from_slice(bytes).map_err(damaged)
}

impl<'w, 't> EntryWriter<'w, 't> {
    pub(super) fn new(records: &'w mut RecordWriter<'t>) -> Result<Self, MemoryError> {
        let newest = records.last_key(CHANGES)?.map_or(0, |key| number(&key));
        let covered = records.get(CONTENTS, COVERED)?.map_or(0, |bytes| number(&bytes));
        Ok(Self { records, next_change: newest + 1, covered, is_covered: covered == newest })
    }

    /// Records that the table `contents` includes the changes of the transaction.
    pub(super) fn finish(self) -> Result<(), MemoryError> {
        let newest = self.next_change - 1;
        if self.is_covered && self.covered != newest {
            self.records.put(CONTENTS, COVERED, &newest.to_be_bytes())?;
        }
        Ok(())
    }

    /// Returns the id of another stored entry with the same content.
    pub(crate) fn duplicate_of(&mut self, key: ContentKey) -> Result<Option<String>, MemoryError> {
        self.cover_contents()?;
        let mut from = key.record("");
        while let Some(record) = self.records.next_key(CONTENTS, &from)? {
            let Some(id) = key.id_of(&record) else { break };
            let id = text(id)?;
            // The record may be out of date if an earlier version of the program has changed the entry.
            if self.get(id)?.as_ref().and_then(ContentKey::from_version) == Some(key) {
                return Ok(Some(id.to_owned()));
            }
            from = [&record[..], &[0]].concat();
        }
        Ok(None)
    }

    /// Completes the table `contents` if the program that wrote the newest change does not know the table.
    fn cover_contents(&mut self) -> Result<(), MemoryError> {
        let mut from = vec![0];
        while !self.is_covered {
            let Some(key) = self.records.next_key(ENTRIES, &from)? else {
                self.is_covered = true;
                break;
            };
            let id = text(&key)?;
            let version = self.get(id)?;
            if let Some(content) = version.as_ref().and_then(ContentKey::from_version) {
                self.records.put(CONTENTS, &content.record(id), &[])?;
            }
            from = [&key[..], &[0]].concat();
        }
        Ok(())
    }

    /// Returns the newest version of an entry, even if the entry was removed.
    pub(crate) fn get(&self, id: &str) -> Result<Option<Version>, MemoryError> {
        self.records.get(ENTRIES, id.as_bytes())?.map(|bytes| decode(id, &bytes)).transpose()
    }

    /// Returns an earlier version of an entry. Fails if a compaction has deleted the version.
    fn version(&self, id: &str, number: u32) -> Result<Version, MemoryError> {
        let bytes = self.records.get(HISTORY, &history_key(id, number))?;
        decode(id, &bytes.ok_or_else(|| MemoryError::NothingToUndo(id.to_owned()))?)
    }

    /// Stores a new version of an entry. Sets the number of the version and the number of its predecessor.
    pub(crate) fn put(&mut self, id: &str, version: Version) -> Result<Version, MemoryError> {
        let before = self.get(id)?;
        let number = before.as_ref().map_or(0, |before| before.number);
        self.store(id, before, Version { before: number, ..version })
    }

    /// Undoes the newest change of an entry, or, after earlier undos, the newest change that has not been undone yet.
    pub(crate) fn undo(&mut self, id: &str, time: i64) -> Result<Version, MemoryError> {
        let current = self.get(id)?.ok_or_else(|| MemoryError::NoEntry(id.to_owned()))?;
        let earlier = match (current.before, &current.document) {
            (0, None) => return Err(MemoryError::NothingToUndo(id.to_owned())),
            (0, Some(_)) => Version { document: None, ..current.clone() },
            (number, _) => self.version(id, number)?,
        };
        self.store(id, Some(current), Version { change: Change::Undo, time, ..earlier })
    }

    /// Stores a version as the newest one, assigns its number, and moves the previous version to the history.
    fn store(&mut self, id: &str, before: Option<Version>, version: Version) -> Result<Version, MemoryError> {
        self.cover_contents()?;
        let number = before.as_ref().map_or(1, |before| before.number + 1);
        let content = ContentKey::from_version(&version);
        let content_before = before.as_ref().and_then(ContentKey::from_version);
        if content != content_before {
            if let Some(content) = content_before {
                self.records.delete(CONTENTS, &content.record(id))?;
            }
            if let Some(content) = content {
                self.records.put(CONTENTS, &content.record(id), &[])?;
            }
        }
        if let Some(before) = before {
            self.records.put(HISTORY, &history_key(id, before.number), &before.encode())?;
        }
        let version = Version { number, ..version };
        self.records.put(ENTRIES, id.as_bytes(), &version.encode())?;
        self.records.put(CHANGES, &self.next_change.to_be_bytes(), id.as_bytes())?;
        self.next_change += 1;
        Ok(version)
    }

    /// Increments the number of turns of a session. Returns the new number, which is the position of the next turn.
    pub(crate) fn next_turn(&mut self, session: &str) -> Result<u32, MemoryError> {
        let next = self.turns(session)?.checked_add(1);
        let turns = next.ok_or_else(|| MemoryError::Unfit(format!("the session {session} has too many turns")))?;
        self.set_turns(session, turns)?;
        Ok(turns)
    }

    /// Raises the number of turns of a session to at least `order`, so that the next turn comes after the turn `order`.
    pub(crate) fn raise_turns(&mut self, session: &str, order: u32) -> Result<(), MemoryError> {
        if self.turns(session)? < order { self.set_turns(session, order) } else { Ok(()) }
    }

    fn turns(&self, session: &str) -> Result<u32, MemoryError> {
        let bytes = self.records.get(SESSIONS, session.as_bytes())?;
        let stored = bytes.map(|bytes| decode_turns(session, &bytes)).transpose()?;
        Ok(stored.unwrap_or_default().turns)
    }

    fn set_turns(&mut self, session: &str, turns: u32) -> Result<(), MemoryError> {
        let value = serde_json::to_vec(&SessionTurns { turns }).expect("a struct with one number is valid JSON");
        Ok(self.records.put(SESSIONS, session.as_bytes(), &value)?)
    }

    /// Returns the queries and retrieved chunks of a session since its last task outcome.
    pub(crate) fn searches(&self, session: &str) -> Result<Option<SessionSearches>, MemoryError> {
        let found = self.records.get(SEARCHES, session.as_bytes())?;
        found.map(|bytes| decode_searches(session, &bytes)).transpose()
    }

    /// Stores the queries and retrieved chunks of a session. `None` deletes the record of the session.
    pub(crate) fn set_searches(
        &mut self,
        session: &str,
        searches: Option<&SessionSearches>,
    ) -> Result<(), MemoryError> {
        let Some(searches) = searches else {
            self.records.delete(SEARCHES, session.as_bytes())?;
            return Ok(());
        };
        let value = serde_json::to_vec(searches).map_err(|error| MemoryError::Unfit(error.to_string()))?;
        Ok(self.records.put(SEARCHES, session.as_bytes(), &value)?)
    }

    /// Increments the number of failed tasks in which a query was searched.
    pub(crate) fn note_difficult(&mut self, query: &str) -> Result<(), MemoryError> {
        let key = query_key(query);
        let failures = self.records.get(DIFFICULT, &key)?.map_or(0, |bytes| decode_count(&bytes));
        Ok(self.records.put(DIFFICULT, &key, &failures.saturating_add(1).to_le_bytes())?)
    }

    /// Deletes the records with the given keys.
    pub(super) fn drop_keys(&mut self, (entries, history, changes): DroppedKeys) -> Result<(), MemoryError> {
        for (table, keys) in [(ENTRIES, entries), (HISTORY, history), (CHANGES, changes)] {
            for key in keys {
                self.records.delete(table, &key)?;
            }
        }
        Ok(())
    }
}

/// Keys in the tables `entries`, `history` and `changes`.
pub(super) type DroppedKeys = (Vec<Vec<u8>>, Vec<Vec<u8>>, Vec<Vec<u8>>);
