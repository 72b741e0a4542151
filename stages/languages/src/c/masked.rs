//! Masks the parts of a source that the grammars cannot read.

use crate::c::source::Source;
use crate::c::{conditionals, lexer, macros};
use crate::mask::Mask;

/// Masks conditionals and macros that hide the structure of the source, and raw strings with a delimiter of maximum
/// length. Returns `None` if nothing is masked.
pub(crate) fn masked(text: &str) -> Option<String> {
    let mut mask = Mask::new(text);
    let tokens = lexer::tokens(text);
    conditionals::mask(text, &tokens, &mut mask);
    let without_conditionals = mask.text();
    let source = match &without_conditionals {
        Some(text) => Source::new(text, lexer::tokens(text)),
        None => Source::new(text, tokens),
    };
    macros::mask(&source, &mut mask);
    for string in lexer::longest_raw_strings(text) {
        mask.replace(string.clone(), "\"(");
        mask.replace(string.end - 2..string.end, ")\"");
    }
    mask.text()
}
