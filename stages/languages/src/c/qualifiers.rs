//! Masks macros between a pointer and its name, such as `api_nonnull` in `char *api_nonnull name`. A word at this
//! position can also be the name itself, as in `char *name api_unused`. It counts as a macro if different words follow
//! it in the same file.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::c::source::Source;
use crate::c::words::{is_builtin, is_macro, is_operator, is_statement};
use crate::mask::Mask;

/// Masks words that precede more than one name.
pub(super) fn mask(source: &Source<'_>, mask: &mut Mask) {
    let positions: Vec<usize> = (1..source.tokens.len()).filter(|at| precedes_name(source, *at)).collect();
    let mut names = FxHashMap::default();
    let mut qualifiers = FxHashSet::default();
    for at in &positions {
        let name = source.word(at + 1);
        if *names.entry(source.word(*at)).or_insert(name) != name {
            qualifiers.insert(source.word(*at));
        }
    }
    let is_qualifier = |at: &usize| qualifiers.contains(source.word(*at));
    positions.into_iter().filter(is_qualifier).for_each(|at| mask.blank(source.bytes(at, at)));
}

/// Whether a word follows `*` or `&`, and the next word ends the declarator.
fn precedes_name(source: &Source<'_>, at: usize) -> bool {
    let name = at + 1;
    let is_name = |at: usize| {
        let word = source.word(at);
        source.is_word(at) && !is_builtin(word) && !is_statement(word) && !is_operator(word)
    };
    let is_attribute = is_macro(source.word(name)) || source.word(name).starts_with("__");
    let ends = |at: usize| b",)=([;{".iter().any(|mark| source.is(at, *mark));
    (source.is(at - 1, b'*') || source.is(at - 1, b'&'))
        && is_name(at)
        && is_name(name)
        && !is_attribute
        && (ends(name + 1) || (source.is(name + 1, b':') && source.is(name + 2, b':')))
}
