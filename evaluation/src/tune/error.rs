//! Errors that occur while the search configuration is tuned.

use aurora_query::QueryError;

use crate::metrics::Metric;
use crate::tune::space::UnknownKeys;

/// An error that occurs while the search configuration is tuned.
#[derive(Debug, thiserror::Error)]
pub enum TuneError {
    /// A search failed.
    #[error(transparent)]
    Query(#[from] QueryError),
    /// A prefix matches no key of the configuration.
    #[error(transparent)]
    Keys(#[from] UnknownKeys),
    /// There are too few questions to learn from.
    #[error("{questions} questions with {metric} are too few for {folds} folds; at least {least} are needed")]
    TooFew {
        /// Number of questions to which the metric applies.
        questions: usize,
        /// The metric.
        metric: Metric,
        /// Number of folds.
        folds: usize,
        /// Minimum number of questions for this number of folds.
        least: usize,
    },
}
