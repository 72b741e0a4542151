//! One of the indexes that a search covers, with what the query looks up in it.

use aurora_analysis::QueryEmbedder;
use aurora_storage::{Snapshot, Threads};
use roaring::RoaringBitmap;

use crate::memory::Retention;
use crate::retrieve::bm25::KeywordSearch;
use crate::retrieve::query_vector::QueryVector;

/// One of the indexes that a search covers, with what the query looks up in it.
pub(crate) struct SearchedRoot<'s> {
    /// How results name it; `None` where nothing has to be told apart.
    pub(crate) name: Option<&'s str>,
    /// The generation that is searched.
    pub(crate) snapshot: &'s Snapshot,
    /// What holds of an index of memories.
    pub(crate) memory: Option<&'s dyn Retention>,
    /// The query's terms in it.
    pub(crate) bm25: KeywordSearch<'s>,
    /// The query's vector, if it can be compared with those of the index.
    pub(crate) vector: QueryVector,
    /// Whether the index holds the tokens of the model that compares words.
    pub(crate) has_tokens: bool,
    /// The live chunks that may be found; `None` for all.
    pub(crate) filter: Option<RoaringBitmap>,
    /// How many threads the search may use.
    pub(crate) threads: Threads,
}

impl SearchedRoot<'_> {
    /// The results of two functions, which run at the same time if the search may use several threads.
    pub(crate) fn both<A: Send, B: Send>(&self, a: impl FnOnce() -> A + Send, b: impl FnOnce() -> B + Send) -> (A, B) {
        match self.threads {
            Threads::One => (a(), b()),
            Threads::All => rayon::join(a, b),
        }
    }

    /// Number of chunks that may be found.
    pub(crate) fn eligible(&self) -> u64 {
        self.filter.as_ref().map_or_else(|| self.snapshot.live().len(), RoaringBitmap::len)
    }
}

/// The vector of `text` for each index. Vectors of different models cannot be compared: an index with those of another model
/// than the embedder's does without.
pub(crate) fn query_vectors(
    snapshots: &[&Snapshot],
    embedder: Option<&dyn QueryEmbedder>,
    text: &str,
) -> Vec<QueryVector> {
    let mut vectors: Vec<QueryVector> = Vec::with_capacity(snapshots.len());
    for snapshot in snapshots {
        let known = vectors.iter().find(|vector| vector.vector().is_some());
        let vector = match known {
            Some(known) => known.for_index(snapshot, embedder),
            None => QueryVector::of(snapshot, embedder, text),
        };
        vectors.push(vector);
    }
    vectors
}
