//! Logistic models that map evidence to probabilities.
//!
//! The weights come from questions with known answers, and from questions without an answer, about public
//! repositories. `xtask/ranking/calibrate.py` prints them again. All weights except the intercepts are at least 0, so
//! more evidence never lowers a probability.

use crate::confidence::evidence::{Evidence, HitEvidence};

/// Minimum probability of a relevant hit in a close answer, for each of the models [`RELEVANT`].
const MIN_CLOSE: [f32; 2] = [0.471, 0.411];

/// Number of measures.
const MEASURES: usize = 10;

/// A logistic model.
struct Model {
    intercept: f32,
    /// Weights in the order of [`measures`].
    weights: [f32; MEASURES],
}

/// The probability that the first hit answers the query, from the evidence of the first hit: with and without the
/// measures of meaning.
const ANSWERS: [Model; 2] = [
    Model { intercept: -6.04, weights: [2.75, 5.97, 0.00, 0.00, 1.35, 0.00, 1.23, 1.98, 1.35, 2.18] },
    Model { intercept: -5.38, weights: [3.48, 3.07, 0.17, 0.00, 2.87, 0.87, 1.26, 0.00, 0.00, 0.00] },
];
/// The probability that one of the hits is relevant, from the best evidence of each kind: with and without the measures
/// of meaning.
const RELEVANT: [Model; 2] = [
    Model { intercept: -10.18, weights: [6.79, 0.00, 2.38, 0.00, 1.16, 0.03, 2.85, 4.79, 0.00, 8.00] },
    Model { intercept: -8.86, weights: [8.85, 0.52, 2.44, 0.00, 3.25, 2.04, 1.90, 0.00, 0.00, 0.00] },
];

impl Evidence {
    /// Returns the probability that the first hit answers the query, 0..1.
    pub(crate) fn confidence(&self) -> f32 {
        ANSWERS[self.model()].probability(&measures(self.known_words, self.lead, &self.first))
    }

    /// Returns whether one of the hits is likely to be relevant.
    pub(crate) fn is_close(&self) -> bool {
        let (at, best) = (self.model(), measures(self.known_words, self.lead, &self.best));
        RELEVANT[at].probability(&best) >= MIN_CLOSE[at]
    }

    /// Returns the index of the model. The cosines of other embedders have other distributions, so measures of meaning
    /// count only if the index has the tokens of the embedded model.
    fn model(&self) -> usize {
        usize::from(self.best.words.is_none())
    }
}

impl Model {
    fn probability(&self, measures: &[f32; MEASURES]) -> f32 {
        let sum: f32 = self.weights.iter().zip(measures).map(|(weight, measure)| weight * measure).sum();
        1.0 / (1.0 + (-self.intercept - sum).exp())
    }
}

/// Returns the measures in the order of the weights.
fn measures(known_words: f32, lead: f32, hit: &HitEvidence) -> [f32; MEASURES] {
    [
        known_words,
        lead,
        hit.coverage,
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
            measures in prop::array::uniform10(-1.0f32..=1.0), at in 0..MEASURES, more in 0.0f32..=1.0,
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
