//! Errors in a language's queries.

use thiserror::Error;

/// A language's queries do not fit its grammar, or use an unknown capture.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum QuerySyntaxError {
    /// The grammar has a format that [`aurora_bounded_parser::Grammar`] does not support.
    #[error("the language's grammar has an unsupported format")]
    UnsupportedGrammar,
    /// The grammar does not have the node kind that a query names.
    #[error("the language's queries do not fit its grammar: no node kind `{0}`")]
    UnknownNode(String),
    /// The grammar does not have the field that a query names.
    #[error("the language's queries do not fit its grammar: no field `{0}`")]
    UnknownField(String),
    /// The token is not part of the supported query syntax.
    #[error("the language's queries do not fit its grammar: unexpected `{token}` on line {line}")]
    UnexpectedToken {
        /// The token.
        token: String,
        /// The line of the token, 1-based.
        line: usize,
    },
    /// The capture is not documented in `crate::language`.
    #[error("the language's queries use the unknown capture `@{0}`")]
    UnknownCapture(String),
}
