//! An imported entry.

use aurora_memory_schema::Entry;

/// An imported entry with its metadata.
#[derive(Debug, Clone, PartialEq)]
pub struct ImportedEntry {
    /// The entry. Its score is high enough for storing.
    pub entry: Entry,
    /// The creation time, in Unix seconds.
    pub created: Option<i64>,
    /// The time of the last change, in Unix seconds.
    pub edited: Option<i64>,
    /// The source of the entry in messages: a file.
    pub source: String,
}
