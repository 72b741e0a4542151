//! Trait for models that score how well passages answer a query.

use crate::inference_error::InferenceError;
use crate::passage::Passage;

/// Scores how well each passage answers a query.
///
/// An [`Embedder`](crate::Embedder) reads a passage without knowing the query. A reranker reads query and passage
/// together, which is more accurate but takes longer.
pub trait Reranker: Send + Sync {
    /// Id of the model, in the form `name@digest`. Rerankers with the same id compute the same scores.
    fn id(&self) -> &str;

    /// Returns one finite score per passage, in order. A higher score is better. Only scores for the same query can be
    /// compared. Apart from the last bits of its float, a score does not depend on the other passages of the call.
    ///
    /// # Errors
    /// Returns [`InferenceError`], and no scores, if the model fails on one of the passages.
    fn scores(&self, query: &str, passages: &[Passage<'_>]) -> Result<Vec<f32>, InferenceError>;
}
