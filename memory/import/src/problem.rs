//! Problems of an import.

use std::fmt;

use aurora_diagnostics::Diagnostics;

/// The effect of a problem on the file or entry that it concerns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ImportEffect {
    /// The file is not an entry.
    Unmapped,
    /// The file is an entry that differs from the file in some part.
    Altered,
}

/// A problem of an import.
#[derive(Debug, Clone, PartialEq)]
pub struct ImportProblem {
    /// The effect of the problem.
    pub effect: ImportEffect,
    /// The id of the entry, if known.
    pub id: Option<String>,
    /// The source of the entry: a file.
    pub what: String,
    /// The kind of problem, by which problems can be counted.
    pub reason: &'static str,
    /// A description of the problem, in a sentence.
    pub why: String,
    /// The mistakes of a document, each with its location.
    pub mistakes: Diagnostics,
}

impl ImportProblem {
    pub(crate) fn unmapped(what: impl Into<String>, reason: &'static str, why: impl Into<String>) -> Self {
        Self {
            effect: ImportEffect::Unmapped,
            id: None,
            what: what.into(),
            reason,
            why: why.into(),
            mistakes: Diagnostics::default(),
        }
    }

    pub(crate) fn altered(what: impl Into<String>, reason: &'static str, why: impl Into<String>) -> Self {
        Self { effect: ImportEffect::Altered, ..Self::unmapped(what, reason, why) }
    }

    /// Creates the problem of a document with mistakes.
    pub(crate) fn invalid_document(what: impl Into<String>, reason: &'static str, mistakes: Diagnostics) -> Self {
        let messages: Vec<&str> = mistakes.iter().map(|mistake| mistake.message.as_str()).collect();
        let why = messages.join("; ");
        Self { mistakes, ..Self::unmapped(what, reason, why) }
    }

    /// Sets the id of the entry.
    pub(crate) fn about(self, id: impl Into<String>) -> Self {
        Self { id: Some(id.into()), ..self }
    }
}

impl fmt::Display for ImportProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.what, self.why)
    }
}

impl std::error::Error for ImportProblem {}
