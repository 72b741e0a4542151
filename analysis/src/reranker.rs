//! The contract between a query, passages and how well each of them answers it.

use crate::inference_error::InferenceError;
use crate::passage::Passage;

/// Reads a query together with passages, a few at a time, and says how well each of them answers it.
///
/// An [`Embedder`](crate::Embedder) sees a passage before there is a query; a reranker sees both at once, which is better and
/// dearer.
pub trait Reranker: Send + Sync {
    /// `name@digest`: two rerankers of one id give the same scores.
    fn id(&self) -> &str;

    /// One finite score per passage, in order; higher is better, and only the differences within a query mean something. A
    /// score does not depend on the other passages of the call beyond the last bits of its float.
    ///
    /// # Errors
    /// [`InferenceError`] when the model fails on one of them; none then has a score.
    fn scores(&self, query: &str, passages: &[Passage<'_>]) -> Result<Vec<f32>, InferenceError>;
}
