//! Errors of filters.

use aurora_storage::{ChunkType, ColumnKind, StorageError};
use aurora_suggest::did_you_mean;

use crate::filter::operand::ListProblem;

use crate::work::Cancelled;

/// Maximum length of a pattern, glob, condition or name, in bytes.
pub(crate) const MAX_VALUE_BYTES: usize = 4 << 10;
/// Maximum number of patterns, globs, conditions or lists of names.
pub(crate) const MAX_VALUES: usize = 256;
/// Maximum total length of the values of one kind, in bytes.
pub(crate) const MAX_TOTAL_BYTES: usize = 16 << 10;
/// Maximum memory of the compiled patterns of one filter, in bytes.
pub(crate) const MAX_PATTERN_BYTES: usize = 8 << 20;

/// An invalid filter.
#[derive(Debug, thiserror::Error)]
pub enum FilterError {
    /// An unknown chunk type.
    #[error("Invalid chunk type '{given}'. Valid types: {}{}", valid_types(), bracketed(.help))]
    Type {
        /// The type as given.
        given: String,
        /// A suggestion for a misspelt type.
        help: Option<String>,
    },
    /// An invalid glob.
    #[error("Invalid path pattern '{given}': {reason}")]
    Path {
        /// The pattern as given.
        given: String,
        /// The problem.
        reason: String,
    },
    /// A path outside of all indexed directories.
    #[error("The path '{given}' is outside of {}", roots.join(" and "))]
    OutsideRoots {
        /// The path as given.
        given: String,
        /// The indexed directories.
        roots: Vec<String>,
    },
    /// An unknown language.
    #[error("Unknown language '{given}'{}", no_language(.help, .known))]
    Language {
        /// The name as given.
        given: String,
        /// A suggestion for a misspelt name.
        help: Option<String>,
        /// The languages of the index.
        known: Vec<String>,
    },
    /// An invalid regular expression.
    #[error("Invalid pattern '{given}': {reason} (use `fixed` to search for literal text)")]
    Pattern {
        /// The pattern as given.
        given: String,
        /// The problem.
        reason: String,
    },
    /// The patterns exceed the memory limit.
    #[error(
        "Invalid pattern '{given}': all patterns together exceed the memory limit of {} MiB; \
         use a smaller repetition, or [a-z] in place of \\w",
        MAX_PATTERN_BYTES >> 20
    )]
    PatternMemory {
        /// The first pattern that exceeded the limit.
        given: String,
    },
    /// Too many values, or values that are too long.
    #[error(
        "{what}: at most {MAX_VALUES} are allowed, of at most {MAX_VALUE_BYTES} bytes each and \
         {MAX_TOTAL_BYTES} bytes in total"
    )]
    TooMuch {
        /// The kind of values.
        what: &'static str,
    },
    /// An invalid condition.
    #[error(
        "Invalid condition '{0}'. Conditions are written as a column, one of = != < <= > >=, and a value, such as \
         owner=payments or 'churn>5', or with a list, such as 'owner in payments,billing'; in a shell, quote \
         conditions with < or >"
    )]
    Condition(String),
    /// An invalid list.
    #[error("Invalid list in '{given}': {problem}")]
    List {
        /// The condition as given.
        given: String,
        /// The mistake.
        problem: ListProblem,
    },
    /// A range of numbers whose ends are in the wrong order.
    #[error("The range '{given}' for the column '{key}' is empty; put the lower number first")]
    Range {
        /// Name of the column.
        key: String,
        /// The range as given.
        given: String,
    },
    /// A column that the index does not have.
    #[error("No column '{given}' in this index; {}{}", columns(.known), bracketed(.help))]
    Column {
        /// The name as given.
        given: String,
        /// A suggestion for a misspelt name.
        help: Option<String>,
        /// The columns that conditions can name.
        known: Vec<String>,
    },
    /// A column without the use `filter`.
    #[error("The column '{given}' cannot be used in a filter: stage '{stage}' declares it without `filter`; {}", columns(.known))]
    NotFilterable {
        /// The name as given.
        given: String,
        /// The stage that writes the column.
        stage: String,
        /// The columns that conditions can name.
        known: Vec<String>,
    },
    /// A value that cannot equal any value of the column's type.
    #[error("Invalid value '{given}' for the column '{key}' of type {kind}: {}", expected(*.kind, .given))]
    Value {
        /// Name of the column.
        key: String,
        /// The value as given.
        given: String,
        /// Type of the column.
        kind: ColumnKind,
    },
    /// An operator that the column's type does not support.
    #[error("The column '{key}' of type {kind} has no order for `{operator}`; it can be compared with =, != and in")]
    Operator {
        /// Name of the column.
        key: String,
        /// The operator.
        operator: &'static str,
        /// Type of the column.
        kind: ColumnKind,
    },
}

/// An error in applying a filter to an index.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SelectError {
    /// The filter does not fit the index.
    #[error(transparent)]
    Filter(#[from] FilterError),
    /// The index cannot be read.
    #[error(transparent)]
    Storage(#[from] StorageError),
    /// The search was cancelled.
    #[error(transparent)]
    Cancelled(#[from] Cancelled),
}

fn columns(known: &[String]) -> String {
    if known.is_empty() { "its chunks have no metadata".to_owned() } else { format!("columns: {}", known.join(", ")) }
}

fn no_language(help: &Option<String>, known: &[String]) -> String {
    match help {
        Some(_) => bracketed(help),
        None if known.is_empty() => String::new(),
        None => format!("; indexed languages: {}", known.join(", ")),
    }
}

fn bracketed(help: &Option<String>) -> String {
    help.as_deref().map(|help| format!(" ({help})")).unwrap_or_default()
}

fn expected(kind: ColumnKind, given: &str) -> String {
    if kind.is_number() {
        return "give a number, such as 5 or 0.5, or a range, such as 1..5".to_owned();
    }
    format!("give true or false{}", bracketed(&did_you_mean(given, ["true", "false"])))
}

fn valid_types() -> String {
    ChunkType::ALL.iter().map(|kind| kind.as_str()).collect::<Vec<_>>().join(", ")
}
