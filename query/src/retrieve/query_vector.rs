//! The query's vector, and why there may be none.

use aurora_analysis::QueryEmbedder;
use aurora_storage::{ChunkId, Snapshot, StorageError};

/// What a search can say about meaning.
pub(crate) enum QueryVector {
    /// The query's vector, comparable with the stored ones.
    Available(Vec<f32>),
    /// Nothing, and why.
    Unavailable(String),
}

impl QueryVector {
    /// Embeds `text` if the index's vectors come from the same model.
    pub(crate) fn of(snapshot: &Snapshot, embedder: Option<&dyn QueryEmbedder>, text: &str) -> Self {
        let Some(model) = &snapshot.manifest().model else {
            return Self::Unavailable("the index holds no embeddings".to_owned());
        };
        let Some(embedder) = embedder else {
            return Self::Unavailable(format!("the index holds embeddings of {}, but no model is loaded", model.id));
        };
        if model.id != embedder.id() || model.dimensions != embedder.dimensions() {
            return Self::Unavailable(format!(
                "the index holds embeddings of {}, but the configured model is {}; index again to embed with it",
                model.id,
                embedder.id()
            ));
        }
        match embedder.embed_query(text) {
            Ok(vector) if vector.iter().all(|&x| x == 0.0) => {
                Self::Unavailable("the model knows no word of the query".to_owned())
            }
            Ok(vector) => Self::Available(vector),
            Err(e) => Self::Unavailable(e.to_string()),
        }
    }

    /// The vector, if there is one.
    pub(crate) fn vector(&self) -> Option<&[f32]> {
        match self {
            Self::Available(vector) => Some(vector),
            Self::Unavailable(_) => None,
        }
    }
}

/// Cosine of the query with the vector of a chunk, both of unit length: within −1..1 in spite of rounding. `None` without
/// a vector.
pub(crate) fn cosine(snapshot: &Snapshot, id: ChunkId, query: &[f32]) -> Result<Option<f32>, StorageError> {
    Ok(snapshot.similarity(id, query)?.map(|product| product.clamp(-1.0, 1.0)))
}
