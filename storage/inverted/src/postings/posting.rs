//! One posting.

use super::tf_vector::TfVector;

/// A chunk that holds a term, with the term's frequency in every field.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Posting {
    /// Id of the chunk.
    pub chunk: u32,
    /// Frequency in each field; all 0 in the list of a label.
    pub frequencies: TfVector,
}
