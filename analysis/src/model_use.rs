//! The purpose of a model.

use serde::{Deserialize, Serialize};

/// The purpose of a model.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, strum::Display)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
pub enum ModelUse {
    /// The model produces vectors: it is an [`Embedder`](crate::Embedder).
    #[default]
    Embedding,
    /// The model reads a query together with each result: it is a [`Reranker`](crate::Reranker).
    Reranking,
}
