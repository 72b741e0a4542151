//! The query's vector, or the reason why it is unavailable.

use aurora_analysis::QueryEmbedder;
use aurora_storage::{ChunkId, Snapshot, StorageError};

/// The query's vector for one index.
#[derive(Debug, Clone)]
pub(crate) enum QueryVector {
    /// The vector, comparable with the stored vectors.
    Available(Vec<f32>),
    /// The reason why no vector is available.
    Unavailable(String),
}

impl QueryVector {
    /// Embeds `text` if the index's vectors come from the same model.
    pub(crate) fn embed(snapshot: &Snapshot, embedder: Option<&dyn QueryEmbedder>, text: &str) -> Self {
        match compatible_embedder(snapshot, embedder).map(|embedder| embedder.embed_query(text)) {
            Err(reason) => Self::Unavailable(reason),
            Ok(Ok(vector)) if vector.iter().all(|&x| x == 0.0) => {
                Self::Unavailable("the model knows no word of the query".to_owned())
            }
            Ok(Ok(vector)) => Self::Available(vector),
            Ok(Err(error)) => Self::Unavailable(error.to_string()),
        }
    }

    /// Returns the same vector for another index if the index's vectors come from the same model.
    pub(crate) fn for_index(&self, snapshot: &Snapshot, embedder: Option<&dyn QueryEmbedder>) -> Self {
        match compatible_embedder(snapshot, embedder) {
            Ok(_) => self.clone(),
            Err(reason) => Self::Unavailable(reason),
        }
    }

    /// Returns the reason why no vector is available.
    pub(crate) fn reason(&self) -> Option<&str> {
        match self {
            Self::Available(_) => None,
            Self::Unavailable(reason) => Some(reason),
        }
    }

    /// Returns the vector, if available.
    pub(crate) fn vector(&self) -> Option<&[f32]> {
        match self {
            Self::Available(vector) => Some(vector),
            Self::Unavailable(_) => None,
        }
    }
}

/// Returns the embedder if the vectors of the index come from its model, or the reason why the vectors are not
/// comparable.
fn compatible_embedder<'e>(
    snapshot: &Snapshot,
    embedder: Option<&'e dyn QueryEmbedder>,
) -> Result<&'e dyn QueryEmbedder, String> {
    let Some(model) = &snapshot.manifest().model else { return Err("the index holds no embeddings".to_owned()) };
    match embedder {
        None => Err(format!("the index holds embeddings of {}, but no model is loaded", model.id)),
        Some(embedder) if model.id != embedder.id() || model.dimensions != embedder.dimensions() => Err(format!(
            "the index holds embeddings of {}, but the configured model is {}; index again to embed with it",
            model.id,
            embedder.id()
        )),
        Some(embedder) => Ok(embedder),
    }
}

/// Returns the cosine between the query and the vector of a chunk, which are unit vectors; clamped to −1..1 because of
/// rounding. `None` if the chunk has no vector.
pub(crate) fn cosine(snapshot: &Snapshot, id: ChunkId, query: &[f32]) -> Result<Option<f32>, StorageError> {
    Ok(snapshot.similarity(id, query)?.map(|product| product.clamp(-1.0, 1.0)))
}
