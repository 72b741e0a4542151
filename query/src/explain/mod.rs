//! Step 4: explains the rank of a hit.
//!
//! Divides the score of a ranked candidate between components and rules, so that the parts add up to the score, and
//! describes every part in words.

mod explanation;
mod points;
mod reasons;

pub use explanation::Explanation;
pub(crate) use explanation::explain;
pub use points::{Boost, Points};
pub use reasons::{activation_reason, relative_time, semantic_reason};
