//! What is to be reported of a transfer.

use aurora_diagnostics::Diagnostics;
use serde::Serialize;

/// What became of that which a problem is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum TransferEffect {
    /// It is no entry of the memory.
    Unmapped,
    /// It is not stored, since its score is too low.
    NotStored,
    /// It is stored, and differs in something from what was read.
    Altered,
}

/// Something that a transfer reports.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TransferProblem {
    /// What became of it.
    pub effect: TransferEffect,
    /// The id, where it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The place of the entry: a line or a file.
    pub what: String,
    /// The kind of problem, by which problems are counted.
    pub reason: &'static str,
    /// What is wrong, in a sentence.
    pub why: String,
    /// The mistakes of a document, each with its line.
    #[serde(skip_serializing_if = "Diagnostics::is_empty")]
    pub mistakes: Diagnostics,
}

impl TransferProblem {
    /// Something that is no entry of the memory.
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

    /// A document with mistakes.
    pub fn mistaken(what: impl Into<String>, reason: &'static str, mistakes: Diagnostics) -> Self {
        let messages: Vec<&str> = mistakes.iter().map(|mistake| mistake.message.as_str()).collect();
        Self { why: messages.join("; "), ..Self::unmapped(what, reason, String::new()) }.with_mistakes(mistakes)
    }

    /// An entry whose score is too low; `why` is the rule.
    pub fn not_stored(what: impl Into<String>, id: &str, why: impl Into<String>) -> Self {
        Self { effect: TransferEffect::NotStored, ..Self::unmapped(what, "score", why) }.about(id)
    }

    /// The same with an id.
    #[must_use]
    pub fn about(self, id: impl Into<String>) -> Self {
        Self { id: Some(id.into()), ..self }
    }

    fn with_mistakes(self, mistakes: Diagnostics) -> Self {
        Self { mistakes, ..self }
    }
}
