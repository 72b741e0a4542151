//! The contract between text and vectors.

use crate::inference_error::InferenceError;
use crate::passage::Passage;

/// The name of the model that is part of the program and needs no file.
pub const STATIC: &str = "static";

/// Turns queries into vectors that can be compared with those of an index.
pub trait QueryEmbedder: Send + Sync {
    /// `name@digest`: two embedders of one id give the same vectors, so the id may key caches and manifests.
    fn id(&self) -> &str;

    /// Length of every vector that this embedder returns.
    fn dimensions(&self) -> usize;

    /// The vector of what a user typed; unit length, or all zeros when it holds nothing that the model knows.
    ///
    /// # Errors
    /// [`EmbedError`] when the model fails on this text.
    fn embed_query(&self, text: &str) -> Result<Vec<f32>, EmbedError>;
}

/// Turns passages and queries into vectors of one space, so that the dot product of two of them is their cosine.
pub trait Embedder: QueryEmbedder {
    /// One result per passage, in order; a passage that cannot be embedded does not disturb its neighbours.
    ///
    /// Vectors have unit length, or are all zeros when the passage holds nothing that the model knows. The work is done
    /// on the calling thread: callers run several threads, each with passages of its own. A vector does not depend on
    /// what else is in the call beyond the last bits of its floats.
    fn embed(&self, passages: &[Passage<'_>]) -> Vec<Result<Vec<f32>, EmbedError>> {
        self.embed_unless(passages, &|| false).unwrap_or_default()
    }

    /// As [`Embedder::embed`], but gives the call up, with `None`, soon after `is_stopped` returns true. It is asked at
    /// least every few milliseconds, on the calling thread or one that works for it.
    fn embed_unless(
        &self,
        passages: &[Passage<'_>],
        is_stopped: &(dyn Fn() -> bool + Sync),
    ) -> Option<Vec<Result<Vec<f32>, EmbedError>>>;
}

/// Why one text has no vector.
#[derive(Debug, Clone, thiserror::Error)]
pub enum EmbedError {
    /// The model failed on the text.
    #[error(transparent)]
    Model(#[from] InferenceError),
    /// The stage of the pipeline that embeds could not embed the text.
    #[error("{model}: {reason}")]
    Stage {
        /// Id of the model.
        model: String,
        /// What the stage said.
        reason: String,
    },
}
