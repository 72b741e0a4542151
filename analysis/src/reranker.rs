//! The contract between a query, passages and how well each of them answers it.

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
    /// [`RerankError`] when the model fails on one of them; none then has a score.
    fn scores(&self, query: &str, passages: &[Passage<'_>]) -> Result<Vec<f32>, RerankError>;
}

/// Why passages have no scores.
#[derive(Debug, Clone, thiserror::Error)]
pub enum RerankError {
    /// The model's tokenizer refused a text.
    #[error("model {model}: the tokenizer failed: {reason}")]
    Tokenize {
        /// Id of the model.
        model: String,
        /// What the tokenizer said.
        reason: String,
    },
    /// The forward pass failed.
    #[error("model {model}: the forward pass failed: {reason}")]
    Forward {
        /// Id of the model.
        model: String,
        /// What the tensor library said.
        reason: String,
    },
    /// A score is a NaN or an infinity: the weights are damaged.
    #[error("model {model} returned a score that is not finite; its weights are damaged, add the model again")]
    NotFinite {
        /// Id of the model.
        model: String,
    },
}
