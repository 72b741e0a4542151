//! An entry that was read.

use aurora_memory_schema::Entry;

/// An entry that was read, with what is known about it.
#[derive(Debug, Clone, PartialEq)]
pub struct ImportedEntry {
    /// The entry. Its score allows it to be stored.
    pub entry: Entry,
    /// When it was added there, in Unix seconds.
    pub created: Option<i64>,
    /// When it was changed the last time, in Unix seconds.
    pub edited: Option<i64>,
    /// The source of the entry in messages: a file.
    pub source: String,
}
