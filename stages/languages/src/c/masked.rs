//! The parts of a source that the grammars cannot read, masked.

use crate::c::{conditionals, macros};
use crate::mask::Mask;

/// The source without the conditionals and macros that hide its structure; `None` if there are none.
pub(crate) fn masked(text: &str) -> Option<String> {
    let mut mask = Mask::new(text);
    conditionals::mask(text, &mut mask);
    let without_conditionals = mask.text();
    macros::mask(without_conditionals.as_deref().unwrap_or(text), &mut mask);
    mask.text()
}
