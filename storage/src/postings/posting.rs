//! One posting.

use crate::field::FIELDS;

/// A chunk that holds a term, with the term's frequency in every field.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Posting {
    /// Number of the chunk.
    pub(crate) chunk: u32,
    /// Frequencies by field; all 0 in a label.
    pub(crate) frequencies: [u16; FIELDS],
}
