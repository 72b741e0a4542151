//! The text, filters and mode of one search, and the errors that a search can return.

use aurora_storage::StorageError;
use serde::{Deserialize, Serialize};

use crate::filter::{FilterError, FilterSpec, SelectError};
use crate::work::{Cancelled, WorkBudget};

/// The scores that a search uses.
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, strum::IntoStaticStr)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
pub enum Mode {
    /// Keywords, meaning and activation.
    #[default]
    Hybrid,
    /// Keywords only.
    Sparse,
    /// Meaning only: vectors.
    Dense,
}

impl Mode {
    /// The name as typed after `--mode`.
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

/// The unit of a result: a chunk or a file.
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Group {
    /// Every chunk is a separate result.
    #[default]
    Chunk,
    /// Every file is one result: its best chunk, with other chunks below it.
    File,
}

/// The input of one search.
#[derive(Debug, Clone)]
pub struct Query {
    /// The query as the user typed it.
    pub text: String,
    /// Maximum number of hits to return.
    pub limit: usize,
    /// The scores to use.
    pub mode: Mode,
    /// The unit of a result: a chunk or a file.
    pub group: Group,
    /// The filter that chunks must pass.
    pub filter: FilterSpec,
    /// The current time, in Unix seconds. Recency is relative to this time.
    pub now: i64,
    /// Whether hits contain the full text of their chunks.
    pub content: bool,
    /// Whether to count matching chunks by type, language and directory.
    pub facets: bool,
    /// Cancellation of the search and limits on its work.
    pub work: WorkBudget,
}

impl Query {
    /// Creates a hybrid query without a filter that returns at most ten hits.
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

/// Maximum length of a query in bytes, enough for a pasted stack trace. The cost of a search grows with every word.
pub const MAX_QUERY_BYTES: usize = 16 << 10;

/// An error of a search.
#[derive(Debug, thiserror::Error)]
pub enum QueryError {
    /// No index was given.
    #[error("there is no index to search")]
    NoRoot,
    /// The query is empty.
    #[error("the query is empty; give at least one word")]
    Empty,
    /// The query exceeds [`MAX_QUERY_BYTES`].
    #[error("the query is longer than {MAX_QUERY_BYTES} bytes; keep only the most relevant lines")]
    TooLong,
    /// The query contains no word character.
    #[error("the query `{0}` contains no letter or digit to search for")]
    NoTerms(String),
    /// The filter is invalid.
    #[error(transparent)]
    Filter(#[from] FilterError),
    /// Mode `dense` was requested, but no vectors are available.
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
    /// Checks the length of a query.
    ///
    /// # Errors
    /// Returns [`QueryError::TooLong`] if the query exceeds [`MAX_QUERY_BYTES`].
    pub fn check_length(text: &str) -> Result<(), Self> {
        if text.len() > MAX_QUERY_BYTES { Err(Self::TooLong) } else { Ok(()) }
    }
}
