//! Reasons why a text yields no symbols.

use thiserror::Error;

use crate::query::QuerySyntaxError;

/// The reason why a text yields no symbols.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ParseFailure {
    /// The parse needs far more work than a real source of the same size.
    #[error("syntax too complex to parse")]
    TooComplex,
    /// Parsing exceeded [`ParseLimits::time`](crate::ParseLimits::time).
    #[error("parsing exceeds the time limit")]
    TooSlow,
    /// The text exceeds [`ParseLimits::size`](crate::ParseLimits::size).
    #[error("text exceeds the size limit")]
    TooLarge,
    /// The caller cancelled the parse.
    #[error("parsing was cancelled")]
    Cancelled,
    /// The language's queries do not fit its grammar, or the grammar does not fit this version of tree-sitter. This is
    /// a bug.
    #[error(transparent)]
    Query(#[from] QuerySyntaxError),
}
