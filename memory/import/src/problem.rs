//! What is to be reported of an import.

use std::fmt;

use aurora_diagnostics::Diagnostics;

/// What became of that which a problem is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ImportEffect {
    /// It is no entry.
    Unmapped,
    /// It is an entry that differs in something from what was read, or a part of one.
    Altered,
}

/// Something that an import reports.
#[derive(Debug, Clone, PartialEq)]
pub struct ImportProblem {
    /// What became of it.
    pub effect: ImportEffect,
    /// The id of the entry.
    pub id: Option<String>,
    /// The source of the entry: a file.
    pub what: String,
    /// The kind of problem, by which problems can be counted.
    pub reason: &'static str,
    /// What is wrong, in a sentence.
    pub why: String,
    /// The mistakes of a document, each with its place.
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

    /// A document with mistakes.
    pub(crate) fn mistaken(what: impl Into<String>, reason: &'static str, mistakes: Diagnostics) -> Self {
        let messages: Vec<&str> = mistakes.iter().map(|mistake| mistake.message.as_str()).collect();
        let why = messages.join("; ");
        Self { mistakes, ..Self::unmapped(what, reason, why) }
    }

    /// The same with an id.
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
