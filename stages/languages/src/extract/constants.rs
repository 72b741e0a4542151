//! Constants and variables of a file or a type.

use rustc_hash::FxHashSet;

use crate::extract::captures::{Captures, ConstantScope};
use crate::extract::span_cursor::SpanCursor;
use crate::language::Language;
use crate::spans::{span_of, text_of};
use crate::symbols::{Constant, Symbol};

/// The captured constants except for those that are local, bound by an import or the name of a symbol, ordered by
/// offset.
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
        // Every cursor must advance, hence no short-circuit between the first two.
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

/// Whether a definition has this name, and the offset is in its header: the tag of `typedef struct a { … } a`.
fn names_definition(name: &str, at: u32, symbols: &[Symbol]) -> bool {
    let after = symbols.partition_point(|symbol| symbol.bytes.start <= at);
    let last = after.checked_sub(1).map(|index| &symbols[index]);
    last.is_some_and(|symbol| symbol.name == name && symbol.body.is_some_and(|body| at < body))
}
