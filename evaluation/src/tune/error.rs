//! Errors of tuning.

use aurora_query::QueryError;

use crate::metrics::Metric;
use crate::tune::space::UnknownKeys;

/// An error of tuning.
#[derive(Debug, thiserror::Error)]
pub enum TuneError {
    /// A search failed.
    #[error(transparent)]
    Query(#[from] QueryError),
    /// A prefix matches no key.
    #[error(transparent)]
    Keys(#[from] UnknownKeys),
    /// There are too few questions to learn from.
    #[error("{questions} questions with {metric} are too few for {folds} folds; at least {least} are needed")]
    TooFew {
        /// Number of questions with the metric.
        questions: usize,
        /// The metric.
        metric: Metric,
        /// Number of folds.
        folds: usize,
        /// Minimum number of questions.
        least: usize,
    },
}
