//! Adds the symbols of the parts in other languages to the symbols of the text that contains the parts.

use crate::file_symbols::{FileSymbols, Truncation};
use crate::symbols::{Constant, SymbolKind};

/// Appends the symbols of a part that begins at byte `at` and line `line` of the text. Parts must be added in document
/// order. If the text has sections, call [`nest_parts`] after all parts were added.
pub(crate) fn add_part(found: &mut FileSymbols, mut part: FileSymbols, at: u32, line: u32) {
    let first = found.symbols.len() as u32;
    for symbol in &mut part.symbols {
        symbol.parent = symbol.parent.map(|parent| parent + first);
        symbol.bytes = symbol.bytes.start + at..symbol.bytes.end + at;
        symbol.lines = (symbol.lines.0 + line - 1, symbol.lines.1 + line - 1);
        symbol.body = symbol.body.map(|body| body + at);
        symbol.doc_bytes = symbol.doc_bytes.take().map(|doc| doc.start + at..doc.end + at);
    }
    part.imports.iter_mut().for_each(|import| import.at += at);
    part.constants.iter_mut().for_each(|constant| constant.at += at);
    part.boundaries.iter_mut().for_each(|boundary| boundary.at += at);
    found.symbols.append(&mut part.symbols);
    found.imports.append(&mut part.imports);
    found.constants.append(&mut part.constants);
    found.boundaries.append(&mut part.boundaries);
    found.calls.append(&mut part.calls);
    found.errors += part.errors;
    found.truncation = found.truncation.or(part.truncation);
    if found.doc.is_empty() {
        found.doc = part.doc;
        found.doc_bytes = part.doc_bytes.map(|doc| doc.start + at..doc.end + at);
    }
}

/// Sorts the boundaries and constants after parts were added, and removes repeated boundaries and calls.
pub(crate) fn order_parts(found: &mut FileSymbols) {
    found.boundaries.sort_by_key(|boundary| (boundary.at, boundary.depth));
    found.boundaries.dedup_by_key(|boundary| boundary.at);
    found.constants.sort_by_key(|constant| constant.at);
    let mut seen = rustc_hash::FxHashSet::default();
    found.calls.retain(|call| seen.insert(call.clone()));
}

/// Merges the definitions of parts with the sections of the text in document order. A section becomes the parent of the
/// definitions that it contains.
pub(crate) fn nest_parts(found: &mut FileSymbols) {
    let count = found.symbols.len();
    let mut order: Vec<usize> = (0..count).collect();
    // A section precedes a definition that begins at the same position.
    order.sort_by_key(|index| {
        let symbol = &found.symbols[*index];
        (symbol.bytes.start, symbol.kind != SymbolKind::Section, *index)
    });
    let mut moved = vec![0; count];
    for (to, from) in order.iter().enumerate() {
        moved[*from] = to as u32;
    }
    let mut open: Vec<(u32, u32)> = Vec::new();
    let mut symbols = Vec::with_capacity(count);
    for from in order {
        let mut symbol = found.symbols[from].clone();
        symbol.parent = symbol.parent.map(|parent| moved[parent as usize]);
        while open.pop_if(|(end, _)| *end <= symbol.bytes.start).is_some() {}
        if symbol.kind == SymbolKind::Section {
            open.push((symbol.bytes.end, symbols.len() as u32));
        } else {
            symbol.parent = symbol.parent.or(open.last().map(|(_, section)| *section));
        }
        symbols.push(symbol);
    }
    found.symbols = symbols;
}

/// Records the names of a part's definitions as constants, so that searches for these names find the section that
/// contains the part. The part begins at byte `at` of a document. At most `max_names` constants are kept.
pub(crate) fn name_part(found: &mut FileSymbols, part: FileSymbols, at: u32, max_names: usize) {
    let definitions = part.symbols.into_iter().filter(|symbol| symbol.kind != SymbolKind::Block);
    let names = definitions.map(|symbol| Constant { name: symbol.name, at: symbol.bytes.start + at });
    let room = max_names.saturating_sub(found.constants.len());
    found.constants.extend(names.take(room));
    if part.truncation.is_some() || found.constants.len() == max_names {
        found.truncation = found.truncation.or(Some(Truncation::Definitions));
    }
}
