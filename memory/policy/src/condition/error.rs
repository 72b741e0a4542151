//! The error of an invalid condition.

use std::ops::Range;

use thiserror::Error;

/// The first error in an invalid condition.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{cause} at bytes {}..{}; expected {expected}{}", span.start, span.end, in_parentheses(suggestion.as_deref()))]
pub struct ConditionError {
    /// The byte range of the invalid text.
    pub span: Range<usize>,
    /// A description of the problem.
    pub cause: String,
    /// A description of the text that the parser expected instead.
    pub expected: String,
    /// A likely fix, such as ``did you mean `score`?``.
    pub suggestion: Option<String>,
}

impl ConditionError {
    pub(super) fn new(span: Range<usize>, cause: impl Into<String>, expected: impl Into<String>) -> Self {
        Self { span, cause: cause.into(), expected: expected.into(), suggestion: None }
    }

    pub(super) fn suggest(self, suggestion: Option<String>) -> Self {
        Self { suggestion, ..self }
    }
}

fn in_parentheses(suggestion: Option<&str>) -> String {
    suggestion.map(|text| format!(" ({text})")).unwrap_or_default()
}
