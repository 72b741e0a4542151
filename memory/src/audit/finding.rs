//! Findings of an audit.

use serde::Serialize;

use crate::place::Owner;

/// Maximum length in characters of a quotation in a finding.
const MAX_QUOTED_CHARS: usize = 60;

/// The kind of a finding. The comments are also the help texts of the command line.
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum FindingKind {
    /// An older entry of the same kind, scope and session has the same text
    Duplicate,
    /// An older entry of the same kind, scope and session has almost the same text
    NearDuplicate,
    /// The text repeats a prompt, an instruction to an agent, or a file of instructions
    Echo,
    /// The entry names a file or definition of the project that no longer exists
    MissingCode,
    /// A commit has changed code that the entry names, after the last change of the entry
    ChangedCode,
    /// A newer entry has another value for the same key
    Contradiction,
    /// The stored entry contains a secret
    Secret,
    /// No search has returned the entry for a long time after it was added
    NeverRetrieved,
}

/// The change that resolves a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Repair {
    /// Remove the entry.
    Remove,
    /// Edit the entry.
    Edit,
}

/// A finding about an entry.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// The kind of the finding.
    pub kind: FindingKind,
    /// The owner of the memory that contains the entry.
    pub memory: Owner,
    /// The id of the entry.
    pub id: String,
    /// A description of the finding, as one line without a period.
    pub detail: String,
    /// The id of the other entry in a duplicate or a contradiction.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub other: Option<String>,
    /// The change that resolves the finding.
    #[serde(skip)]
    pub repair: Repair,
}

/// Quotes a text in a finding. Shortens it to one line, and masks its secrets.
pub(super) fn quoted(text: &str) -> String {
    let text = aurora_redact::masked(text.split_whitespace().collect::<Vec<_>>().join(" "));
    match text.char_indices().nth(MAX_QUOTED_CHARS) {
        Some((end, _)) => format!("`{}…`", &text[..end]),
        None => format!("`{text}`"),
    }
}
