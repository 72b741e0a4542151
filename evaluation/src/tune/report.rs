//! The learned numbers and their gain.

use aurora_query::SearchConfig;
use serde::Serialize;

use crate::interval::Estimate;
use crate::metrics::Metric;

/// Before and after, each set weighing the same.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Comparison {
    /// How many questions were compared.
    pub questions: usize,
    /// Mean with the configuration that tuning started from.
    pub before: f64,
    /// Mean with the learned numbers.
    pub after: f64,
    /// Mean of the paired differences with its bootstrap interval.
    pub difference: Estimate,
}

/// A set before and after.
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
    /// Where it started.
    pub before: f64,
    /// What was learned from all folds.
    pub after: f64,
    /// In how many of the folds it moved in the same direction.
    pub folds_agree: usize,
}

/// The learned numbers and their gain.
#[derive(Debug, Clone, Serialize)]
pub struct TuneReport {
    /// The metric that was optimised.
    pub metric: Metric,
    /// Digest of the questions.
    pub golden: String,
    /// How many folds.
    pub folds: usize,
    /// How many rounds at most.
    pub rounds: u32,
    /// What a number costs that is one first step away from the start, in questions.
    pub regularisation: f64,
    /// How many searches were made.
    pub searches: u64,
    /// Every question measured with numbers learned without it.
    pub cross_validated: Comparison,
    /// The same by set.
    pub sets: Vec<TunedSet>,
    /// The questions that the numbers were learned from, measured with them: biased upwards.
    pub trained: Comparison,
    /// Questions that were kept from learning altogether.
    pub held_out: Option<Comparison>,
    /// The numbers that changed.
    pub changes: Vec<ParameterChange>,
    /// The configuration with them.
    #[serde(skip)]
    pub config: SearchConfig,
}

impl TuneReport {
    /// Whether the gain is real: the interval of the cross-validated difference is above 0, and questions that were
    /// kept from learning, where there are any, are on average answered no worse.
    pub fn is_gain(&self) -> bool {
        self.cross_validated.difference.is_gain()
            && self.held_out.is_none_or(|held_out| held_out.difference.mean >= 0.0)
    }
}
