//! Derives the semantic role of an entry from its subject and its kind.

use super::keywords::Ranked;
use super::passages::Prominence;
use crate::entry::Entry;
use crate::kind::Kind;
use crate::label;

/// Returns the semantic role, such as `oauth-decomposition-pattern` for reasoning about OAuth. Returns `None` for an
/// entry without words, or if the role would not be a valid label.
pub(super) fn derive(entry: &Entry, ranked: &[Ranked]) -> Option<String> {
    // The subject is the best word of the most prominent text, even if another word is more frequent.
    let main = Prominence::ALL.iter().find_map(|prominence| ranked.iter().find(|word| word.prominence == *prominence));
    let subject = main.map(|ranked| ranked.word.as_str()).or_else(|| entry.keywords().first().copied())?;
    let role = format!("{subject}-{}", ending(entry.kind()));
    label::is_label(&role).then_some(role)
}

fn ending(kind: Kind) -> &'static str {
    match kind {
        Kind::Reasoning => "decomposition-pattern",
        Kind::Knowledge => "knowledge",
        Kind::Note => "note",
        Kind::Turn => "turn",
        Kind::Code => "code",
    }
}
