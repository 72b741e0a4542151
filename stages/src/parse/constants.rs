//! Constants and variables: which of the names that are given to values say what a file or a type holds.

use std::ops::Range;

use rustc_hash::FxHashSet;

use crate::parse::captures::{Captures, ConstantScope};
use crate::parse::symbols::{Constant, Symbol, SymbolKind};

/// The captured names without those that are local, bound by an import or the name of a symbol, ordered by where they
/// stand.
pub(crate) fn constants(captures: &Captures<'_, '_>, symbols: &[Symbol], text: &str) -> Vec<Constant> {
    if captures.values.is_empty() {
        return Vec::new();
    }
    let symbol_names: FxHashSet<usize> =
        captures.definitions.iter().filter(|d| d.kind.is_some()).map(|d| d.name.id()).collect();
    let is_type = |symbol: &&Symbol| symbol.kind.is_container() && symbol.kind != SymbolKind::Module;
    let mut locals = SpanCursor::new(captures.locals.iter().cloned());
    let mut imports =
        SpanCursor::new(captures.imports.iter().map(|node| node.start_byte() as u32..node.end_byte() as u32));
    let mut types = SpanCursor::new(symbols.iter().filter(is_type).map(|symbol| symbol.bytes.clone()));
    let mut found: Vec<Constant> = Vec::new();
    for (node, reach) in &captures.values {
        let at = node.start_byte() as u32;
        let is_in_type = types.holds(at);
        let is_hidden = locals.holds(at) | imports.holds(at) || (is_in_type && *reach == ConstantScope::FileOnly);
        let name = text.get(node.byte_range()).unwrap_or_default();
        let is_known = symbol_names.contains(&node.id()) || found.last().is_some_and(|last| last.at == at);
        if !is_hidden && !is_known && !matches!(name, "" | "_") {
            found.push(Constant { name: name.to_owned(), at });
        }
    }
    found
}

/// Spans in the order of their starts, asked of ever later offsets.
struct SpanCursor<I: Iterator<Item = Range<u32>>> {
    spans: std::iter::Peekable<I>,
    end: u32,
}

impl<I: Iterator<Item = Range<u32>>> SpanCursor<I> {
    fn new(spans: I) -> Self {
        Self { spans: spans.peekable(), end: 0 }
    }

    /// Whether a span holds `at`, which is no less than in the call before.
    fn holds(&mut self, at: u32) -> bool {
        while let Some(span) = self.spans.next_if(|span| span.start <= at) {
            self.end = self.end.max(span.end);
        }
        at < self.end
    }
}
