//! Logistic models that map evidence to probabilities.
//!
//! The weights come from questions with known answers, and from questions without an answer, about public repositories
//! and conversations. `xtask/ranking/calibrate.py` prints them again, except for the models [`RELEVANT`] of memory, which
//! were also fitted on questions about notes. All weights except the intercepts are at least 0, so more evidence never
//! lowers a probability.

use crate::confidence::evidence::{Evidence, HitEvidence};

/// Minimum probability of a relevant hit in a close answer, for each of the models [`RELEVANT`].
const MIN_CLOSE: [f32; 4] = [0.467, 0.447, 0.551, 0.492];

/// The minimum of the first model in mode `dense`, where keyword scores of files are missing.
const MIN_CLOSE_DENSE: f32 = 0.348;

/// Minimum probability that a single hit of a close answer is relevant, without its lead, for the same models.
const MIN_HIT: [f32; 4] = [0.09, 0.135, 0.129, 0.291];

/// Number of measures.
const MEASURES: usize = 11;

/// A logistic model.
struct Model {
    intercept: f32,
    /// Weights in the order of [`measures`].
    weights: [f32; MEASURES],
}

/// The probability that the first hit answers the query, from the evidence of the first hit: code with and without the
/// measures of meaning, memory with and without these measures.
const ANSWERS: [Model; 4] = [
    Model { intercept: -5.61, weights: [1.93, 5.88, 0.00, 0.66, 0.00, 1.70, 0.00, 1.47, 1.98, 0.52, 1.97] },
    Model { intercept: -5.60, weights: [1.87, 2.16, 0.00, 1.50, 0.00, 2.40, 1.15, 1.73, 0.00, 0.00, 0.00] },
    Model { intercept: -9.67, weights: [3.63, 8.14, 0.00, 2.79, 0.27, 0.27, 0.51, 0.00, 0.36, 0.75, 0.36] },
    Model { intercept: -8.95, weights: [3.16, 7.87, 0.94, 2.80, 0.06, 0.06, 0.25, 0.00, 0.00, 0.00, 0.00] },
];
/// The probability that one of the hits is relevant, from the best evidence of each kind, for the same models.
/// Exact matches in memory and in code have the same weights, because no question about memory has such a match.
const RELEVANT: [Model; 4] = [
    Model { intercept: -13.01, weights: [5.01, 0.00, 0.00, 4.26, 0.00, 2.54, 0.76, 2.11, 4.75, 0.00, 6.20] },
    Model { intercept: -11.78, weights: [5.40, 0.00, 0.00, 4.89, 1.16, 3.58, 2.74, 1.96, 0.00, 0.00, 0.00] },
    Model { intercept: -8.14, weights: [0.00, 4.29, 0.00, 0.50, 1.18, 4.23, 9.24, 2.11, 5.53, 3.41, 5.52] },
    Model { intercept: -6.61, weights: [0.46, 0.96, 1.32, 2.78, 3.82, 6.58, 13.59, 1.96, 0.00, 0.00, 0.00] },
];

impl Evidence {
    /// Returns the probability that the first hit answers the query, 0..1.
    pub(crate) fn confidence(&self) -> f32 {
        ANSWERS[self.model(self.first.is_memory)].probability(&measures(self.lead, &self.first))
    }

    /// Returns whether one of the hits is likely to be relevant.
    pub(crate) fn is_close(&self) -> bool {
        self.is_source_close(false) || self.is_source_close(true)
    }

    /// Returns whether a hit of this answer is likely to be relevant.
    pub(crate) fn is_hit_close(&self, hit: &HitEvidence) -> bool {
        let at = self.model(hit.is_memory);
        self.is_source_close(hit.is_memory) && RELEVANT[at].probability(&measures(0.0, hit)) >= MIN_HIT[at]
    }

    /// Returns whether one of the hits from code or from memory is likely to be relevant.
    fn is_source_close(&self, is_memory: bool) -> bool {
        let at = self.model(is_memory);
        let is_relevant = |best: HitEvidence| {
            let minimum = if at == 0 && best.file_keywords.is_none() { MIN_CLOSE_DENSE } else { MIN_CLOSE[at] };
            RELEVANT[at].probability(&measures(self.lead, &best)) >= minimum
        };
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

/// Returns the measures in the order of the weights.
fn measures(lead: f32, hit: &HitEvidence) -> [f32; MEASURES] {
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
    ]
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn more_evidence_never_lowers_a_probability(
            measures in prop::array::uniform11(-1.0f32..=1.0), at in 0..MEASURES, more in 0.0f32..=1.0,
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
