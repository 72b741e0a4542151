//! Which chunks may be found: types, languages, paths, metadata and text patterns.
//!
//! Takes a [`FilterSpec`] as the user gives it. Gives one bitmap of chunks, resolved before anything is scored.

mod error;
mod required_terms;
mod spec;
mod text;

pub use error::FilterError;
pub use spec::FilterSpec;
pub use text::TextFilter;
