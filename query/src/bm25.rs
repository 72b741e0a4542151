//! Keyword scores: BM25F over the weighted fields of a chunk.
//!
//! A term's frequencies in the fields are normalised by field length, weighted and added *before* they saturate
//! (Robertson, Zaragoza and Taylor, "Simple BM25 extension to multiple weighted fields", 2004), so with one field of
//! weight 1 this is Okapi BM25. Corpus statistics are those of the whole index, whatever the filter.

use std::sync::OnceLock;

use aurora_storage::{
    ChunkId, FIELDS, Field, ImpactBound, LengthCodes, Postings, Snapshot, StorageError, TfVector, WINDOW,
    frequency_bound, is_body_only, length_of,
};
use roaring::RoaringBitmap;

use crate::config::Bm25Config;
use crate::expansion::ExtraTerm;
use crate::maxscore::{self, TermList};
use crate::query::ParsedQuery;

/// Inverse document frequency `ln(1 + (N − n + 0.5) / (n + 0.5))` of a term in `n` of `total` chunks; never negative.
///
/// ```
/// use aurora_query::idf;
/// assert!((idf(10, 1) - (1.0f32 + 9.5 / 1.5).ln()).abs() < 1e-6);
/// ```
pub fn idf(total: u64, n: u64) -> f32 {
    (1.0 + (total as f64 - n as f64 + 0.5) / (n as f64 + 0.5)).ln() as f32
}

/// A sum of frequencies that is as good as infinite, and can still be calculated with.
const MAX_SUM: f32 = 1e30;

/// The part of BM25F that depends on a chunk, without the inverse document frequency.
#[derive(Debug, Clone)]
pub struct FieldScorer {
    k1: f32,
    /// For each field and length the weight over `1 − b + b · length / average`.
    norms: Box<[[f32; LENGTHS]; FIELDS]>,
    /// For each low frequency in the body alone what it gets by the length of that, once it was asked for.
    body_scores: [OnceLock<Box<[f32; LENGTHS]>>; BODY_SCORES],
}

/// Different lengths.
pub(crate) const LENGTHS: usize = 1 << 8;
/// Frequencies in the body that are looked up.
const BODY_SCORES: usize = 16;
const BODY: usize = Field::Body.index();

/// The numbers of terms that the bytes stand for.
static LENGTH_OF: [f32; LENGTHS] = {
    let mut lengths = [0.0; LENGTHS];
    let mut code = 0;
    while code < LENGTHS {
        lengths[code] = length_of(code as u8) as f32;
        code += 1;
    }
    lengths
};

/// The highest frequencies that the bytes of an impact stand for.
static FREQUENCY_BOUNDS: [f32; 1 << 8] = {
    let mut most = [0.0; 1 << 8];
    let mut code = 0;
    while code < most.len() {
        most[code] = frequency_bound(code as u8) as f32;
        code += 1;
    }
    most
};

impl FieldScorer {
    /// Prepares for a corpus of `total` chunks whose fields hold `totals` terms in all.
    pub fn new(config: &Bm25Config, total: u64, totals: [u64; FIELDS]) -> Self {
        let mut norms = Box::new([[0.0; LENGTHS]; FIELDS]);
        let fields = norms.iter_mut().zip(totals).zip(config.fields);
        for ((norms, terms), weight) in fields.filter(|(_, weight)| *weight > 0.0) {
            let per_length = if terms == 0 { 0.0 } else { f64::from(config.b) * total as f64 / terms as f64 } as f32;
            for (norm, length) in norms.iter_mut().zip(&LENGTH_OF) {
                let relative = 1.0 - config.b + per_length * length;
                let relative = if relative > f32::MIN_POSITIVE { relative } else { f32::MIN_POSITIVE };
                // Never infinite: a frequency may be 0.
                *norm = (weight / relative).min(MAX_SUM);
            }
        }
        Self { k1: config.k1, norms, body_scores: [const { OnceLock::new() }; BODY_SCORES] }
    }

    /// `f · (k1 + 1) / (f + k1)` with f the weighted sum of the length-normalised frequencies; 0 without occurrences.
    ///
    /// Grows with every frequency and falls with every length, to within the rounding of its few operations.
    #[inline]
    pub fn saturated(&self, frequencies: TfVector, lengths: LengthCodes) -> f32 {
        match is_body_only(&frequencies) {
            true => self.saturate(self.weighted(BODY, f32::from(frequencies[BODY]), lengths[BODY])),
            false => self.saturated_of(&frequencies.map(f32::from), lengths),
        }
    }

    /// The same of frequencies as fractions.
    #[inline]
    pub(crate) fn saturated_of(&self, frequencies: &[f32; FIELDS], lengths: LengthCodes) -> f32 {
        let mut sum = 0.0;
        // All fields, the absent ones too: they add 0, and there is no branch to guess wrong.
        for field in 0..FIELDS {
            sum += self.weighted(field, frequencies[field], lengths[field]);
        }
        self.saturate(sum)
    }

    /// What a low frequency in the body alone gets, by the length of that.
    pub(crate) fn body_scores(&self, frequency: u16) -> Option<&[f32; LENGTHS]> {
        let body_scores = self.body_scores.get(usize::from(frequency))?;
        Some(body_scores.get_or_init(|| {
            let mut body_scores = Box::new([0.0; LENGTHS]);
            for (score, norm) in body_scores.iter_mut().zip(&self.norms[BODY]) {
                *score = self.saturate(f32::from(frequency) * norm);
            }
            body_scores
        }))
    }

    /// At least what any posting of an impact has.
    #[inline]
    pub(crate) fn upper_bound(&self, impact: &ImpactBound<'_>) -> f32 {
        let most =
            |field: usize, [code, length]: [u8; 2]| self.weighted(field, FREQUENCY_BOUNDS[usize::from(code)], length);
        let mut sum = 0.0;
        if let Some(other_fields) = impact.other_fields {
            for (field, impact) in other_fields.iter().enumerate() {
                sum += most(field, *impact);
            }
        }
        let mut body = 0.0;
        for &step in impact.body {
            let step = most(BODY, step);
            body = if step > body { step } else { body };
        }
        self.saturate(sum + body)
    }

    /// At least what a posting of an impact has if its frequencies are these; nothing special if it can have none such.
    #[inline]
    pub(crate) fn upper_bound_of(&self, frequencies: &[f32; FIELDS], impact: &ImpactBound<'_>) -> f32 {
        let mut sum = 0.0;
        if let Some(other_fields) = impact.other_fields {
            for (field, [_, length]) in other_fields.iter().enumerate() {
                sum += self.weighted(field, frequencies[field], *length);
            }
        }
        let step = impact.body.iter().rfind(|[code, _]| frequencies[BODY] <= FREQUENCY_BOUNDS[usize::from(*code)]);
        self.saturate(sum + step.map_or(0.0, |[_, length]| self.weighted(BODY, frequencies[BODY], *length)))
    }

    /// The weights over relative lengths of the shortest fields of an impact.
    #[inline]
    pub(crate) fn length_norms(&self, impact: &ImpactBound<'_>) -> [f32; FIELDS] {
        let norm = |field: usize, length: u8| self.norms[field][usize::from(length)];
        std::array::from_fn(|field| match field {
            BODY => impact.body.last().map_or(0.0, |[_, length]| norm(BODY, *length)),
            field => impact.other_fields.map_or(0.0, |other_fields| norm(field, other_fields[field][1])),
        })
    }

    /// No lower sum saturates to so much, whatever is lost to rounding.
    pub(crate) fn min_sum_for(&self, saturated: f32) -> f32 {
        // Less by more than what the few operations err by; where nearly all of it cancels out, too.
        let (most, saturated) = (self.k1 + 1.0, saturated * (1.0 - 1e-5));
        if saturated < most { saturated * self.k1 / (most - saturated) } else { f32::MAX }
    }

    /// What a field adds to the sum that saturates.
    #[inline]
    pub(crate) fn weighted(&self, field: usize, frequency: f32, length: u8) -> f32 {
        frequency * self.norms[field][usize::from(length)]
    }

    /// The saturated form of a sum.
    #[inline]
    pub(crate) fn saturate(&self, sum: f32) -> f32 {
        let f = if sum < MAX_SUM { sum } else { MAX_SUM };
        let below = f + self.k1;
        // Without a branch, so that it is done to several at once; it is 0 only where `f` is.
        f * (self.k1 + 1.0) / if below > f32::MIN_POSITIVE { below } else { f32::MIN_POSITIVE }
    }
}

/// A term to look for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct WeightedTerm<'t> {
    /// The term as the analyzer gives it.
    pub text: &'t str,
    /// What its inverse document frequency is multiplied with: how often the query holds it, times what else it is
    /// worth. Not negative.
    pub weight: f32,
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
    /// Weight × inverse document frequency.
    factor: f32,
}

/// The `k` best chunks for a sum of terms, best first, equal scores by key: BM25F, summed in the order of `terms`. Only
/// chunks in `filter`, if there is one; statistics are those of the whole index.
///
/// # Errors
/// [`StorageError`] when the index cannot be read.
pub fn best_chunks(
    snapshot: &Snapshot,
    config: &Bm25Config,
    terms: &[WeightedTerm<'_>],
    k: usize,
    filter: Option<&RoaringBitmap>,
) -> Result<Vec<(ChunkId, f32)>, StorageError> {
    let filter = filter.map(|filter| filter & snapshot.live());
    Bm25::of(snapshot, config, terms.iter().copied())?.top(k, filter.as_ref())
}

impl<'s> Bm25<'s> {
    /// Looks up the postings of `query`.
    pub(crate) fn new(snapshot: &'s Snapshot, config: &Bm25Config, query: &ParsedQuery) -> Result<Self, StorageError> {
        let own = query.terms.iter().map(|term| (term.text.as_str(), term.weight * term.count as f32));
        let of = |extra: &ExtraTerm| query.terms[extra.of].count as f32;
        let extras = query.extras.iter().map(|extra| (extra.text.as_str(), extra.weight * of(extra)));
        let terms = own.chain(extras).map(|(text, weight)| WeightedTerm { text, weight });
        let mut bm25 = Self::of(snapshot, config, terms)?;
        for (at, extra) in query.extras.iter().enumerate() {
            // Never worth more than the term that it stands for.
            let most = bm25.terms[extra.of].idf;
            let term = &mut bm25.terms[query.terms.len() + at];
            if term.idf > most {
                term.factor *= most / term.idf;
                term.idf = most;
            }
        }
        Ok(bm25)
    }

    /// Looks up the postings of `terms`.
    pub(crate) fn of<'t>(
        snapshot: &'s Snapshot,
        config: &Bm25Config,
        terms: impl Iterator<Item = WeightedTerm<'t>>,
    ) -> Result<Self, StorageError> {
        let total = snapshot.live().len();
        let terms = terms.map(|term| {
            let postings = snapshot.postings(term.text)?;
            let idf = idf(total, u64::from(postings.doc_frequency()));
            Ok(Term { postings, idf, factor: term.weight * idf })
        });
        let terms = terms.collect::<Result<_, StorageError>>()?;
        let fields = FieldScorer::new(config, total, snapshot.field_totals());
        Ok(Self { snapshot, fields, terms })
    }

    /// Inverse document frequency of each term; `None` where no chunk holds it.
    pub(crate) fn term_idfs(&self) -> Vec<Option<f32>> {
        self.terms.iter().map(|term| (term.postings.doc_frequency() > 0).then_some(term.idf)).collect()
    }

    /// The `k` best chunks among those that `filter` lets through, best first, equal scores by key. All in `filter` live.
    pub(crate) fn top(&self, k: usize, filter: Option<&RoaringBitmap>) -> Result<Vec<(ChunkId, f32)>, StorageError> {
        let terms = self.terms.iter().filter(|term| term.factor > 0.0 && term.postings.doc_frequency() > 0);
        let lists = terms.map(|term| TermList::new(&term.postings, term.factor, &self.fields, self.snapshot));
        let lists: Vec<_> = lists.collect::<Result<_, _>>()?;
        // The sum of two is the same in any order.
        let is_exact = lists.len() <= 2;
        let mut best = maxscore::candidates(lists, self.snapshot, k, filter)?;
        if !is_exact {
            let ids: Vec<ChunkId> = best.iter().map(|(id, _)| *id).collect();
            best.iter_mut().zip(self.score(&ids)?).for_each(|((_, score), exact)| *score = exact);
        }
        best.sort_unstable_by(|a, b| b.1.total_cmp(&a.1));
        if let Some(last) = best.get(k.wrapping_sub(1)).map(|(_, score)| *score) {
            best.truncate(best.partition_point(|(_, score)| *score >= last));
        }
        let key = |id: ChunkId| Ok(self.snapshot.chunk(id)?.map_or("", |chunk| chunk.key.as_str()));
        for equals in best.chunk_by_mut(|a, b| a.1 == b.1).filter(|equals| equals.len() > 1) {
            let keyed = equals.iter().map(|(id, _)| Ok((key(*id)?, *id)));
            let mut keyed = keyed.collect::<Result<Vec<_>, StorageError>>()?;
            keyed.sort_unstable();
            equals.iter_mut().zip(keyed).for_each(|((place, _), (_, id))| *place = id);
        }
        best.truncate(k);
        Ok(best)
    }

    /// Scores of given live chunks: bit for bit what [`Self::top`] computes. Quickest for chunks that ascend.
    pub(crate) fn score(&self, ids: &[ChunkId]) -> Result<Vec<f32>, StorageError> {
        let mut lengths: Vec<LengthCodes> = Vec::with_capacity(ids.len());
        for ids in ids.chunk_by(|a, b| a.0 / WINDOW == b.0 / WINDOW) {
            let columns = self.snapshot.window_lengths(ids[0].0 / WINDOW)?;
            lengths.extend(ids.iter().map(|id| columns.at((id.0 % WINDOW) as u16)));
        }
        let mut scores = vec![0.0; ids.len()];
        for term in &self.terms {
            term.postings.find_all(ids, |at, frequencies| {
                scores[at] += term.factor * self.fields.saturated(frequencies, lengths[at]);
            });
        }
        Ok(scores)
    }

    /// Places in the query of the terms that a chunk holds.
    pub(crate) fn matched(&self, id: ChunkId) -> Vec<usize> {
        let held = self.terms.iter().enumerate().filter(|(_, term)| term.postings.find(id).is_some());
        held.map(|(place, _)| place).collect()
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
        fn scores_grow_with_frequency_and_shrink_with_length(tf in 1u16..500, length in 1u8..200, field in 0usize..FIELDS) {
            let scorer = FieldScorer::new(&SearchConfig::default().bm25, 10, [500; FIELDS]);
            let mut frequencies = [0u16; FIELDS];
            let mut lengths = [10u8; FIELDS];
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
        fn no_sum_below_the_needed_one_saturates_to_so_much(
            k1 in prop_oneof![Just(0.0f32), 0.0001f32..3.0], exponent in -10f32..30.0, share in 0.5f32..1.0,
        ) {
            let config = Bm25Config { k1, ..SearchConfig::default().bm25 };
            let scorer = FieldScorer::new(&config, 10, [500; FIELDS]);
            let sum = 2f32.powf(exponent);
            prop_assert!(scorer.min_sum_for(scorer.saturate(sum)) <= sum);
            prop_assert!(scorer.min_sum_for(scorer.saturate(sum) * share) <= sum);
        }

        #[test]
        fn idf_falls_with_the_document_frequency(
            (total, n) in (1u64..1_000_000).prop_flat_map(|total| (Just(total), 0..total)),
        ) {
            prop_assert!(idf(total, n) > idf(total, n + 1) && idf(total, n + 1) > 0.0);
        }
    }
}
