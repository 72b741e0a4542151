//! Why a filter is refused.

use aurora_storage::{ChunkType, ColumnKind, StorageError};
use aurora_suggest::did_you_mean;

use crate::filter::operand::ListProblem;

use crate::work::Cancelled;

/// Maximum length of a pattern, glob, condition or name, in bytes.
pub(crate) const MAX_VALUE_BYTES: usize = 4 << 10;
/// Maximum number of patterns, globs, conditions or lists of names.
pub(crate) const MAX_VALUES: usize = 256;
/// Maximum length of all values of one kind together, in bytes.
pub(crate) const MAX_TOTAL_BYTES: usize = 16 << 10;
/// Maximum memory of the compiled patterns of one filter, in bytes.
pub(crate) const MAX_PATTERN_BYTES: usize = 8 << 20;

/// A filter that cannot be understood.
#[derive(Debug, thiserror::Error)]
pub enum FilterError {
    /// Not a chunk type.
    #[error("Invalid chunk type '{given}'. Valid types: {}{}", valid_types(), bracketed(.help))]
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
    /// A path outside all indexed directories.
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
    /// Not a regular expression.
    #[error("Invalid pattern '{given}': {reason} (`fixed` searches for a text as it is)")]
    Pattern {
        /// The pattern as given.
        given: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The patterns together take too much memory.
    #[error(
        "Invalid pattern '{given}': it needs more memory than patterns may take, {} MiB together; \
         a smaller repetition, or [a-z] in place of \\w, needs less",
        MAX_PATTERN_BYTES >> 20
    )]
    PatternMemory {
        /// The first pattern for which there was no room.
        given: String,
    },
    /// Too many or too long values.
    #[error(
        "{what}: at most {MAX_VALUES} are taken, of at most {MAX_VALUE_BYTES} bytes each and {MAX_TOTAL_BYTES} bytes in all"
    )]
    TooMuch {
        /// Which values.
        what: &'static str,
    },
    /// Not a condition.
    #[error(
        "Invalid condition '{0}'. Conditions are written as a column, one of = != < <= > >=, and a value, such as \
         owner=payments or 'churn>5', or with a list, such as 'owner in payments,billing'; in quotes because a shell \
         takes < and > for itself"
    )]
    Condition(String),
    /// A list that cannot be read.
    #[error("Invalid list in '{given}': {problem}")]
    List {
        /// The condition as given.
        given: String,
        /// The mistake.
        problem: ListProblem,
    },
    /// A range of numbers whose ends are in the wrong order.
    #[error("The range '{given}' for the column '{key}' is empty: the lower number comes first")]
    Range {
        /// Name of the column.
        key: String,
        /// The range as given.
        given: String,
    },
    /// Not a column of the index.
    #[error("No column '{given}' in this index; {}{}", columns(.known), bracketed(.help))]
    Column {
        /// The name as given.
        given: String,
        /// What was probably meant.
        help: Option<String>,
        /// The columns that chunks can be filtered by.
        known: Vec<String>,
    },
    /// A column without the use `filter`.
    #[error("The column '{given}' cannot be filtered by: stage '{stage}' declares it without `filter`; {}", columns(.known))]
    NotFilterable {
        /// The name as given.
        given: String,
        /// The stage that writes the column.
        stage: String,
        /// The columns that chunks can be filtered by.
        known: Vec<String>,
    },
    /// A value that no value of the column's type equals.
    #[error("Invalid value '{given}' for the column '{key}' of type {kind}: {}", expected(*.kind, .given))]
    Value {
        /// Name of the column.
        key: String,
        /// The value as given.
        given: String,
        /// Type of the column.
        kind: ColumnKind,
    },
    /// An operator that the column's type does not have.
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

/// Why chunks cannot be selected.
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
    ChunkType::ALL.map(ChunkType::as_str).join(", ")
}
