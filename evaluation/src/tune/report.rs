//! Reports the learned numbers and their gain.

use aurora_query::SearchConfig;
use serde::Serialize;

use crate::interval::Estimate;
use crate::metrics::Metric;

/// Means before and after tuning; each set has the same weight.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Comparison {
    /// Number of questions compared.
    pub questions: usize,
    /// Mean with the configuration that tuning started from.
    pub before: f64,
    /// Mean with the learned numbers.
    pub after: f64,
    /// Mean of the paired differences with its bootstrap interval.
    pub difference: Estimate,
}

/// The comparison of one set.
#[derive(Debug, Clone, Serialize)]
pub struct TunedSet {
    /// Name of the set.
    pub set: String,
    /// Comparison on the folds that were not used for learning.
    #[serde(flatten)]
    pub comparison: Comparison,
}

/// A number that was learned.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ParameterChange {
    /// Key of the number.
    pub key: &'static str,
    /// Value at the start.
    pub before: f64,
    /// Value learned from all folds.
    pub after: f64,
    /// Number of folds in which the number moved in the same direction.
    pub folds_agree: usize,
}

/// The learned numbers and their gain.
#[derive(Debug, Clone, Serialize)]
pub struct TuneReport {
    /// The metric that was optimised.
    pub metric: Metric,
    /// Digest of the questions.
    pub golden: String,
    /// Number of folds.
    pub folds: usize,
    /// Maximum number of rounds.
    pub rounds: u32,
    /// Cost, in questions, of moving a number away from the start by the size of its first step.
    pub regularisation: f64,
    /// Number of searches.
    pub searches: u64,
    /// Comparison in which every question is measured with numbers that were learned without it.
    pub cross_validated: Comparison,
    /// The cross-validated comparison by set.
    pub sets: Vec<TunedSet>,
    /// Comparison on the training questions, with the numbers that were learned from them. It overestimates the gain.
    pub trained: Comparison,
    /// Comparison on questions that were excluded from learning.
    pub held_out: Option<Comparison>,
    /// The numbers that changed.
    pub changes: Vec<ParameterChange>,
    /// The learned configuration.
    #[serde(skip)]
    pub config: SearchConfig,
}

impl TuneReport {
    /// Returns `true` if the gain is significant: the interval of the cross-validated difference is above 0, and the
    /// mean on held-out questions, if there are any, has not decreased.
    pub fn is_gain(&self) -> bool {
        self.cross_validated.difference.is_gain()
            && self.held_out.is_none_or(|held_out| held_out.difference.mean >= 0.0)
    }
}
