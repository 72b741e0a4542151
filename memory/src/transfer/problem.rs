//! Problems that a transfer reports.

use aurora_diagnostics::Diagnostics;
use serde::Serialize;

/// The effect of a problem on an item.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum TransferEffect {
    /// The item was not imported, because it is not a valid entry for the memory.
    Unmapped,
    /// The entry is not stored, because its score is too low.
    NotStored,
    /// The entry is stored, but differs from its source.
    Altered,
}

/// A problem of a transfer.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TransferProblem {
    /// The effect of the problem.
    pub effect: TransferEffect,
    /// The id of the entry, if known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The source of the item: a line or a file.
    pub what: String,
    /// The kind of problem. Reports count the problems of each kind.
    pub reason: &'static str,
    /// A description of the problem, as one sentence.
    pub why: String,
    /// The mistakes in the document, each with its line.
    #[serde(skip_serializing_if = "Diagnostics::is_empty")]
    pub mistakes: Diagnostics,
}

impl TransferProblem {
    /// Creates the problem of an item that cannot be imported.
    pub fn unmapped(what: impl Into<String>, reason: &'static str, why: impl Into<String>) -> Self {
        Self {
            effect: TransferEffect::Unmapped,
            id: None,
            what: what.into(),
            reason,
            why: why.into(),
            mistakes: Diagnostics::default(),
        }
    }

    /// Creates the problem of an entry that is stored with differences from its source.
    pub fn altered(what: impl Into<String>, reason: &'static str, why: impl Into<String>) -> Self {
        Self { effect: TransferEffect::Altered, ..Self::unmapped(what, reason, why) }
    }

    /// Creates the problem of a document with mistakes.
    pub fn invalid_document(what: impl Into<String>, reason: &'static str, mistakes: Diagnostics) -> Self {
        let messages: Vec<&str> = mistakes.iter().map(|mistake| mistake.message.as_str()).collect();
        let problem = Self::unmapped(what, reason, messages.join("; "));
        Self { mistakes, ..problem }
    }

    /// Creates the problem of an entry whose score is too low. `why` explains the minimum score.
    pub fn not_stored(what: impl Into<String>, id: &str, why: impl Into<String>) -> Self {
        Self { effect: TransferEffect::NotStored, ..Self::unmapped(what, "score", why) }.about(id)
    }

    /// Returns the problem with the id of its entry.
    #[must_use]
    pub fn about(self, id: impl Into<String>) -> Self {
        Self { id: Some(id.into()), ..self }
    }
}
