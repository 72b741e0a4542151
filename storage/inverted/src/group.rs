//! Groups of chunks, such as all chunks of a file. Each group is scored as if it were one chunk.

use std::ops::Range;

use crate::bm25f::Bm25Config;
use crate::chunk_id::{ChunkId, WINDOW};
use crate::collection::Collection;
use crate::field::FIELDS;
use crate::lengths::length_from_code;
use crate::postings::TfVector;
use crate::search::WeightedPostings;

/// A list is read completely if there are more than this many chunks to look up for each of its live postings.
const MIN_CHUNKS_PER_POSTING: usize = 2;

/// Scores groups of chunks with BM25F.
#[derive(Debug, Clone)]
pub struct GroupScorer {
    config: Bm25Config,
    /// Average length of each field of a group.
    averages: [f32; FIELDS],
}

impl GroupScorer {
    /// Creates a scorer for a collection of `groups` groups. `totals` contains the total number of terms in each field.
    pub fn new(config: &Bm25Config, groups: u64, totals: [u64; FIELDS]) -> Self {
        Self { config: config.clone(), averages: totals.map(|terms| terms as f32 / groups.max(1) as f32) }
    }

    /// Returns the BM25F scores of groups. A field of a group contains the terms of that field in all its chunks.
    /// `chunks` contains the chunks of all groups in ascending order, and `groups` contains the range of each group in
    /// `chunks`. The score of each list is multiplied by the list's factor, as in [`crate::score`].
    ///
    /// # Errors
    /// Fails if the index cannot be read.
    pub fn score<C: Collection>(
        &self,
        lists: &[WeightedPostings<'_>],
        collection: &C,
        chunks: &[ChunkId],
        groups: &[Range<usize>],
    ) -> Result<Vec<f32>, C::Error> {
        let group_of: Vec<usize> =
            groups.iter().enumerate().flat_map(|(group, range)| range.clone().map(move |_| group)).collect();
        let mut lengths = vec![[0u32; FIELDS]; groups.len()];
        let mut at = 0;
        for chunks in chunks.chunk_by(|a, b| a.0 / WINDOW == b.0 / WINDOW) {
            let columns = collection.window_lengths(chunks[0].0 / WINDOW)?;
            for (chunk, &group) in chunks.iter().zip(&group_of[at..]) {
                let of_chunk = columns.at((chunk.0 % WINDOW) as u16);
                lengths[group].iter_mut().zip(of_chunk).for_each(|(sum, code)| *sum += length_from_code(code));
            }
            at += chunks.len();
        }
        let norms: Vec<[f32; FIELDS]> = lengths.iter().map(|lengths| self.norms(lengths)).collect();
        let mut scores = vec![0.0; groups.len()];
        let mut frequencies = vec![[0u32; FIELDS]; groups.len()];
        for list in lists.iter().filter(|list| list.factor > 0.0) {
            frequencies.fill([0; FIELDS]);
            let mut add = |at: usize, of_chunk: TfVector| {
                frequencies[group_of[at]].iter_mut().zip(of_chunk).for_each(|(sum, count)| *sum += u32::from(count));
            };
            if list.postings.doc_frequency() as usize * MIN_CHUNKS_PER_POSTING < chunks.len() {
                list.postings.for_each(|chunk, of_chunk| {
                    if let Ok(at) = chunks.binary_search(&chunk) {
                        add(at, of_chunk);
                    }
                });
            } else {
                list.postings.find_all(chunks, add);
            }
            for ((score, frequencies), norms) in scores.iter_mut().zip(&frequencies).zip(&norms) {
                *score += list.factor * self.saturated(frequencies, norms);
            }
        }
        Ok(scores)
    }

    /// Returns the limit that the score of a group approaches as the frequencies of all terms grow.
    pub fn most(&self, lists: &[WeightedPostings<'_>]) -> f32 {
        lists.iter().map(|list| list.factor).sum::<f32>() * (self.config.k1 + 1.0)
    }

    /// Returns the weight of each field divided by its relative length.
    fn norms(&self, lengths: &[u32; FIELDS]) -> [f32; FIELDS] {
        let b = self.config.b;
        std::array::from_fn(|field| {
            let relative = if self.averages[field] > 0.0 { lengths[field] as f32 / self.averages[field] } else { 0.0 };
            self.config.fields[field] / (1.0 - b + b * relative).max(f32::MIN_POSITIVE)
        })
    }

    fn saturated(&self, frequencies: &[u32; FIELDS], norms: &[f32; FIELDS]) -> f32 {
        let sum: f32 = frequencies.iter().zip(norms).map(|(&count, norm)| count as f32 * norm).sum();
        if sum > 0.0 { sum.min(1e30) * (self.config.k1 + 1.0) / (sum.min(1e30) + self.config.k1) } else { 0.0 }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::bm25f::FieldScorer;
    use crate::field::Field;
    use crate::memory::MemoryIndex;
    use crate::search::score;
    use crate::terms::TermVector;

    const CONFIG: Bm25Config = Bm25Config { k1: 1.5, b: 0.75, fields: [3.0, 2.0, 2.5, 2.0, 1.0, 1.0, 1.0] };

    const KEYS: [&str; 12] = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l"];

    fn chunk(words: &[u8]) -> TermVector {
        let mut builder = TermVector::builder();
        for &word in words {
            builder.add(if word % 3 == 0 { Field::Name } else { Field::Body }, &format!("w{}", word % 5));
        }
        builder.finish()
    }

    fn index<'a>(chunks: impl IntoIterator<Item = &'a Vec<u8>>) -> MemoryIndex {
        MemoryIndex::new(KEYS.into_iter().zip(chunks.into_iter().map(|words| chunk(words))))
            .expect("the index is valid")
    }

    fn lists(index: &MemoryIndex) -> Vec<WeightedPostings<'_>> {
        let list = |term: &str| index.postings(term).expect("the index is valid");
        ["w0", "w1", "w4"].map(|term| WeightedPostings { postings: list(term), factor: 1.25 }).into()
    }

    fn ids(count: usize) -> Vec<ChunkId> {
        (0..count as u32).map(ChunkId).collect()
    }

    proptest! {
        #[test]
        fn a_group_of_one_chunk_scores_like_the_chunk(chunks in prop::collection::vec(prop::collection::vec(any::<u8>(), 1..20), 1..12)) {
            let index = index(&chunks);
            let (lists, ids) = (lists(&index), ids(chunks.len()));
            let groups: Vec<Range<usize>> = (0..ids.len()).map(|at| at..at + 1).collect();
            let scorer = GroupScorer::new(&CONFIG, ids.len() as u64, index.field_totals());
            let fields = FieldScorer::new(&CONFIG, ids.len() as u64, index.field_totals());
            let alone = scorer.score(&lists, &index, &ids, &groups).expect("the index is valid");
            let expected = score(&lists, &fields, &index, &ids).expect("the index is valid");
            for (alone, expected) in alone.iter().zip(&expected) {
                prop_assert!((alone - expected).abs() < 1e-4, "{} {}", alone, expected);
                prop_assert!(*alone <= scorer.most(&lists));
            }
        }

        #[test]
        fn a_group_scores_like_one_chunk_with_all_its_terms(chunks in prop::collection::vec(prop::collection::vec(any::<u8>(), 1..9), 2..6)) {
            let whole = chunks.concat();
            let index = index(chunks.iter().chain([&whole]));
            let scorer = GroupScorer::new(&CONFIG, 2, index.field_totals());
            let groups = [0..chunks.len(), chunks.len()..chunks.len() + 1];
            let scores = scorer.score(&lists(&index), &index, &ids(chunks.len() + 1), &groups).expect("the index is valid");
            prop_assert!((scores[0] - scores[1]).abs() < 1e-4);
        }
    }
}
