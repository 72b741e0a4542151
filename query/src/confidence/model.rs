//! Logistic models that map evidence to probabilities.
//!
//! The weights come from questions with known answers, and from questions without an answer, about public repositories
//! and conversations. `xtask/ranking/calibrate.py` prints them again, except for the models [`RELEVANT`] of memory, which
//! were also fitted on questions about notes. All weights except the intercepts are at least 0, so more evidence never
//! lowers a probability.

use crate::confidence::evidence::{Evidence, HitEvidence};

/// Minimum probability of a relevant hit in a close answer, for each of the models [`RELEVANT`].
const MIN_CLOSE: [f32; 4] = [0.389, 0.391, 0.551, 0.492];

/// Minimum probability that a single hit of a close answer is relevant, without its lead, for the same models.
const MIN_HIT: [f32; 4] = [0.102, 0.093, 0.129, 0.291];

/// Number of chunks below which the size of an index does not count.
const MIN_CHUNKS: u64 = 100;

/// Number of measures.
const MEASURES: usize = 12;

/// A logistic model.
struct Model {
    intercept: f32,
    /// Weights in the order of [`measures`].
    weights: [f32; MEASURES],
}

/// The probability that the first hit answers the query, from the evidence of the first hit: code with and without the
/// measures of meaning, memory with and without these measures.
const ANSWERS: [Model; 4] = [
    Model { intercept: -4.82, weights: [1.86, 6.95, 0.00, 0.99, 0.00, 2.14, 0.00, 1.14, 1.62, 0.51, 1.74, 0.32] },
    Model { intercept: -4.70, weights: [1.38, 2.83, 0.00, 1.67, 0.00, 3.12, 1.01, 1.29, 0.00, 0.00, 0.00, 0.30] },
    Model { intercept: -9.67, weights: [3.63, 8.14, 0.00, 2.79, 0.27, 0.27, 0.51, 0.00, 0.36, 0.75, 0.36, 0.00] },
    Model { intercept: -8.95, weights: [3.16, 7.87, 0.94, 2.80, 0.06, 0.06, 0.25, 0.00, 0.00, 0.00, 0.00, 0.00] },
];
/// The probability that one of the hits is relevant, from the best evidence of each kind, for the same models.
/// The weights of exact matches in memory are earlier weights for code, because no question about memory has such a match.
const RELEVANT: [Model; 4] = [
    Model { intercept: -9.34, weights: [4.68, 1.78, 0.00, 3.63, 0.00, 1.88, 0.56, 1.06, 2.83, 0.00, 5.33, 0.50] },
    Model { intercept: -8.63, weights: [4.51, 0.51, 0.00, 4.36, 0.77, 3.55, 2.23, 0.60, 0.00, 0.00, 0.00, 0.50] },
    Model { intercept: -8.14, weights: [0.00, 4.29, 0.00, 0.50, 1.18, 4.23, 9.24, 2.11, 5.53, 3.41, 5.52, 0.00] },
    Model { intercept: -6.61, weights: [0.46, 0.96, 1.32, 2.78, 3.82, 6.58, 13.59, 1.96, 0.00, 0.00, 0.00, 0.00] },
];

impl Evidence {
    /// Returns the probability that the first hit answers the query, 0..1.
    pub(crate) fn confidence(&self) -> f32 {
        ANSWERS[self.model(self.first.is_memory)].probability(&measures(self.lead, self.chunks, &self.first))
    }

    /// Returns whether one of the hits is likely to be relevant.
    pub(crate) fn is_close(&self) -> bool {
        self.is_source_close(false) || self.is_source_close(true)
    }

    /// Returns whether a hit of this answer is likely to be relevant.
    pub(crate) fn is_hit_close(&self, hit: &HitEvidence) -> bool {
        let at = self.model(hit.is_memory);
        self.is_source_close(hit.is_memory) && RELEVANT[at].probability(&measures(0.0, self.chunks, hit)) >= MIN_HIT[at]
    }

    /// Returns whether one of the hits from code or from memory is likely to be relevant.
    fn is_source_close(&self, is_memory: bool) -> bool {
        let at = self.model(is_memory);
        let is_relevant = |best| RELEVANT[at].probability(&measures(self.lead, self.chunks, &best)) >= MIN_CLOSE[at];
        self.best_of(is_memory).is_some_and(is_relevant)
    }

    fn best_of(&self, is_memory: bool) -> Option<HitEvidence> {
        if is_memory { self.memory } else { Some(self.best) }
    }

    /// Returns the index of the model. The cosines of other embedders have other distributions, so measures of meaning
    /// count only if the index has the tokens of the embedded model.
    fn model(&self, is_memory: bool) -> usize {
        let has_words = self.best_of(is_memory).is_some_and(|best| best.words.is_some());
        2 * usize::from(is_memory) + usize::from(!has_words)
    }
}

impl Model {
    fn probability(&self, measures: &[f32; MEASURES]) -> f32 {
        let sum: f32 = self.weights.iter().zip(measures).map(|(weight, measure)| weight * measure).sum();
        1.0 / (1.0 + (-self.intercept - sum).exp())
    }
}

/// Returns the measures in the order of the weights. The last measure decreases with the number of chunks: the more chunks
/// an index has, the better some chunk matches by chance.
fn measures(lead: f32, chunks: u64, hit: &HitEvidence) -> [f32; MEASURES] {
    [
        hit.known_words,
        lead,
        hit.coverage,
        hit.matched.ln_1p(),
        hit.keywords,
        hit.file_keywords.unwrap_or(hit.keywords),
        hit.name,
        hit.exact,
        hit.cosine.unwrap_or(0.0),
        hit.words.unwrap_or(0.0),
        hit.file_cosine.unwrap_or(0.0),
        -(chunks.max(MIN_CHUNKS) as f32 / MIN_CHUNKS as f32).ln(),
    ]
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn more_evidence_never_lowers_a_probability(
            measures in prop::array::uniform12(-1.0f32..=1.0), at in 0..MEASURES, more in 0.0f32..=1.0,
        ) {
            for model in ANSWERS.iter().chain(&RELEVANT) {
                let before = model.probability(&measures);
                let mut measures = measures;
                measures[at] += more;
                prop_assert!((0.0..=1.0).contains(&before) && model.probability(&measures) >= before);
            }
        }
    }
}
