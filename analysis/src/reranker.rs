//! A trait that scores passages against a query.

use crate::inference_error::InferenceError;
use crate::passage::Passage;

/// Reads a query together with passages, a few at a time, and scores how well each passage answers the query.
///
/// An [`Embedder`](crate::Embedder) reads a passage without knowing the query. A reranker reads both together, which is
/// more accurate and more expensive.
pub trait Reranker: Send + Sync {
    /// `name@digest`. Rerankers with the same id give the same scores.
    fn id(&self) -> &str;

    /// Returns one finite score per passage, in order. Higher is better, and only differences within a query are
    /// meaningful. Apart from the last bits of its float, a score does not depend on the other passages of the call.
    ///
    /// # Errors
    /// [`InferenceError`] if the model fails on one of the passages; then no scores are returned.
    fn scores(&self, query: &str, passages: &[Passage<'_>]) -> Result<Vec<f32>, InferenceError>;
}
