//! Keyword scores: BM25F over the weighted fields of a chunk.
//!
//! A term's frequencies in the fields are normalised by field length, weighted and added *before* they saturate
//! (Robertson, Zaragoza and Taylor, "Simple BM25 extension to multiple weighted fields", 2004), so with one field of
//! weight 1 this is Okapi BM25. Corpus statistics are those of the whole index, whatever the filter.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use aurora_storage::{ChunkId, FIELDS, Postings, Snapshot, StorageError};
use roaring::RoaringBitmap;

use crate::config::Bm25Config;
use crate::query::ParsedQuery;

/// Ids that are scored at a time; as many as one container of a roaring bitmap holds.
const WINDOW: usize = 1 << 16;

/// Inverse document frequency `ln(1 + (N − n + 0.5) / (n + 0.5))` of a term in `n` of `total` chunks; never negative.
///
/// ```
/// use aurora_query::idf;
/// assert!((idf(10, 1) - (1.0f32 + 9.5 / 1.5).ln()).abs() < 1e-6);
/// ```
pub fn idf(total: u64, n: u64) -> f32 {
    (1.0 + (total as f64 - n as f64 + 0.5) / (n as f64 + 0.5)).ln() as f32
}

/// The part of BM25F that depends on a chunk, without the inverse document frequency.
#[derive(Debug, Clone, PartialEq)]
pub struct FieldScorer {
    k1: f32,
    weights: [f32; FIELDS],
    /// `1 − b + b · length / average` as constant and factor of the length.
    constant: f32,
    per_length: [f32; FIELDS],
}

impl FieldScorer {
    /// Prepares for a corpus of `total` chunks whose fields hold `totals` terms in all.
    pub fn new(config: &Bm25Config, total: u64, totals: [u64; FIELDS]) -> Self {
        let per_length = totals
            .map(|terms| if terms == 0 { 0.0 } else { (f64::from(config.b) * total as f64 / terms as f64) as f32 });
        Self { k1: config.k1, weights: config.fields, constant: 1.0 - config.b, per_length }
    }

    /// `f · (k1 + 1) / (f + k1)` with f the weighted sum of the length-normalised frequencies; 0 without occurrences.
    pub fn saturated(&self, frequencies: [u16; FIELDS], lengths: [u16; FIELDS]) -> f32 {
        let mut sum = 0.0f32;
        for field in 0..FIELDS {
            if frequencies[field] > 0 {
                let norm = self.constant + self.per_length[field] * f32::from(lengths[field]);
                sum += self.weights[field] * f32::from(frequencies[field]) / norm.max(f32::MIN_POSITIVE);
            }
        }
        if sum > 0.0 { sum * (self.k1 + 1.0) / (sum + self.k1) } else { 0.0 }
    }
}

/// The score of one chunk, and the terms that it holds.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct TermScore {
    /// Raw BM25F, summed in the order of the query's terms.
    pub(crate) score: f32,
    /// Places of the matched terms in the query.
    pub(crate) matched: Vec<usize>,
}

/// A query's terms with their postings.
pub(crate) struct Bm25<'s> {
    snapshot: &'s Snapshot,
    fields: FieldScorer,
    terms: Vec<Term<'s>>,
}

struct Term<'s> {
    postings: Postings<'s>,
    idf: f32,
    /// Times that the query holds the term, by its weight.
    count: f32,
}

impl<'s> Bm25<'s> {
    /// Looks up the postings of `query`.
    pub(crate) fn new(snapshot: &'s Snapshot, config: &Bm25Config, query: &ParsedQuery) -> Result<Self, StorageError> {
        let total = snapshot.live().len();
        let mut terms: Vec<Term<'s>> = Vec::with_capacity(query.terms.len() + query.extras.len());
        for term in &query.terms {
            let postings = snapshot.postings(&term.text)?;
            let idf = idf(total, u64::from(postings.doc_frequency()));
            terms.push(Term { postings, idf, count: term.weight * term.count as f32 });
        }
        for extra in &query.extras {
            let postings = snapshot.postings(&extra.text)?;
            // Never worth more than the term that it stands for.
            let idf = idf(total, u64::from(postings.doc_frequency())).min(terms[extra.of].idf);
            terms.push(Term { postings, idf, count: extra.weight * query.terms[extra.of].count as f32 });
        }
        Ok(Self { snapshot, fields: FieldScorer::new(config, total, snapshot.field_totals()), terms })
    }

    /// Inverse document frequency of each term; `None` where no chunk holds it.
    pub(crate) fn term_idfs(&self) -> Vec<Option<f32>> {
        self.terms.iter().map(|term| (term.postings.doc_frequency() > 0).then_some(term.idf)).collect()
    }

    /// The `k` best chunks among those that `filter` lets through, best first, equal scores by key.
    pub(crate) fn top(&self, k: usize, filter: Option<&RoaringBitmap>) -> Result<Vec<(ChunkId, f32)>, StorageError> {
        let mut best = Best::new(k);
        let mut lists: Vec<_> = self.terms.iter().map(|term| (term, term.postings.iter().peekable())).collect();
        let mut scores = vec![0.0f32; WINDOW];
        let mut touched: Vec<u16> = Vec::new();
        loop {
            let next = lists.iter_mut().filter_map(|(_, list)| list.peek().map(|(id, _)| id.0)).min();
            let Some(first) = next else { break };
            let window = first as usize / WINDOW;
            for (term, list) in &mut lists {
                while let Some((id, frequencies)) = list.next_if(|(id, _)| id.0 as usize / WINDOW == window) {
                    let score = self.term_score(term, id, frequencies);
                    if score > 0.0 {
                        let at = id.0 as usize % WINDOW;
                        if scores[at] == 0.0 {
                            touched.push(at as u16);
                        }
                        scores[at] += score;
                    }
                }
            }
            for at in touched.drain(..) {
                let score = std::mem::take(&mut scores[usize::from(at)]);
                let id = (window * WINDOW) as u32 + u32::from(at);
                if best.admits(score) && filter.is_none_or(|filter| filter.contains(id)) {
                    best.push(ChunkId(id), score);
                }
            }
        }
        best.finish(self.snapshot)
    }

    /// Scores of given chunks, ascending by id: bit for bit what [`Self::top`] computes.
    pub(crate) fn score(&self, ids: &[ChunkId]) -> Vec<TermScore> {
        debug_assert!(ids.is_sorted(), "cursors only move forward");
        let mut cursors: Vec<_> = self.terms.iter().map(|term| (term, term.postings.cursor())).collect();
        ids.iter()
            .map(|&id| {
                let mut found = TermScore { score: 0.0, matched: Vec::new() };
                for (place, (term, cursor)) in cursors.iter_mut().enumerate() {
                    if cursor.seek(id) == Some(id)
                        && let Some((_, frequencies)) = cursor.current()
                    {
                        found.score += self.term_score(term, id, frequencies);
                        found.matched.push(place);
                    }
                }
                found
            })
            .collect()
    }

    fn term_score(&self, term: &Term<'_>, id: ChunkId, frequencies: [u16; FIELDS]) -> f32 {
        term.count * term.idf * self.fields.saturated(frequencies, self.snapshot.field_lengths(id))
    }
}

/// The best `k` of a stream of scores, all of the last place's equals kept until keys decide between them.
struct Best {
    k: usize,
    /// Bits of the `k` best scores; positive floats are ordered as their bits.
    bar: BinaryHeap<Reverse<u32>>,
    kept: Vec<(ChunkId, f32)>,
}

impl Best {
    fn new(k: usize) -> Self {
        Self { k, bar: BinaryHeap::with_capacity(k + 1), kept: Vec::new() }
    }

    fn admits(&self, score: f32) -> bool {
        self.bar.len() < self.k || self.bar.peek().is_some_and(|&Reverse(bar)| score.to_bits() >= bar)
    }

    fn push(&mut self, id: ChunkId, score: f32) {
        self.kept.push((id, score));
        self.bar.push(Reverse(score.to_bits()));
        if self.bar.len() > self.k {
            self.bar.pop();
        }
    }

    fn finish(self, snapshot: &Snapshot) -> Result<Vec<(ChunkId, f32)>, StorageError> {
        let bar = self.bar.peek().map_or(0, |&Reverse(bar)| bar);
        let mut best = Vec::new();
        for (id, score) in self.kept {
            if score.to_bits() >= bar {
                let key = snapshot.chunk(id)?.map_or("", |chunk| chunk.key.as_str());
                best.push((score, key, id));
            }
        }
        best.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(b.1)));
        best.truncate(self.k);
        Ok(best.into_iter().map(|(score, _, id)| (id, score)).collect())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::config::SearchConfig;

    fn okapi(b: f32) -> Bm25Config {
        Bm25Config { k1: 1.5, b, fields: [0.0, 0.0, 0.0, 0.0, 0.0, 1.0] }
    }

    #[test]
    fn one_field_is_okapi_by_hand() {
        // 4 chunks of 40 body terms in all; a chunk of 20 terms holds the term 3 times
        let scorer = FieldScorer::new(&okapi(0.75), 4, [0, 0, 0, 0, 0, 40]);
        let expected = 3.0 * 2.5 / (3.0 + 1.5 * (0.25 + 0.75 * 2.0));
        assert!((scorer.saturated([0, 0, 0, 0, 0, 3], [0, 0, 0, 0, 0, 20]) - expected).abs() < 1e-6);
        let idf = idf(4, 2);
        assert!((idf - 2.0f32.ln()).abs() < 1e-6);
    }

    #[test]
    fn fields_add_up_before_they_saturate() {
        let config = Bm25Config { k1: 1.5, b: 0.0, fields: [3.0, 0.0, 0.0, 0.0, 0.0, 1.0] };
        let scorer = FieldScorer::new(&config, 1, [1; FIELDS]);
        let expected = 5.0 * 2.5 / (5.0 + 1.5); // 3 · 1 + 1 · 2
        assert!((scorer.saturated([1, 0, 0, 0, 0, 2], [1; FIELDS]) - expected).abs() < 1e-6);
    }

    proptest! {
        #[test]
        fn scores_grow_with_frequency_and_shrink_with_length(tf in 1u16..500, length in 1u16..1000, field in 0usize..FIELDS) {
            let scorer = FieldScorer::new(&SearchConfig::default().bm25, 10, [500; FIELDS]);
            let mut frequencies = [0u16; FIELDS];
            let mut lengths = [10u16; FIELDS];
            (frequencies[field], lengths[field]) = (tf, length);
            let score = scorer.saturated(frequencies, lengths);
            prop_assert!(score > 0.0 && score <= 2.5);
            frequencies[field] += 1;
            let more = scorer.saturated(frequencies, lengths);
            lengths[field] += 50;
            prop_assert!(more >= score);
            prop_assert!(scorer.saturated(frequencies, lengths) <= more);
        }

        #[test]
        fn idf_falls_with_the_document_frequency(total in 1u64..1_000_000, n in 0u64..1_000_000) {
            prop_assume!(n < total);
            prop_assert!(idf(total, n) > idf(total, n + 1) && idf(total, n + 1) > 0.0);
        }
    }
}
