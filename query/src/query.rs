//! What a caller asks: the text, the filters and the mode of one search, and why it may be refused.

use aurora_storage::StorageError;
use serde::Serialize;

use crate::filter::{FilterError, FilterSpec, SelectError};
use crate::work::{Cancelled, WorkBudget};

/// Which scores a search uses.
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// Keywords and vectors.
    #[default]
    Hybrid,
    /// Keywords only.
    Sparse,
    /// Vectors only.
    Dense,
}

impl Mode {
    /// The name as typed after `--mode`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Hybrid => "hybrid",
            Self::Sparse => "sparse",
            Self::Dense => "dense",
        }
    }
}

impl std::str::FromStr for Mode {
    type Err = QueryError;

    fn from_str(text: &str) -> Result<Self, QueryError> {
        [Self::Hybrid, Self::Sparse, Self::Dense]
            .into_iter()
            .find(|mode| mode.as_str().eq_ignore_ascii_case(text.trim()))
            .ok_or_else(|| QueryError::Mode(text.to_owned()))
    }
}

/// What takes a place in the list of results.
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Group {
    /// A chunk.
    #[default]
    Chunk,
    /// A file: its best chunk, with further ones below it.
    File,
}

/// One search.
#[derive(Debug, Clone)]
pub struct Query {
    /// What the user typed.
    pub text: String,
    /// Most hits to return.
    pub limit: usize,
    /// Which scores to use.
    pub mode: Mode,
    /// What takes a place in the list.
    pub group: Group,
    /// Which chunks may be found.
    pub filter: FilterSpec,
    /// The time to judge recency by, in Unix seconds.
    pub now: i64,
    /// Whether hits carry the chunks' full text.
    pub content: bool,
    /// Whether matching chunks are counted by type, language and directory.
    pub facets: bool,
    /// The work that the search may cause.
    pub work: WorkBudget,
}

impl Query {
    /// A hybrid search over everything for ten hits.
    pub fn new(text: impl Into<String>, now: i64) -> Self {
        Self {
            text: text.into(),
            limit: 10,
            mode: Mode::default(),
            group: Group::default(),
            filter: FilterSpec::default(),
            now,
            content: false,
            facets: false,
            work: WorkBudget::default(),
        }
    }
}

/// Longest query, in bytes: room for a pasted stack trace. What a search costs grows with each of its words.
pub const LONGEST_QUERY: usize = 16 << 10;

/// Why a search cannot be answered.
#[derive(Debug, thiserror::Error)]
pub enum QueryError {
    /// No index to search.
    #[error("there is no index to search")]
    NoRoot,
    /// Nothing to look for.
    #[error("the query is empty; give at least one word")]
    Empty,
    /// See [`LONGEST_QUERY`].
    #[error("the query is longer than {LONGEST_QUERY} bytes; give the lines that say most about what is looked for")]
    TooLong,
    /// No word character in the query.
    #[error("the query `{0}` holds no letter or digit to search for")]
    NoTerms(String),
    /// Not a mode.
    #[error("unknown search mode '{0}'; valid modes: hybrid, sparse, dense")]
    Mode(String),
    /// A filter that cannot be understood.
    #[error(transparent)]
    Filter(#[from] FilterError),
    /// Vectors only, and there are none to compare.
    #[error("mode `dense` needs vectors: {0}")]
    NoVectors(String),
    /// The index cannot be read.
    #[error(transparent)]
    Storage(#[from] StorageError),
    /// The search was cancelled.
    #[error(transparent)]
    Cancelled(#[from] Cancelled),
}

impl From<SelectError> for QueryError {
    fn from(error: SelectError) -> Self {
        match error {
            SelectError::Filter(error) => Self::Filter(error),
            SelectError::Storage(error) => Self::Storage(error),
            SelectError::Cancelled(error) => Self::Cancelled(error),
        }
    }
}

impl QueryError {
    /// Refuses a query that is too long.
    ///
    /// # Errors
    /// [`QueryError::TooLong`].
    pub fn check_length(text: &str) -> Result<(), Self> {
        if text.len() > LONGEST_QUERY { Err(Self::TooLong) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modes_are_parsed_and_named() {
        assert_eq!("Sparse".parse::<Mode>().expect("a mode"), Mode::Sparse);
        assert_eq!(
            "fuzzy".parse::<Mode>().expect_err("no mode").to_string(),
            "unknown search mode 'fuzzy'; valid modes: hybrid, sparse, dense"
        );
    }
}
