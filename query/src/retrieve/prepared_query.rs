//! The prepared form of a query for one index, and operations on the chunks of the index.

use aurora_analysis::Analyzer;
use aurora_storage::{ChunkId, Snapshot, StorageError, Threads};
use roaring::RoaringBitmap;

use crate::memory::Retention;
use crate::retrieve::bm25::KeywordSearch;
use crate::retrieve::query_vector::QueryVector;

/// Maximum number of chunks that are looked up one by one in a posting list. For more chunks, the whole list is read.
const MAX_LOOKUPS: u64 = 200;

/// An index that a search covers, with the prepared keyword search and vector search of the query.
pub(crate) struct PreparedQuery<'s> {
    /// The name in results; `None` if results do not distinguish indexes.
    pub(crate) name: Option<&'s str>,
    /// The generation that is searched.
    pub(crate) snapshot: &'s Snapshot,
    /// The rules of visibility and ageing, for the index of a memory; `None` for a project.
    pub(crate) memory: Option<&'s dyn Retention>,
    /// The query's terms in this index.
    pub(crate) bm25: KeywordSearch<'s>,
    /// The query's vector, if it is comparable with the vectors of the index.
    pub(crate) vector: QueryVector,
    /// Whether the index stores the tokens of the model that compares words.
    pub(crate) has_tokens: bool,
    /// The live chunks that the search may return; `None` for all.
    pub(crate) filter: Option<RoaringBitmap>,
    /// The threads that the search may use.
    pub(crate) threads: Threads,
}

impl PreparedQuery<'_> {
    /// Runs two functions, in parallel if the search may use several threads.
    pub(crate) fn both<A: Send, B: Send>(&self, a: impl FnOnce() -> A + Send, b: impl FnOnce() -> B + Send) -> (A, B) {
        both(self.threads, a, b)
    }

    /// Removes chunks that are deleted or do not pass the filter.
    pub(crate) fn within(&self, chunks: RoaringBitmap) -> RoaringBitmap {
        chunks & self.filter.as_ref().unwrap_or_else(|| self.snapshot.live())
    }

    /// Returns the live chunks that contain all terms; empty if there are no terms.
    pub(crate) fn with_all(&self, terms: &[String]) -> Result<RoaringBitmap, StorageError> {
        let mut postings =
            terms.iter().map(|term| self.snapshot.postings(term)).collect::<Result<Vec<_>, StorageError>>()?;
        postings.sort_by_key(|postings| postings.doc_frequency());
        let mut postings = postings.into_iter();
        let Some(rarest) = postings.next() else { return Ok(RoaringBitmap::new()) };
        let mut chunks = rarest.docs() & self.snapshot.live();
        for postings in postings {
            if chunks.len() <= MAX_LOOKUPS {
                chunks = chunks.into_iter().filter(|&id| postings.find(ChunkId(id)).is_some()).collect();
            } else {
                chunks &= postings.docs();
            }
        }
        Ok(chunks)
    }

    /// Number of chunks that the search may return.
    pub(crate) fn eligible(&self) -> u64 {
        self.filter.as_ref().map_or_else(|| self.snapshot.live().len(), RoaringBitmap::len)
    }
}

/// Runs two functions, in parallel if the search may use several threads.
pub(super) fn both<A: Send, B: Send>(
    threads: Threads,
    a: impl FnOnce() -> A + Send,
    b: impl FnOnce() -> B + Send,
) -> (A, B) {
    match threads {
        Threads::One => (a(), b()),
        Threads::All => rayon::join(a, b),
    }
}

/// Returns the distinct terms of a text.
pub(super) fn terms_of(text: &str) -> Vec<String> {
    let mut terms = Vec::new();
    Analyzer.terms(text, &mut |term| terms.push(term.to_owned()));
    terms.sort_unstable();
    terms.dedup();
    terms
}
