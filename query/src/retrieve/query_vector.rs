//! The query's vector, or the reason why it is unavailable.

use aurora_analysis::QueryEmbedder;
use aurora_storage::{ChunkId, Snapshot, StorageError};

/// The query's vector for one index, comparable with the stored vectors, or the reason why it is unavailable.
pub(crate) type QueryVector = Result<Vec<f32>, String>;

/// Returns the vector of `text` for each index. Vectors of different models are not comparable, so an index whose model
/// differs from the embedder's has no query vector.
pub(crate) fn query_vectors(
    snapshots: &[&Snapshot],
    embedder: Option<&dyn QueryEmbedder>,
    text: &str,
) -> Vec<QueryVector> {
    let mut vectors: Vec<QueryVector> = Vec::with_capacity(snapshots.len());
    for snapshot in snapshots {
        let vector = compatible_embedder(snapshot, embedder).and_then(|embedder| {
            let known = vectors.iter().flatten().next().cloned();
            known.map_or_else(|| embed(embedder, text), Ok)
        });
        vectors.push(vector);
    }
    vectors
}

fn embed(embedder: &dyn QueryEmbedder, text: &str) -> QueryVector {
    let vector = embedder.embed_query(text).map_err(|error| error.to_string())?;
    let has_words = vector.iter().any(|&x| x != 0.0);
    has_words.then_some(vector).ok_or_else(|| "the model knows no word of the query".to_owned())
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

/// Returns the cosine similarity of the query vector and the chunk's vector; `None` if the chunk has no vector. Both
/// are unit vectors, so their dot product is the cosine. It is clamped to −1..1 because of rounding errors.
pub(crate) fn cosine(snapshot: &Snapshot, id: ChunkId, query: &[f32]) -> Result<Option<f32>, StorageError> {
    Ok(snapshot.similarity(id, query)?.map(|product| product.clamp(-1.0, 1.0)))
}
