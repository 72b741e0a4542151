//! Finds the best chunks for a weighted sum of terms.

use std::borrow::Cow;

use roaring::RoaringBitmap;

use crate::bm25f::FieldScorer;
use crate::chunk_id::{ChunkId, WINDOW};
use crate::collection::Collection;
use crate::lengths::LengthCodes;
use crate::maxscore::{self, MaxScoreIndex, TermList};
use crate::postings::Postings;

/// A posting list with the factor by which its scores are multiplied.
#[derive(Debug)]
pub struct WeightedPostings<'s> {
    /// The postings of a term.
    pub postings: Postings<'s>,
    /// The term's weight in the query times its inverse document frequency. Not negative.
    pub factor: f32,
}

/// One index of a search over several indexes.
#[derive(Debug)]
pub struct SearchedIndex<'a, 's, C> {
    /// The posting lists of the terms of the query in this index. All indexes have the same terms in the same order.
    pub lists: &'a [WeightedPostings<'s>],
    /// The other data of the index.
    pub collection: &'a C,
    /// If set, only these chunks are returned; all of them must be live.
    pub filter: Option<&'a RoaringBitmap>,
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
    let mut best = top_k_of_all(&[SearchedIndex { lists, collection, filter }], fields, k)?;
    Ok(best.pop().unwrap_or_default())
}

/// Like [`top_k`], but for several indexes. Finds the `k` best chunks of all indexes, and returns them by index. Chunks
/// with equal scores are ordered by key and index. Chunks of one index raise the threshold for the chunks of all other
/// indexes.
///
/// # Errors
/// Fails if an index cannot be read.
pub fn top_k_of_all<C: Collection>(
    indexes: &[SearchedIndex<'_, '_, C>],
    fields: &FieldScorer,
    k: usize,
) -> Result<Vec<Vec<(ChunkId, f32)>>, C::Error> {
    let mut frequencies = vec![0u64; indexes.first().map_or(0, |index| index.lists.len())];
    for index in indexes {
        let found = index.lists.iter().map(|list| u64::from(list.postings.doc_frequency()));
        frequencies.iter_mut().zip(found).for_each(|(sum, count)| *sum += count);
    }
    let mut searched = Vec::with_capacity(indexes.len());
    for index in indexes {
        let SearchedIndex { collection, filter, .. } = *index;
        let is_relevant = |list: &WeightedPostings<'_>| {
            list.factor > 0.0 && list.postings.doc_frequency() > 0 && !filter.is_some_and(RoaringBitmap::is_empty)
        };
        let of_terms = index.lists.iter().zip(&frequencies).enumerate().filter(|(_, (list, _))| is_relevant(list));
        let lists = of_terms
            .map(|(term, (list, &sum))| TermList::new((&list.postings, list.factor), (term, sum), fields, collection));
        searched.push(MaxScoreIndex { lists: lists.collect::<Result<_, _>>()?, collection, filter });
    }
    let mut best = maxscore::candidates(&mut searched, k)?;
    for ((index, best), searched) in indexes.iter().zip(&mut best).zip(searched) {
        // With at most two lists, the order of summation does not affect the score.
        if searched.lists.len() > 2 {
            let chunks: Vec<ChunkId> = best.iter().map(|(chunk, _)| *chunk).collect();
            let exact = score(index.lists, fields, index.collection, &chunks)?;
            best.iter_mut().zip(exact).for_each(|((_, score), exact)| *score = exact);
        }
        best.sort_unstable_by(|a, b| b.1.total_cmp(&a.1));
    }
    keep_best(&mut best, k, |index, chunk| indexes[index].collection.key(chunk))?;
    Ok(best)
}

/// Keeps the `k` best chunks of several lists, each ordered by descending score. Chunks with equal scores are ordered
/// by key and list. `key` returns the key of a chunk of a list.
///
/// # Errors
/// Returns the errors of `key`.
pub fn keep_best<'c, E>(
    lists: &mut [Vec<(ChunkId, f32)>],
    k: usize,
    key: impl Fn(usize, ChunkId) -> Result<Cow<'c, str>, E>,
) -> Result<(), E> {
    let mut scores: Vec<f32> = lists.iter().flatten().map(|(_, score)| *score).collect();
    // The score of the k-th best chunk.
    let last = match k.checked_sub(1) {
        None => f32::INFINITY,
        Some(last) if last < scores.len() => *scores.select_nth_unstable_by(last, |a, b| b.total_cmp(a)).1,
        Some(_) => f32::NEG_INFINITY,
    };
    let mut equal = Vec::new();
    for (at, list) in lists.iter_mut().enumerate() {
        let better = list.partition_point(|(_, score)| *score > last);
        let end = list.partition_point(|(_, score)| *score >= last);
        for &(chunk, _) in &list[better..end] {
            equal.push((key(at, chunk)?, at, chunk));
        }
        list.truncate(better);
        for equals in list.chunk_by_mut(|a, b| a.1 == b.1).filter(|equals| equals.len() > 1) {
            let keyed = equals.iter().map(|found| Ok((key(at, found.0)?, *found)));
            let mut keyed = keyed.collect::<Result<Vec<_>, E>>()?;
            keyed.sort_unstable_by(|(a, first), (b, second)| a.cmp(b).then(first.0.cmp(&second.0)));
            equals.iter_mut().zip(keyed).for_each(|(slot, (_, found))| *slot = found);
        }
    }
    equal.sort_unstable();
    let left = k.saturating_sub(lists.iter().map(Vec::len).sum());
    equal.into_iter().take(left).for_each(|(_, at, chunk)| lists[at].push((chunk, last)));
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::bm25f::{Bm25Config, idf};
    use crate::field::{FIELDS, Field};
    use crate::memory::MemoryIndex;
    use crate::terms::TermVector;

    const CONFIG: Bm25Config = Bm25Config { k1: 1.5, b: 0.75, fields: [3.0, 2.0, 2.5, 2.0, 1.0, 1.0, 1.0] };

    /// Returns the keys and scores of the best chunks of several indexes as one list, best first.
    fn best(parts: &[&[(String, Vec<u8>)]], total: u64, totals: [u64; FIELDS], k: usize) -> Vec<(String, f32)> {
        let index = |chunks: &&[(String, Vec<u8>)]| {
            let vector = |words: &[u8]| {
                words.iter().fold(TermVector::builder(), |mut builder, word| {
                    builder.add(if word % 3 == 0 { Field::Name } else { Field::Body }, &format!("w{}", word % 7));
                    builder
                })
            };
            let chunks = chunks.iter().map(|(key, words)| (key.as_str(), vector(words).finish()));
            MemoryIndex::new(chunks).expect("the index is valid")
        };
        let indexes: Vec<MemoryIndex> = parts.iter().map(index).collect();
        let terms = ["w0", "w1", "w4", "w5"];
        let of = |index: &'_ MemoryIndex, term: &str| index.postings(term).expect("the index is valid").doc_frequency();
        let factor = |term: &str| idf(total, indexes.iter().map(|index| u64::from(of(index, term))).sum());
        let lists: Vec<Vec<WeightedPostings<'_>>> = indexes
            .iter()
            .map(|index| {
                let list = |term| WeightedPostings {
                    postings: index.postings(term).expect("the index is valid"),
                    factor: factor(term),
                };
                terms.into_iter().map(list).collect()
            })
            .collect();
        let searched: Vec<_> = indexes
            .iter()
            .zip(&lists)
            .map(|(collection, lists)| SearchedIndex { lists, collection, filter: None })
            .collect();
        let fields = FieldScorer::new(&CONFIG, total, totals);
        let found = top_k_of_all(&searched, &fields, k).expect("the index is valid");
        let keyed = parts.iter().zip(found).flat_map(|(chunks, found)| {
            found.into_iter().map(|(chunk, score)| (chunks[chunk.0 as usize].0.clone(), score)).collect::<Vec<_>>()
        });
        let mut keyed: Vec<(String, f32)> = keyed.collect();
        keyed.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        keyed
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]

        #[test]
        fn several_indexes_give_the_results_of_one(
            words in prop::collection::vec(prop::collection::vec(any::<u8>(), 1..12), 2..200),
            copies in 1usize..40,
            at in any::<prop::sample::Index>(),
            k in 0usize..40,
        ) {
            let count = words.len() * copies;
            let number = |(at, words): (usize, &Vec<u8>)| (format!("{:06}", at), words.clone());
            let chunks: Vec<(String, Vec<u8>)> = words.iter().cycle().take(count).enumerate().map(number).collect();
            let mut totals = [0; FIELDS];
            for word in chunks.iter().flat_map(|(_, words)| words) {
                totals[if word % 3 == 0 { Field::Name } else { Field::Body }.index()] += 1;
            }
            // The index in memory cannot be empty.
            let (first, second) = chunks.split_at(1 + at.index(count - 1));
            let one = best(&[&chunks], count as u64, totals, k);
            prop_assert_eq!(&best(&[first, second], count as u64, totals, k), &one);
            prop_assert!(one.len() <= k);
        }
    }
}
