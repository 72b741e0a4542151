//! An entry that comes from elsewhere.

use aurora_memory_schema::Entry;
use aurora_storage::AccessRecord;

use super::problem::TransferProblem;
use crate::memory::Placement;

/// An entry that comes from elsewhere, with what is known about it there.
#[derive(Debug, Clone, PartialEq)]
pub struct TransferredEntry {
    /// The entry.
    pub entry: Entry,
    /// Whether its id was made of its content: it may be that of another entry, and then this one gets another id.
    pub has_derived_id: bool,
    /// Where it belongs.
    pub placement: Placement,
    /// When it was added, in Unix seconds.
    pub created: i64,
    /// When its content was changed the last time, in Unix seconds.
    pub edited: i64,
    /// Whether the document is what its source has now, such as the text of a file. It replaces a document with the same time
    /// that an import has stored.
    pub is_current: bool,
    /// When it was shown, and what was said of it.
    pub access: Option<AccessRecord>,
    /// What messages call it, such as `memory.jsonl:3`.
    pub source: String,
}

/// What a reader has found next: an entry, or something that is to be reported.
pub type Transfer = Result<TransferredEntry, TransferProblem>;
