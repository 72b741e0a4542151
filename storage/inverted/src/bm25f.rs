//! BM25F: scores of a term in the weighted fields of a chunk.
//!
//! The frequencies of a term are normalised by field length, weighted and added before saturation (Robertson, Zaragoza
//! and Taylor, "Simple BM25 extension to multiple weighted fields", 2004). With one field of weight 1 this is Okapi
//! BM25. Statistics cover the whole index, even if a search has a filter.

use std::sync::OnceLock;

use serde::Serialize;

use crate::field::{FIELDS, Field};
use crate::lengths::{LengthCodes, length_from_code};
use crate::postings::{ImpactBound, TfVector, frequency_bound, is_body_only};

/// Parameters of BM25F (Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond", 2009). Every
/// search may use different parameters, because the index does not depend on them.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Bm25Config {
    /// Saturation of the term frequency; 0 ignores frequencies.
    pub k1: f32,
    /// Length normalisation of every field, from 0 (none) to 1 (full).
    pub b: f32,
    /// Weight of each field, in the order of [`Field`].
    pub fields: [f32; FIELDS],
}

/// Returns the inverse document frequency `ln(1 + (N − n + 0.5) / (n + 0.5))` of a term in `n` of `total` chunks; never
/// negative.
///
/// ```
/// use aurora_inverted::idf;
/// assert!((idf(10, 1) - (1.0f32 + 9.5 / 1.5).ln()).abs() < 1e-6);
/// ```
pub fn idf(total: u64, n: u64) -> f32 {
    (1.0 + (total as f64 - n as f64 + 0.5) / (n as f64 + 0.5)).ln() as f32
}

/// Upper limit of the weighted sum of frequencies. It is used in place of infinity, whose product with 0 would be NaN.
const MAX_SUM: f32 = 1e30;

/// Scores postings: BM25F without the inverse document frequency.
#[derive(Debug, Clone)]
pub struct FieldScorer {
    k1: f32,
    /// For each field and length code: weight / (1 − b + b · length / average length).
    norms: Box<[[f32; LENGTHS]; FIELDS]>,
    /// Whether the field of custom columns contributes to scores. Most indexes have no custom columns, and their
    /// searches skip this field.
    has_custom: bool,
    /// Scores of postings with occurrences in the body only: for each low frequency, a table of scores by length code.
    /// Each table is computed at its first use.
    body_scores: [OnceLock<Box<[f32; LENGTHS]>>; BODY_SCORE_TABLES],
}

/// Number of length codes.
pub(crate) const LENGTHS: usize = 1 << 8;
/// Number of tables in `FieldScorer::body_scores`. Frequencies of at least this number have no table.
const BODY_SCORE_TABLES: usize = 16;
const BODY: usize = Field::Body.index();
const CUSTOM: usize = Field::Custom.index();
/// Summation relies on this order: the custom field, which may be skipped, is the last field before the body.
const _: () = assert!(CUSTOM + 1 == BODY && BODY + 1 == FIELDS);

/// Frequency bound of each byte of an [`ImpactBound`].
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
    /// Creates a scorer for a collection of `total` chunks, given the total number of terms in each field.
    pub fn new(config: &Bm25Config, total: u64, totals: [u64; FIELDS]) -> Self {
        let mut norms = Box::new([[0.0; LENGTHS]; FIELDS]);
        let fields = norms.iter_mut().zip(totals).zip(config.fields);
        for ((norms, terms), weight) in fields.filter(|(_, weight)| *weight > 0.0) {
            let per_length = if terms == 0 { 0.0 } else { f64::from(config.b) * total as f64 / terms as f64 } as f32;
            for (norm, code) in norms.iter_mut().zip(0..=u8::MAX) {
                let relative = 1.0 - config.b + per_length * length_from_code(code) as f32;
                let relative = if relative > f32::MIN_POSITIVE { relative } else { f32::MIN_POSITIVE };
                // The norm must be finite, because the product with a frequency of 0 must be 0.
                *norm = (weight / relative).min(MAX_SUM);
            }
        }
        let has_custom = totals[CUSTOM] > 0 && config.fields[CUSTOM] > 0.0;
        Self { k1: config.k1, norms, has_custom, body_scores: [const { OnceLock::new() }; BODY_SCORE_TABLES] }
    }

    /// Returns `f · (k1 + 1) / (f + k1)`, where `f` is the weighted sum of the length-normalised frequencies. Without
    /// occurrences, the score is 0.
    ///
    /// Except for rounding, the score grows with every frequency and falls with every length.
    #[inline]
    pub fn saturated(&self, frequencies: TfVector, lengths: LengthCodes) -> f32 {
        self.saturated_with(&frequencies, |field| lengths[field])
    }

    /// As [`Self::saturated`], given the length code of each field.
    #[inline]
    pub(crate) fn saturated_with(&self, frequencies: &TfVector, length: impl Fn(usize) -> u8) -> f32 {
        if is_body_only(frequencies) {
            self.saturate(self.weighted(BODY, f32::from(frequencies[BODY]), length(BODY)))
        } else {
            self.saturated_by_field(|field| f32::from(frequencies[field]), length)
        }
    }

    /// As [`Self::saturated`], given each frequency as a float and each length code.
    #[inline]
    pub(crate) fn saturated_by_field(&self, frequency: impl Fn(usize) -> f32, length: impl Fn(usize) -> u8) -> f32 {
        let weighted = |field: usize| self.weighted(field, frequency(field), length(field));
        self.saturate(self.sum_other_fields(weighted) + weighted(BODY))
    }

    /// Sums `weighted` over all fields except the body, in their order.
    #[inline]
    pub(crate) fn sum_other_fields(&self, weighted: impl Fn(usize) -> f32) -> f32 {
        let mut sum = 0.0;
        // No branch: fields without occurrences add 0.
        for field in 0..CUSTOM {
            sum += weighted(field);
        }
        if self.has_custom { sum + weighted(CUSTOM) } else { sum }
    }

    /// Returns the table of scores, by length code, for a term that occurs `frequency` times in the body and in no
    /// other field; `None` if the frequency is too high to have a table.
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

    /// Returns an upper bound on the score of every posting of a group.
    #[inline]
    pub(crate) fn upper_bound(&self, impact: &ImpactBound<'_>) -> f32 {
        let most =
            |field: usize, [code, length]: [u8; 2]| self.weighted(field, FREQUENCY_BOUNDS[usize::from(code)], length);
        let sum = impact.other_fields.map_or(0.0, |others| self.sum_other_fields(|field| most(field, others[field])));
        let mut body = 0.0;
        for &pair in impact.body {
            let weighted = most(BODY, pair);
            body = if weighted > body { weighted } else { body };
        }
        self.saturate(sum + body)
    }

    /// Returns an upper bound on the scores of those postings in a group that have these frequencies. The bound is
    /// meaningless if the group has no such posting.
    #[inline]
    pub(crate) fn upper_bound_for(&self, frequencies: &[f32; FIELDS], impact: &ImpactBound<'_>) -> f32 {
        let weighted = |field: usize, [_, length]: [u8; 2]| self.weighted(field, frequencies[field], length);
        let sum =
            impact.other_fields.map_or(0.0, |others| self.sum_other_fields(|field| weighted(field, others[field])));
        let pair = impact.body.iter().rfind(|[code, _]| frequencies[BODY] <= FREQUENCY_BOUNDS[usize::from(*code)]);
        self.saturate(sum + pair.map_or(0.0, |[_, length]| self.weighted(BODY, frequencies[BODY], *length)))
    }

    /// Returns the length norms of the shortest fields of a group.
    #[inline]
    pub(crate) fn length_norms(&self, impact: &ImpactBound<'_>) -> [f32; FIELDS] {
        let norm = |field: usize, length: u8| self.norms[field][usize::from(length)];
        std::array::from_fn(|field| match field {
            BODY => impact.body.last().map_or(0.0, |[_, length]| norm(BODY, *length)),
            field => impact.other_fields.map_or(0.0, |other_fields| norm(field, other_fields[field][1])),
        })
    }

    /// Returns a lower bound on the weighted sum of postings whose score reaches `saturated`. It allows for rounding
    /// errors.
    pub(crate) fn min_sum_for(&self, saturated: f32) -> f32 {
        // The factor lowers the bound by more than the rounding error, even if `most - saturated` cancels nearly all
        // digits.
        let (most, saturated) = (self.k1 + 1.0, saturated * (1.0 - 1e-5));
        if saturated < most { saturated * self.k1 / (most - saturated) } else { f32::MAX }
    }

    /// Returns the contribution of one field to the weighted sum.
    #[inline]
    pub(crate) fn weighted(&self, field: usize, frequency: f32, length: u8) -> f32 {
        frequency * self.norms[field][usize::from(length)]
    }

    /// Returns the score of a weighted sum.
    #[inline]
    pub(crate) fn saturate(&self, sum: f32) -> f32 {
        let f = if sum < MAX_SUM { sum } else { MAX_SUM };
        let below = f + self.k1;
        // No branch, so that loops are vectorised. The divisor is 0 only if `f` is 0.
        f * (self.k1 + 1.0) / if below > f32::MIN_POSITIVE { below } else { f32::MIN_POSITIVE }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const FIELDED: Bm25Config = Bm25Config { k1: 1.5, b: 0.75, fields: [3.0, 2.0, 2.5, 2.0, 1.0, 1.0, 1.0] };

    fn okapi(b: f32) -> Bm25Config {
        Bm25Config { k1: 1.5, b, fields: [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0] }
    }

    #[test]
    fn one_field_gives_okapi_bm25() {
        // 4 chunks with 40 body terms in total; a chunk of 20 terms contains the term 3 times.
        let scorer = FieldScorer::new(&okapi(0.75), 4, [0, 0, 0, 0, 0, 0, 40]);
        let expected = 3.0 * 2.5 / (3.0 + 1.5 * (0.25 + 0.75 * 2.0));
        assert!((scorer.saturated([0, 0, 0, 0, 0, 0, 3], [0, 0, 0, 0, 0, 0, 20]) - expected).abs() < 1e-6);
        let idf = idf(4, 2);
        assert!((idf - 2.0f32.ln()).abs() < 1e-6);
    }

    #[test]
    fn fields_add_up_before_they_saturate() {
        let config = Bm25Config { k1: 1.5, b: 0.0, fields: [3.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0] };
        let scorer = FieldScorer::new(&config, 1, [1; FIELDS]);
        let expected = 5.0 * 2.5 / (5.0 + 1.5); // 3 · 1 + 1 · 2
        assert!((scorer.saturated([1, 0, 0, 0, 0, 0, 2], [1; FIELDS]) - expected).abs() < 1e-6);
    }

    proptest! {
        #[test]
        fn scores_grow_with_frequency_and_shrink_with_length(tf in 1u16..500, length in 1u8..200, field in 0usize..FIELDS) {
            let scorer = FieldScorer::new(&FIELDED, 10, [500; FIELDS]);
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
        fn sums_below_the_minimum_do_not_reach_the_score(
            k1 in prop_oneof![Just(0.0f32), 0.0001f32..3.0], exponent in -10f32..30.0, share in 0.5f32..1.0,
        ) {
            let config = Bm25Config { k1, ..FIELDED };
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
