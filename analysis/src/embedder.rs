//! Traits that turn text into vectors.

use crate::inference_error::InferenceError;
use crate::passage::Passage;

/// Name of the built-in model, which needs no file.
pub const STATIC: &str = "static";

/// Turns queries into vectors that can be compared with the vectors of an index.
pub trait QueryEmbedder: Send + Sync {
    /// Id of the model, in the form `name@digest`. Embedders with the same id compute the same vectors, so the id can
    /// be part of cache keys and manifests.
    fn id(&self) -> &str;

    /// Length of every vector that this embedder returns.
    fn dimensions(&self) -> usize;

    /// Returns the vector of a query. The vector has unit length, or is all zeros if the vocabulary of the model
    /// contains no word of the query.
    ///
    /// # Errors
    /// Returns [`EmbedError`] if the model fails on this text.
    fn embed_query(&self, text: &str) -> Result<Vec<f32>, EmbedError>;
}

/// Turns passages and queries into vectors of the same space. The dot product of two vectors is their cosine.
pub trait Embedder: QueryEmbedder {
    /// Returns one result per passage, in order. A passage that cannot be embedded does not affect the other passages.
    ///
    /// Vectors have unit length, or are all zeros if the vocabulary of the model contains no word of the passage. The
    /// work is done on the calling thread; to use several cores, call this method from several threads. Apart from the
    /// last bits of its floats, a vector does not depend on the other passages of the call.
    fn embed(&self, passages: &[Passage<'_>]) -> Vec<Result<Vec<f32>, EmbedError>> {
        self.embed_unless(passages, &|| false).unwrap_or_default()
    }

    /// Like [`Embedder::embed`], but returns `None` soon after `is_stopped` returns true. `is_stopped` is called at
    /// least every few milliseconds, on the calling thread or on a worker thread.
    fn embed_unless(
        &self,
        passages: &[Passage<'_>],
        is_stopped: &(dyn Fn() -> bool + Sync),
    ) -> Option<Vec<Result<Vec<f32>, EmbedError>>>;
}

/// The reason why a text has no vector.
#[derive(Debug, Clone, thiserror::Error)]
pub enum EmbedError {
    /// The model failed on the text.
    #[error(transparent)]
    Model(#[from] InferenceError),
    /// The pipeline stage that computes embeddings failed on the text.
    #[error("{model}: {reason}")]
    Stage {
        /// Id of the model.
        model: String,
        /// The message of the stage.
        reason: String,
    },
}
