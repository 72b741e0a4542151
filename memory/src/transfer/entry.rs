//! An imported entry.

use aurora_memory_schema::Entry;
use aurora_storage::AccessRecord;

use super::problem::TransferProblem;
use crate::memory::Placement;

/// An imported entry with the metadata of its source.
#[derive(Debug, Clone, PartialEq)]
pub struct TransferredEntry {
    /// The entry.
    pub entry: Entry,
    /// Whether its id was derived from its content. If another entry has a derived id, this entry gets a new id.
    pub has_derived_id: bool,
    /// The scope and session of the entry.
    pub placement: Placement,
    /// The time at which the entry was added, in Unix seconds.
    pub created: i64,
    /// The time of the last change of its content, in Unix seconds.
    pub edited: i64,
    /// Whether the document is the current content of its source, such as the text of a file. It replaces an imported document with
    /// the same time.
    pub is_current: bool,
    /// The access history of the entry.
    pub access: Option<AccessRecord>,
    /// The name of the source in messages, such as `memory.jsonl:3`.
    pub source: String,
}

/// An item of a reader: an entry or a problem.
pub type Transfer = Result<TransferredEntry, TransferProblem>;
