//! One posting.

use super::tf_vector::TfVector;

/// A chunk that holds a term, with the term's frequency in every field.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Posting {
    /// Id of the chunk.
    pub(crate) chunk: u32,
    /// Frequency in each field; all 0 in the list of a label.
    pub(crate) frequencies: TfVector,
}
