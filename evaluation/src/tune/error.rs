//! Why nothing was learned.

use aurora_query::QueryError;

use crate::metrics::Metric;
use crate::tune::space::UnknownKeys;

/// Why nothing was learned.
#[derive(Debug, thiserror::Error)]
pub enum TuneError {
    /// A question could not be asked.
    #[error(transparent)]
    Query(#[from] QueryError),
    /// Unknown keys.
    #[error(transparent)]
    Keys(#[from] UnknownKeys),
    /// Too little to learn from.
    #[error("{questions} questions that ask for {metric} are too few for {folds} folds; at least {least} are needed")]
    TooFew {
        /// How many there are.
        questions: usize,
        /// The metric.
        metric: Metric,
        /// The folds asked for.
        folds: usize,
        /// How many are needed.
        least: usize,
    },
}
