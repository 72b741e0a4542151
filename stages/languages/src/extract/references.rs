//! Assigns calls, base types, branches and loops to symbols.

use rustc_hash::FxHashSet;

use crate::extract::captures::Reference;
use crate::extract::scope::Scope;
use crate::symbols::Symbol;

/// Assigns every reference to the innermost enclosing symbol, and returns the calls outside all symbols. References
/// must be ordered by offset, scopes by start.
pub(super) fn assign_references(
    references: &[(u32, Reference<'_>)],
    scopes: &[Scope<'_>],
    symbols: &mut [Symbol],
) -> Vec<String> {
    let mut outside = Vec::new();
    let (mut calls, mut bases, mut locals) = (FxHashSet::default(), FxHashSet::default(), FxHashSet::default());
    let mut open: Vec<&Scope<'_>> = Vec::new();
    let mut next = scopes.iter().peekable();
    for (at, reference) in references {
        while let Some(scope) = next.next_if(|scope| scope.bytes.start <= *at) {
            while open.pop_if(|last| last.bytes.end <= scope.bytes.start).is_some() {}
            open.push(scope);
        }
        while open.pop_if(|last| last.bytes.end <= *at).is_some() {}
        let symbol = open.last().and_then(|scope| scope.symbol);
        let is_local = |name: &str| {
            let around = open.iter().map(|scope| scope.symbol).chain([None]);
            around.into_iter().any(|symbol| locals.contains(&(symbol, name)))
        };
        let reference = match reference {
            Reference::Name(name) if is_local(name) => continue,
            Reference::Name(name) => &Reference::Call(name),
            Reference::Local(name) => {
                locals.insert((symbol, *name));
                continue;
            }
            reference => reference,
        };
        match (reference, symbol) {
            (Reference::Call(name), None) if !name.is_empty() && calls.insert((None, *name)) => {
                outside.push((*name).to_owned());
            }
            (Reference::Call(name), Some(i)) if !name.is_empty() && calls.insert((symbol, *name)) => {
                symbols[i as usize].calls.push((*name).to_owned());
            }
            (Reference::Base(name), Some(i)) if !name.is_empty() && bases.insert((i, *name)) => {
                symbols[i as usize].bases.push((*name).to_owned());
            }
            (Reference::Branch, Some(i)) => symbols[i as usize].branches += 1,
            (Reference::Loop, Some(i)) => symbols[i as usize].loops += 1,
            _ => {}
        }
    }
    outside
}
