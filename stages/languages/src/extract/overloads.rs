//! Merges overload declarations with their implementation, and merges the clauses of a function.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::language::Language;
use crate::symbols::{Symbol, SymbolKind};

/// Merges overload declarations with the implementation that follows them, and each clause with the previous one.
///
/// The merged symbol starts at the first declaration and has its signature. The documentation comes from the first
/// declaration that has documentation, otherwise from the implementation. The merged symbol is exported if one of the
/// symbols is. Everything else comes from the implementation or from all clauses.
pub(super) fn merge_overloads(symbols: &mut Vec<Symbol>, language: &Language, text: &str) {
    let mut moved: FxHashMap<u32, u32> = FxHashMap::default();
    let mut merged: Vec<Symbol> = Vec::with_capacity(symbols.len());
    let mut with_clauses: FxHashSet<usize> = FxHashSet::default();
    for (old, mut symbol) in std::mem::take(symbols).into_iter().enumerate() {
        symbol.parent = symbol.parent.and_then(|parent| moved.get(&parent).copied());
        if let Some(first) = previous_sibling(&merged, &symbol).filter(|i| is_clause(&merged[*i], &symbol, language)) {
            add_clause(&mut merged[first], symbol);
            moved.insert(old as u32, first as u32);
            with_clauses.insert(first);
            continue;
        }
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
    for index in with_clauses {
        let mut seen = FxHashSet::default();
        if let Some(function) = merged.get_mut(index) {
            function.calls.retain(|call| seen.insert(call.clone()));
        }
    }
    *symbols = merged;
}

/// Returns the index of the last of `symbols` with the same parent as `symbol`.
fn previous_sibling(symbols: &[Symbol], symbol: &Symbol) -> Option<usize> {
    let mut index = symbols.len().checked_sub(1)? as u32;
    while symbols[index as usize].parent != symbol.parent && Some(index) != symbol.parent {
        index = symbols[index as usize].parent?;
    }
    (Some(index) != symbol.parent).then_some(index as usize)
}

fn is_clause(first: &Symbol, second: &Symbol, language: &Language) -> bool {
    is_function(first)
        && is_function(second)
        && first.qualified_name == second.qualified_name
        && (language.are_clauses)(&first.signature, &second.signature)
}

fn add_clause(function: &mut Symbol, clause: Symbol) {
    if function.doc.is_empty() && function.body.is_none() {
        (function.doc, function.doc_bytes) = (clause.doc, clause.doc_bytes);
    }
    function.bytes.end = clause.bytes.end;
    function.lines.1 = clause.lines.1;
    function.body = function.body.or(clause.body);
    function.exported |= clause.exported;
    function.branches += clause.branches;
    function.loops += clause.loops;
    function.calls.extend(clause.calls);
}

fn is_function(symbol: &Symbol) -> bool {
    matches!(symbol.kind, SymbolKind::Function | SymbolKind::Method)
}

fn is_overload(first: &Symbol, second: &Symbol, language: &Language, text: &str) -> bool {
    let is_declaration =
        || first.body.is_none() || language.overload_decorator.is_some_and(|name| has_decorator(first, name, text));
    second.body.is_some()
        && is_function(first)
        && is_function(second)
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
