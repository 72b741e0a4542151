//! What a model is for.

use std::fmt;

use serde::{Deserialize, Serialize};

/// What a model is for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ModelUse {
    /// It makes vectors: an [`Embedder`](crate::Embedder).
    #[default]
    Embedding,
    /// It reads a query together with each result: a [`Reranker`](crate::Reranker).
    Reranking,
}

impl fmt::Display for ModelUse {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(match self {
            Self::Embedding => "embedding",
            Self::Reranking => "reranking",
        })
    }
}
