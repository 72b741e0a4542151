//! Why a filter is refused.

use aurora_storage::ChunkType;

/// Longest pattern, glob, condition or name, in bytes.
pub(crate) const LONGEST_VALUE: usize = 4 << 10;
/// Most patterns, globs, conditions or lists of names.
pub(crate) const MOST_VALUES: usize = 256;

/// A filter that cannot be understood.
#[derive(Debug, thiserror::Error)]
pub enum FilterError {
    /// Not a chunk type.
    #[error("Invalid chunk type '{given}'. Valid types: {}{}", valid_types(), .help.as_deref().map(|help| format!(" ({help})")).unwrap_or_default())]
    Type {
        /// The type as given.
        given: String,
        /// What was probably meant.
        help: Option<String>,
    },
    /// Not a glob.
    #[error("Invalid path pattern '{given}': {reason}")]
    Path {
        /// The pattern as given.
        given: String,
        /// What is wrong with it.
        reason: String,
    },
    /// Not a regular expression.
    #[error("Invalid pattern '{given}': {reason} (for a text as it is: --fixed)")]
    Pattern {
        /// The pattern as given.
        given: String,
        /// What is wrong with it.
        reason: String,
    },
    /// Too many or too long values.
    #[error("{what}: at most {MOST_VALUES} are taken, of at most {LONGEST_VALUE} bytes each")]
    TooMuch {
        /// Which values.
        what: &'static str,
    },
    /// Not a condition.
    #[error("Invalid condition '{0}'. Conditions are written key=value, such as owner=payments")]
    Condition(String),
}

fn valid_types() -> String {
    ChunkType::ALL.map(ChunkType::as_str).join(", ")
}
