//! One posting.

use super::tf_vector::TfVector;

/// A chunk that contains a term, with the frequency of the term in each field.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Posting {
    /// Id of the chunk.
    pub chunk: u32,
    /// Frequency in each field; all 0 for a label.
    pub frequencies: TfVector,
}
