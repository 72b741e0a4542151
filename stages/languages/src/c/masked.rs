//! The parts of a source that the grammars cannot read, masked.

use crate::c::{conditionals, lexer, macros};
use crate::mask::Mask;

/// Masks conditionals and macros that hide the structure of the source, and raw strings with a delimiter of maximum
/// length. Returns `None` if nothing is masked.
pub(crate) fn masked(text: &str) -> Option<String> {
    let mut mask = Mask::new(text);
    conditionals::mask(text, &mut mask);
    let without_conditionals = mask.text();
    macros::mask(without_conditionals.as_deref().unwrap_or(text), &mut mask);
    for string in lexer::longest_raw_strings(text) {
        mask.replace(string.clone(), "\"(");
        mask.replace(string.end - 2..string.end, ")\"");
    }
    mask.text()
}
