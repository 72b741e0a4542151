//! Selects the constants and variables of a file or a type.

use rustc_hash::FxHashSet;

use crate::extract::captures::{Captures, ConstantScope};
use crate::extract::span_cursor::SpanCursor;
use crate::language::Language;
use crate::spans::{span_of, text_of};
use crate::symbols::{Constant, Symbol};

/// Returns the captured constants, ordered by offset, without local names, names that an import binds, reserved words
/// and the names of symbols.
pub(super) fn constants(
    language: &Language,
    captures: &Captures<'_, '_>,
    symbols: &[Symbol],
    text: &str,
) -> Vec<Constant> {
    if captures.constants.is_empty() {
        return Vec::new();
    }
    let symbol_names: FxHashSet<usize> =
        captures.definitions.iter().filter(|d| d.kind.is_some()).map(|d| d.name.id()).collect();
    let types = symbols.iter().filter(|symbol| symbol.kind.is_type());
    let mut types = SpanCursor::new(types.map(|symbol| symbol.bytes.clone()));
    let mut locals = SpanCursor::new(captures.local_scopes.iter().cloned());
    let imports = captures.imports.iter();
    let mut imports = SpanCursor::new(imports.map(|node| span_of(*node)));
    let mut found: Vec<Constant> = Vec::new();
    for (node, scope) in &captures.constants {
        let at = node.start_byte() as u32;
        let is_in_type = types.covers(at);
        // Both cursors must advance for every name, so the first operator is `|`, which does not short-circuit.
        let is_hidden = (locals.covers(at) && *scope != ConstantScope::Anywhere) | imports.covers(at)
            || (is_in_type && *scope == ConstantScope::FileOnly);
        let name = (language.name_in)(text_of(*node, text));
        let is_known = symbol_names.contains(&node.id())
            || found.last().is_some_and(|last| last.at == at)
            || names_definition(name, at, symbols);
        let is_reserved = !language.has_reserved_members && language.reserved.contains(&text_of(*node, text));
        if !is_hidden && !is_known && !is_reserved && !matches!(name, "" | "_") {
            found.push(Constant { name: name.to_owned(), at });
        }
    }
    found
}

/// Whether the offset is in the header of a definition with this name, such as the tag of `typedef struct a { … } a`.
fn names_definition(name: &str, at: u32, symbols: &[Symbol]) -> bool {
    let after = symbols.partition_point(|symbol| symbol.bytes.start <= at);
    let last = after.checked_sub(1).map(|index| &symbols[index]);
    last.is_some_and(|symbol| symbol.name == name && symbol.body.is_some_and(|body| at < body))
}
