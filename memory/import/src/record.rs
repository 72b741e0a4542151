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
    /// When it was used there.
    pub access: Option<ImportedAccess>,
    /// What messages call it: a file, or a row of a table.
    pub source: String,
}

/// How often and when an entry was used.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ImportedAccess {
    /// How often.
    pub count: u64,
    /// The last time, in Unix seconds.
    pub last: i64,
    /// Up to 32 times, ascending, in Unix seconds.
    pub recent: Vec<i64>,
}
