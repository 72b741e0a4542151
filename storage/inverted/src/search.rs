//! Finds the best chunks for a weighted sum of terms.

use roaring::RoaringBitmap;

use crate::bm25f::FieldScorer;
use crate::chunk_id::{ChunkId, WINDOW};
use crate::collection::Collection;
use crate::lengths::LengthCodes;
use crate::maxscore::{self, TermList};
use crate::postings::Postings;

/// A posting list with the factor by which its scores are multiplied.
#[derive(Debug)]
pub struct WeightedPostings<'s> {
    /// The postings of a term.
    pub postings: Postings<'s>,
    /// The term's weight in the query times its inverse document frequency. Not negative.
    pub factor: f32,
}

/// Returns the `k` chunks with the highest scores, best first. Chunks with equal scores are ordered by key. With a
/// `filter`, only chunks in the filter are returned; all of them must be live.
///
/// The score of a chunk is the sum over `lists`, in their order, of the list's factor times BM25F. The result is the
/// same, bit for bit, as if every posting were scored: MaxScore finds a superset of the best chunks, and all chunks of
/// the superset are scored again in the order of the lists.
///
/// # Errors
/// Fails if the index cannot be read.
pub fn top_k<C: Collection>(
    lists: &[WeightedPostings<'_>],
    fields: &FieldScorer,
    collection: &C,
    k: usize,
    filter: Option<&RoaringBitmap>,
) -> Result<Vec<(ChunkId, f32)>, C::Error> {
    let relevant = lists.iter().filter(|list| list.factor > 0.0 && list.postings.doc_frequency() > 0);
    let term_lists = relevant.map(|list| TermList::new(&list.postings, list.factor, fields, collection));
    let term_lists: Vec<_> = term_lists.collect::<Result<_, _>>()?;
    // With at most two lists, the order of summation does not affect the score.
    let is_exact = term_lists.len() <= 2;
    let mut best = maxscore::candidates(term_lists, collection, k, filter)?;
    if !is_exact {
        let chunks: Vec<ChunkId> = best.iter().map(|(chunk, _)| *chunk).collect();
        let exact = score(lists, fields, collection, &chunks)?;
        best.iter_mut().zip(exact).for_each(|((_, score), exact)| *score = exact);
    }
    best.sort_unstable_by(|a, b| b.1.total_cmp(&a.1));
    if let Some(last) = best.get(k.wrapping_sub(1)).map(|(_, score)| *score) {
        best.truncate(best.partition_point(|(_, score)| *score >= last));
    }
    sort_equals_by_key(&mut best, collection)?;
    best.truncate(k);
    Ok(best)
}

/// Orders consecutive chunks with equal scores by key.
///
/// # Errors
/// Fails if the index cannot be read.
pub fn sort_equals_by_key<C: Collection>(chunks: &mut [(ChunkId, f32)], collection: &C) -> Result<(), C::Error> {
    for equals in chunks.chunk_by_mut(|a, b| a.1 == b.1).filter(|equals| equals.len() > 1) {
        let keyed = equals.iter().map(|found| Ok((collection.key(found.0)?, *found)));
        let mut keyed = keyed.collect::<Result<Vec<_>, C::Error>>()?;
        keyed.sort_unstable_by(|(a, first), (b, second)| a.cmp(b).then(first.0.cmp(&second.0)));
        equals.iter_mut().zip(keyed).for_each(|(slot, (_, found))| *slot = found);
    }
    Ok(())
}

/// Returns the scores of the given chunks, bit for bit as [`top_k`] computes them. The function is fastest if `chunks`
/// is in ascending order.
///
/// # Errors
/// Fails if the index cannot be read.
pub fn score<C: Collection>(
    lists: &[WeightedPostings<'_>],
    fields: &FieldScorer,
    collection: &C,
    chunks: &[ChunkId],
) -> Result<Vec<f32>, C::Error> {
    let mut lengths: Vec<LengthCodes> = Vec::with_capacity(chunks.len());
    for chunks in chunks.chunk_by(|a, b| a.0 / WINDOW == b.0 / WINDOW) {
        let columns = collection.window_lengths(chunks[0].0 / WINDOW)?;
        lengths.extend(chunks.iter().map(|chunk| columns.at((chunk.0 % WINDOW) as u16)));
    }
    let mut scores = vec![0.0; chunks.len()];
    for list in lists {
        list.postings.find_all(chunks, |at, frequencies| {
            scores[at] += list.factor * fields.saturated(frequencies, lengths[at]);
        });
    }
    Ok(scores)
}
