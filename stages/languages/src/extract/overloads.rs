//! Overload declarations and their implementation.

use rustc_hash::FxHashMap;

use crate::language::Language;
use crate::symbols::{Symbol, SymbolKind};

/// Merges overload declarations with the implementation that follows them. The merged symbol starts at the first
/// declaration and has its signature; everything else comes from the implementation.
pub(super) fn merge_overloads(symbols: &mut Vec<Symbol>, language: &Language, text: &str) {
    let mut moved: FxHashMap<u32, u32> = FxHashMap::default();
    let mut merged: Vec<Symbol> = Vec::with_capacity(symbols.len());
    for (old, mut symbol) in std::mem::take(symbols).into_iter().enumerate() {
        symbol.parent = symbol.parent.and_then(|parent| moved.get(&parent).copied());
        while let Some(overload) = merged.pop_if(|last| is_overload(last, &symbol, language, text)) {
            symbol.bytes.start = overload.bytes.start;
            symbol.lines.0 = overload.lines.0;
            symbol.signature = overload.signature;
            symbol.exported |= overload.exported;
            if symbol.doc.is_empty() || !overload.doc.is_empty() {
                (symbol.doc, symbol.doc_bytes) = (overload.doc, overload.doc_bytes);
            }
        }
        moved.insert(old as u32, merged.len() as u32);
        merged.push(symbol);
    }
    *symbols = merged;
}

fn is_overload(first: &Symbol, second: &Symbol, language: &Language, text: &str) -> bool {
    let is_declaration =
        || first.body.is_none() || language.overload_decorator.is_some_and(|name| has_decorator(first, name, text));
    second.body.is_some()
        && matches!(first.kind, SymbolKind::Function | SymbolKind::Method)
        && matches!(second.kind, SymbolKind::Function | SymbolKind::Method)
        && first.parent == second.parent
        && first.qualified_name == second.qualified_name
        && is_declaration()
}

fn has_decorator(symbol: &Symbol, name: &str, text: &str) -> bool {
    let end = symbol.body.unwrap_or(symbol.bytes.end);
    let declaration = text.get(symbol.bytes.start as usize..end as usize).unwrap_or_default();
    let mut decorators = declaration.lines().filter_map(|line| line.trim().strip_prefix('@'));
    decorators.any(|decorator| decorator.rsplit('.').next() == Some(name))
}
