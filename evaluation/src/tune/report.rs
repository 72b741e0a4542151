//! The learned numbers and their gain.

use aurora_query::SearchConfig;
use serde::Serialize;

use crate::interval::Estimate;
use crate::metrics::Metric;

/// A comparison of means before and after tuning; each set has the same weight.
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
    /// Its name.
    pub set: String,
    /// Measured on held-out folds.
    #[serde(flatten)]
    pub comparison: Comparison,
}

/// A number that was learned.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ParameterChange {
    /// Its key.
    pub key: &'static str,
    /// Its value at the start.
    pub before: f64,
    /// Its value learned from all folds.
    pub after: f64,
    /// Number of folds in which it moved in the same direction.
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
    /// Cost of a number at a distance of one first step from the start, in questions.
    pub regularisation: f64,
    /// Number of searches.
    pub searches: u64,
    /// Comparison of every question measured with numbers learned without it.
    pub cross_validated: Comparison,
    /// The cross-validated comparison by set.
    pub sets: Vec<TunedSet>,
    /// Comparison of the training questions, measured with the numbers learned from them: biased upwards.
    pub trained: Comparison,
    /// Comparison of questions that were excluded from learning.
    pub held_out: Option<Comparison>,
    /// The numbers that changed.
    pub changes: Vec<ParameterChange>,
    /// The learned configuration.
    #[serde(skip)]
    pub config: SearchConfig,
}

impl TuneReport {
    /// Whether the gain is real: the interval of the cross-validated difference is above 0, and the mean of the
    /// held-out questions, if there are any, has not decreased.
    pub fn is_gain(&self) -> bool {
        self.cross_validated.difference.is_gain()
            && self.held_out.is_none_or(|held_out| held_out.difference.mean >= 0.0)
    }
}
