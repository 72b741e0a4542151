//! What the tools have in common: arguments, errors, and texts within a budget of tokens.

use aurora_project::{ProjectError, chain};
use aurora_query::{FilterSpec, QueryError, estimate_tokens};
use aurora_storage::StorageError;
use serde::Deserialize;

/// Tokens of an answer unless the call says how many, and most of them.
pub(super) const DEFAULT_BUDGET: usize = 2_000;
const MOST_BUDGET: usize = 50_000;

/// Why a call has no answer.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ToolError {
    /// There is no such tool.
    #[error("there is no tool `{0}`")]
    Unknown(String),
    /// The arguments cannot be understood.
    #[error("{0}")]
    Arguments(String),
    /// The index has no answer.
    #[error("{}", told(.0))]
    Project(#[from] ProjectError),
}

/// An error with what to do about it.
fn told(error: &ProjectError) -> String {
    let help = error.help().map(|help| format!("; {help}"));
    format!("{}{}", chain(error), help.unwrap_or_default())
}

impl From<QueryError> for ToolError {
    fn from(error: QueryError) -> Self {
        Self::Project(error.into())
    }
}

impl From<StorageError> for ToolError {
    fn from(error: StorageError) -> Self {
        Self::Project(error.into())
    }
}

/// The argument that all tools have where several roots are served.
#[derive(Debug, Default, Deserialize)]
pub(super) struct RootArgument {
    #[serde(default)]
    pub(super) root: Option<String>,
}

/// The notes of an answer, as the command line shows them.
pub(super) fn noted(notes: &[String]) -> impl Iterator<Item = String> + '_ {
    notes.iter().map(|note| format!("Note: {note}"))
}

/// Tokens that an answer may have.
pub(super) fn budget(asked: Option<usize>) -> usize {
    asked.unwrap_or(DEFAULT_BUDGET).clamp(1, MOST_BUDGET)
}

/// As many of the lines as fit into a budget, and how many do not.
pub(super) fn within_budget(lines: impl IntoIterator<Item = String>, budget: usize) -> (String, usize) {
    let (mut out, mut tokens, mut left) = (String::new(), 0, 0);
    for line in lines {
        tokens += estimate_tokens(&line) + 1;
        if left > 0 || (tokens > budget && !out.is_empty()) {
            left += 1;
            continue;
        }
        out.push_str(&line);
        out.push('\n');
    }
    (out, left)
}

/// Values in one text, separated by commas, or in a list.
pub(super) fn listed(value: &Option<OneOrMore>) -> Vec<String> {
    match value {
        None => Vec::new(),
        Some(OneOrMore::One(text)) => vec![text.clone()],
        Some(OneOrMore::More(texts)) => texts.clone(),
    }
}

/// A filter with conditions over metadata, checked.
pub(super) fn with_conditions(mut filter: FilterSpec, conditions: &Option<OneOrMore>) -> Result<FilterSpec, ToolError> {
    for condition in listed(conditions) {
        filter.add_condition(&condition).map_err(QueryError::Filter)?;
    }
    filter.check().map_err(QueryError::Filter)?;
    Ok(filter)
}

/// A text, or a list of texts.
#[derive(Debug, Clone, Deserialize)]
#[serde(untagged, expecting = "a text, or a list of texts")]
pub(super) enum OneOrMore {
    One(String),
    More(Vec<String>),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_fit_is_counted() {
        let lines = |count: usize| (0..count).map(|n| format!("line number {n}"));
        assert_eq!(within_budget(lines(2), 1_000), ("line number 0\nline number 1\n".to_owned(), 0));
        let (text, left) = within_budget(lines(100), 20);
        assert!(left > 90 && estimate_tokens(&text) <= 20, "{left} left of {text}");
        assert_eq!(within_budget(lines(1), 1).1, 0, "one line is always shown");
    }
}
