//! An entry to import.

use aurora_memory_schema::Entry;
use aurora_storage::AccessRecord;

use super::problem::TransferProblem;
use crate::memory::Placement;

/// An entry to import, with metadata from its source.
#[derive(Debug, Clone, PartialEq)]
pub struct TransferredEntry {
    /// The entry.
    pub entry: Entry,
    /// Whether the id was derived from the content. If a different entry already has a derived id, this entry gets a
    /// new id.
    pub has_derived_id: bool,
    /// The scope and session of the entry.
    pub placement: Placement,
    /// The time at which the entry was added, in Unix seconds.
    pub created: i64,
    /// The time at which the content was last changed, in Unix seconds.
    pub edited: i64,
    /// Whether the document is the current content of its source, such as the text of a file. Such a document replaces
    /// an imported document even if both were edited at the same time.
    pub is_current: bool,
    /// The access record of the entry; `None` if the source has no record.
    pub access: Option<AccessRecord>,
    /// Name of the source for messages, such as `memory.jsonl:3`.
    pub source: String,
}

/// A result of reading one item: an entry, or the problem that prevents its import.
pub type Transfer = Result<TransferredEntry, TransferProblem>;
