//! Confidence in an answer: absolute measures of relevance, and the probability that the first hit answers the query.
//!
//! Scores of hits are normalised within the candidates of one query, so the best score does not show whether the
//! query has an answer. The values in [`Evidence`] do not depend on the other candidates, so they are comparable
//! between queries and between indexes. A logistic model ([`model`]) maps them to probabilities.

mod evidence;
mod model;

pub(crate) use evidence::Measures;
pub use evidence::{Evidence, HitEvidence};
