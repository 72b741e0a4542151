//! The semantic role: what the entry is about, and what kind of help it is.

use super::keywords::Ranked;
use super::passages::Standing;
use crate::entry::Entry;
use crate::kind::Kind;
use crate::label;

/// `oauth-decomposition-pattern` for reasoning about OAuth. `None` for an entry without words.
pub(super) fn of(entry: &Entry, ranked: &[Ranked]) -> Option<String> {
    // The title names the subject, even if the text says another word more often.
    let main = Standing::ALL.iter().find_map(|standing| ranked.iter().find(|word| word.standing == *standing));
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
