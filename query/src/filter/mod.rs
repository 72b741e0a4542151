//! Filters by type, language, path, metadata and text pattern.
//!
//! Resolves the user's [`FilterSpec`] to a bitmap of the chunks that a search may return, before any chunk is scored.

mod columns;
mod condition;
mod error;
mod facets;
mod filtered_index;
mod languages;
mod number;
mod operand;
mod paths;
mod properties;
mod required_terms;
mod spec;
mod text;
mod typed_condition;
mod types;

pub(crate) use columns::unreadable_tags_note;
pub use condition::{Condition, Operator};
pub use error::FilterError;
pub(crate) use error::SelectError;
pub use facets::{Facet, FacetValue, facets};
pub(crate) use filtered_index::FilteredIndex;
pub use languages::LanguageNames;
pub use operand::ListProblem;
pub(crate) use spec::Filter;
pub use spec::FilterSpec;
pub use text::TextFilter;
pub(crate) use types::declared_type;
