//! The store of entries. It contains the versions of entries, the order of changes, and data of sessions.
//!
//! | table | key | value |
//! |---|---|---|
//! | `entries` | id | the newest [`Version`] of the entry; the version of a removed entry has no document |
//! | `history` | id, 0, number of the version | an earlier version |
//! | `changes` | number of the change | the id of the changed entry |
//! | `sessions` | name of a session | the number of turns in the session |
//! | `searches` | name of a session | the queries and retrieved chunks of the session since its last task outcome |
//! | `difficult` | digest of a query | the number of failed tasks in which the query was searched |
//! | `contents` | content key of an entry, id of the entry | empty; derived from `entries` |

mod check;
mod compaction;
mod content_key;
mod searches;
mod version;
mod view;
mod writer;

use aurora_confined::Directory;
use aurora_storage::{KnownIndexes, OpenMode, RecordStore, RecordTable, StorageError};

pub use check::MemoryCheck;
pub use compaction::MemoryCompaction;
pub(crate) use content_key::ContentKey;
pub use searches::Retrieved;
pub use version::{Change, Version};
pub(crate) use view::EntryView;
pub(crate) use writer::EntryWriter;

use crate::error::MemoryError;

/// Name of the store in the directory of a memory.
const STORE: &str = "entries";
/// Version of the format of stored values.
const FORMAT: u32 = 1;

/// Index of the table `entries` in [`TABLES`]. The following constants are the indexes of the other tables.
const ENTRIES: usize = 0;
const HISTORY: usize = 1;
const CHANGES: usize = 2;
const SESSIONS: usize = 3;
const SEARCHES: usize = 4;
const DIFFICULT: usize = 5;
const CONTENTS: usize = 6;
const TABLES: &[RecordTable] = &[
    RecordTable { name: "entries", mark: 0x52, is_optional: false },
    RecordTable { name: "history", mark: 0x53, is_optional: false },
    RecordTable { name: "changes", mark: 0x54, is_optional: false },
    RecordTable { name: "sessions", mark: 0x55, is_optional: false },
    RecordTable { name: "searches", mark: 0x56, is_optional: false },
    RecordTable { name: "difficult", mark: 0x57, is_optional: false },
    RecordTable { name: "contents", mark: 0x59, is_optional: true },
    RecordStore::IDENTITY,
];

/// The store of one memory's entries.
pub(crate) struct EntryStore(RecordStore);

impl EntryStore {
    /// Opens the store in the directory of a memory. `known` contains the stores that the user trusts.
    pub(crate) fn open(home: &Directory, mode: OpenMode, known: KnownIndexes) -> Result<Self, MemoryError> {
        match RecordStore::open(home, STORE, (FORMAT, TABLES), mode, known) {
            Err(error @ StorageError::ForeignRecords { .. }) => {
                Err(MemoryError::Distrusted { path: home.path().to_owned(), source: error })
            }
            opened => Ok(Self(opened?)),
        }
    }

    /// Records in `known` that the user trusts an existing store.
    pub(crate) fn accept(home: &Directory, known: KnownIndexes) -> Result<(), MemoryError> {
        Ok(RecordStore::open_unchecked(home, STORE, (FORMAT, TABLES), OpenMode::Existing, known)?.accept()?)
    }

    /// Returns a snapshot of the entries.
    pub(crate) fn view(&self) -> Result<EntryView, MemoryError> {
        let records = self.0.read()?;
        let id = self.0.id_in(&records)?.map(|id| id.to_string());
        Ok(EntryView::new(id, records))
    }

    /// Runs `change` in one write transaction, which is durable when this function returns.
    pub(crate) fn write<T>(
        &self,
        change: impl FnOnce(&mut EntryWriter<'_, '_>) -> Result<T, MemoryError>,
    ) -> Result<T, MemoryError> {
        self.0.write(|records| {
            let mut writer = EntryWriter::new(records)?;
            let done = change(&mut writer)?;
            writer.finish()?;
            Ok(done)
        })
    }
}

/// Returns the key of a query in the table `difficult`: a hash that ignores case and white space.
fn query_key(query: &str) -> [u8; 32] {
    let words: Vec<String> = query.split_whitespace().map(str::to_lowercase).collect();
    *blake3::hash(words.join(" ").as_bytes()).as_bytes()
}

/// Returns the key of a version in the table `history`.
fn history_key(id: &str, number: u32) -> Vec<u8> {
    [id.as_bytes(), &[0], &number.to_be_bytes()].concat()
}
