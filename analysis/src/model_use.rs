//! The purpose of a model.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The purpose of a model.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ModelUse {
    /// The model produces vectors: it is an [`Embedder`](crate::Embedder).
    #[default]
    Embedding,
    /// The model reads a query together with each result: it is a [`Reranker`](crate::Reranker).
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
