//! Step 4: why a hit has its place.
//!
//! Takes a ranked candidate. Gives its score divided between components and rules, so that the parts add up to it, and every
//! part in words.

mod explanation;
mod points;
mod reasons;
mod rule_reasons;

pub use explanation::Explanation;
pub(crate) use explanation::explain;
pub use points::{Boost, Points};
pub use reasons::{activation_reason, relative_time, semantic_reason};
