//! From captures to symbols: nesting, names, documentation, and what is counted towards whom.

use std::ops::Range;

use rustc_hash::{FxHashMap, FxHashSet};
use tree_sitter::Node;

use crate::languages::{FileDoc, Language, VisibilityContext};
use crate::parse::captures::{Captures, Definition, Occurrence};
use crate::parse::constants::constants;
use crate::parse::deadline::Deadline;
use crate::parse::docs::{self, Attached};
use crate::parse::parser::ParseFailure;
use crate::parse::signature::signature;
use crate::parse::symbols::{FileSymbols, Import, Symbol, SymbolKind, bounded};

/// Bytes of documentation that the symbols of one file may have: this many, and [`DOC_BYTES_PER_BYTE`] for each byte of
/// its text. What is defined together shares the comment before it.
const LEAST_DOC_BYTES: usize = 1 << 20;
const DOC_BYTES_PER_BYTE: usize = 8;

/// Bytes of a declaration that its signature is taken from.
const LONGEST_DECLARATION: usize = 16 << 10;

/// The symbols of one file, at most `most` of them and as many imports.
///
/// # Errors
/// See [`Deadline::check`].
pub(crate) fn assemble<'t>(
    language: &Language,
    root: Node<'t>,
    captures: Captures<'t, 't>,
    text: &'t str,
    most: usize,
    deadline: &Deadline<'_>,
) -> Result<FileSymbols, ParseFailure> {
    let mut imports: Vec<Import> = Vec::new();
    for node in &captures.imports {
        deadline.tick()?;
        (language.imports)(*node, text, &mut imports);
        if imports.len() > most {
            break;
        }
    }
    let mut builder = OutlineBuilder {
        language,
        captures: &captures,
        text,
        scopes: Vec::new(),
        symbols: Vec::new(),
        open: Vec::new(),
        before: AttachedCache::default(),
        doc_bytes_left: LEAST_DOC_BYTES + DOC_BYTES_PER_BYTE * text.len(),
    };
    let mut is_cut = imports.len() > most;
    imports.truncate(most);
    for definition in wrapped(&captures) {
        deadline.tick()?;
        if builder.symbols.len() == most {
            is_cut = true;
            break;
        }
        builder.define(definition);
    }
    let OutlineBuilder { scopes, mut symbols, .. } = builder;
    let calls = count(&captures, &scopes, &mut symbols);
    let mut found = FileSymbols {
        symbols,
        imports,
        calls,
        doc: file_doc(language, root, &captures, text),
        errors: captures.errors,
        cut: is_cut
            .then_some("more definitions or imports than `max_symbols`: what follows them was taken as plain text"),
        ..FileSymbols::default()
    };
    found.constants = constants(&captures, &found.symbols, text);
    merge_overloads(&mut found.symbols, language, text);
    Ok(found)
}

/// A definition with everything around it that belongs to it.
struct WrappedDefinition<'t> {
    definition: Definition<'t>,
    outer: Node<'t>,
    exported: bool,
}

fn wrapped<'t>(captures: &Captures<'t, '_>) -> Vec<WrappedDefinition<'t>> {
    let wrap = |definition: &Definition<'t>| {
        let (mut outer, mut exported) = (definition.node, false);
        while let Some((around, exports)) = captures.outers.get(&outer.id()) {
            outer = *around;
            exported |= exports;
        }
        WrappedDefinition { definition: *definition, outer, exported }
    };
    let mut all: Vec<_> = captures.definitions.iter().map(wrap).collect();
    all.sort_by_key(|w| (w.outer.start_byte(), usize::MAX - w.outer.end_byte(), w.definition.node.start_byte()));
    all
}

/// A definition or scope while the file is read from top to bottom.
struct Scope {
    bytes: Range<u32>,
    /// What its members' names begin with.
    prefix: String,
    /// The nearest symbol: itself, or for a scope the one around it.
    symbol: Option<u32>,
    kind: Option<SymbolKind>,
}

struct OutlineBuilder<'a, 't> {
    language: &'a Language,
    captures: &'a Captures<'t, 't>,
    text: &'t str,
    scopes: Vec<Scope>,
    symbols: Vec<Symbol>,
    /// Indices of the scopes around the current offset.
    open: Vec<usize>,
    before: AttachedCache,
    doc_bytes_left: usize,
}

/// What stands before the definition that begins at an offset; `const a = …, b = …` are many that begin at one.
#[derive(Clone, Default)]
struct AttachedCache {
    at: Option<u32>,
    attached: Attached,
    /// Lines between the first thing that belongs to the definition and its own first line.
    rows: usize,
}

impl<'t> OutlineBuilder<'_, 't> {
    fn define(&mut self, wrapped: WrappedDefinition<'t>) {
        let WrappedDefinition { definition, outer, exported } = wrapped;
        let start = outer.start_byte() as u32;
        if self.before.at != Some(start) {
            let attached = docs::attached(&self.captures.leading, start, self.text);
            let rows = self.text.get(attached.start as usize..start as usize).map_or(0, |s| s.matches('\n').count());
            self.before = AttachedCache { at: Some(start), attached, rows };
        }
        let AttachedCache { attached, rows: rows_before, .. } = self.before.clone();
        let bytes = attached.start..outer.end_byte() as u32;
        while self.open.pop_if(|last| self.scopes[*last].bytes.end <= bytes.start).is_some() {}
        let around = self.open.last().map(|last| &self.scopes[*last]);
        let parent = around.and_then(|scope| scope.symbol);
        let simple = bounded(self.slice(definition.name).trim_matches(['"', '\'', '`', '#']));
        let is_omitted = |name: &str| self.language.omitted_qualifiers.contains(&name);
        let owner = definition.owner.map(|owner| self.owner(owner)).filter(|owner| !is_omitted(owner));
        let mut prefix = around.map(|scope| scope.prefix.clone()).unwrap_or_default();
        if let Some(segment) = owner {
            self.extend(&mut prefix, segment);
        }
        let owner = match (owner, around.and_then(|scope| scope.kind)) {
            (Some(_), _) | (None, Some(SymbolKind::Implementation)) => Some(prefix.clone()),
            _ => None,
        };
        if definition.kind.is_some() || !is_omitted(simple) {
            self.extend(&mut prefix, simple);
        }
        let scope = Scope { bytes: bytes.clone(), prefix, symbol: parent, kind: definition.kind };
        let Some(kind) = definition.kind else {
            return self.push(scope);
        };
        let in_container =
            around.and_then(|scope| scope.kind).is_some_and(|k| k.is_container() && k != SymbolKind::Module);
        let is_method = kind == SymbolKind::Function && (in_container || owner.is_some());
        let kind = if is_method { SymbolKind::Method } else { kind };
        let signature = self.signature(&definition, outer);
        let (doc, doc_bytes) = self.doc(&definition, attached.doc);
        self.doc_bytes_left = self.doc_bytes_left.saturating_sub(doc.len());
        let visibility = VisibilityContext {
            name: simple,
            signature: &signature,
            exported: exported || self.captures.exports.contains(simple),
            parent: parent.map(|p| (self.symbols[p as usize].kind, self.symbols[p as usize].exported)),
        };
        let exported = (self.language.exported)(&visibility);
        let (name, qualified_name) = match kind {
            SymbolKind::Implementation => (signature.clone(), signature.clone()),
            _ => (simple.to_owned(), scope.prefix.clone()),
        };
        let first_line = outer.start_position().row as u32 + 1;
        let symbol = Symbol {
            kind,
            name,
            qualified_name,
            parent,
            owner,
            lines: (first_line - rows_before as u32, last_line(outer)),
            bytes,
            body: definition.body.map(|body| body.start_byte() as u32),
            signature,
            doc,
            doc_bytes,
            calls: Vec::new(),
            bases: Vec::new(),
            branches: 0,
            loops: 0,
            exported,
            heading_level: 0,
        };
        let scope = Scope { symbol: Some(self.symbols.len() as u32), ..scope };
        self.symbols.push(symbol);
        self.push(scope);
    }

    fn push(&mut self, scope: Scope) {
        self.open.push(self.scopes.len());
        self.scopes.push(scope);
    }

    fn extend(&self, prefix: &mut String, segment: &str) {
        if !prefix.is_empty() {
            prefix.push_str(self.language.separator);
        }
        prefix.push_str(segment);
        prefix.truncate(bounded(prefix).len());
    }

    fn signature(&self, definition: &Definition<'t>, outer: Node<'t>) -> String {
        let start = outer.start_byte() as u32;
        let end = definition.body.map_or(definition.node.end_byte(), |body| body.start_byte());
        let end = self.text.floor_char_boundary(end.min(start as usize + LONGEST_DECLARATION)) as u32;
        let skips = &self.captures.skips;
        let leading = &self.captures.leading;
        let mut skips = skips[skips.partition_point(|skip| skip.start < start)..].iter().peekable();
        let leading = leading[leading.partition_point(|l| l.bytes.start < start)..].iter();
        let mut leading = leading.map(|l| &l.bytes).peekable();
        // Both are in the order of the text, and seldom all are needed.
        let left_out = std::iter::from_fn(|| {
            let comes_first = |skip: &&Range<u32>| leading.peek().is_none_or(|other| skip.start <= other.start);
            skips.next_if(comes_first).or_else(|| leading.next()).cloned()
        });
        signature(self.text, start..end, left_out.take_while(|range| range.start < end))
    }

    fn doc(&self, definition: &Definition<'t>, before: Option<Range<u32>>) -> (String, Option<Range<u32>>) {
        if self.doc_bytes_left == 0 {
            return (String::new(), before);
        }
        let inside = self.language.docstring.zip(definition.body).and_then(|(find, body)| find(body));
        if let Some(range) = inside {
            let source = self.text.get(range.clone()).unwrap_or_default();
            return (docs::docstring_text(source), Some(range.start as u32..range.end as u32));
        }
        let source = before.as_ref().and_then(|range| self.text.get(range.start as usize..range.end as usize));
        (source.map(docs::comment_text).unwrap_or_default(), before)
    }

    fn owner(&self, node: Node<'t>) -> &'t str {
        let owner = self.slice(node);
        owner.strip_suffix(self.language.owner_suffix).unwrap_or(owner)
    }

    fn slice(&self, node: Node<'t>) -> &'t str {
        self.text.get(node.byte_range()).unwrap_or_default()
    }
}

/// Gives every mark to the innermost symbol around it; returns the calls that stand in none.
fn count(captures: &Captures<'_, '_>, scopes: &[Scope], symbols: &mut [Symbol]) -> Vec<String> {
    let mut outside = Vec::new();
    let (mut seen, mut bases) = (FxHashSet::default(), FxHashSet::default());
    let mut open: Vec<&Scope> = Vec::new();
    let mut next = scopes.iter().peekable();
    for (at, mark) in &captures.occurrences {
        while let Some(scope) = next.next_if(|scope| scope.bytes.start <= *at) {
            while open.pop_if(|last| last.bytes.end <= scope.bytes.start).is_some() {}
            open.push(scope);
        }
        while open.pop_if(|last| last.bytes.end <= *at).is_some() {}
        let index = open.last().and_then(|scope| scope.symbol);
        match (mark, index) {
            (Occurrence::Call(name), None) if !name.is_empty() && seen.insert((None, *name)) => {
                outside.push((*name).to_owned())
            }
            (Occurrence::Call(name), Some(i)) if !name.is_empty() && seen.insert((index, *name)) => {
                symbols[i as usize].calls.push((*name).to_owned());
            }
            (Occurrence::Base(name), Some(i)) if !name.is_empty() && bases.insert((i, *name)) => {
                symbols[i as usize].bases.push((*name).to_owned());
            }
            (Occurrence::Branch, Some(i)) => symbols[i as usize].branches += 1,
            (Occurrence::Loop, Some(i)) => symbols[i as usize].loops += 1,
            _ => {}
        }
    }
    outside
}

fn file_doc(language: &Language, root: Node<'_>, captures: &Captures<'_, '_>, text: &str) -> String {
    match language.file_doc {
        FileDoc::None => String::new(),
        FileDoc::Docstring => {
            let range = language.docstring.and_then(|find| find(root));
            range.and_then(|range| text.get(range)).map(docs::docstring_text).unwrap_or_default()
        }
        FileDoc::Prefix(prefix) => {
            let range = docs::first_run(&captures.leading, prefix, text);
            range.and_then(|r| text.get(r.start as usize..r.end as usize)).map(docs::comment_text).unwrap_or_default()
        }
        FileDoc::Before(kind) => {
            let mut cursor = root.walk();
            let node = root.children(&mut cursor).find(|child| child.kind() == kind);
            let range = node.and_then(|n| docs::attached(&captures.leading, n.start_byte() as u32, text).doc);
            range.and_then(|r| text.get(r.start as usize..r.end as usize)).map(docs::comment_text).unwrap_or_default()
        }
    }
}

/// Overload signatures and the implementation that follows them are one symbol: theirs the span and the first
/// signature, its the rest.
fn merge_overloads(symbols: &mut Vec<Symbol>, language: &Language, text: &str) {
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
        || first.body.is_none() || language.overload_marker.is_some_and(|marker| has_decorator(first, marker, text));
    second.body.is_some()
        && matches!(first.kind, SymbolKind::Function | SymbolKind::Method)
        && matches!(second.kind, SymbolKind::Function | SymbolKind::Method)
        && first.parent == second.parent
        && first.qualified_name == second.qualified_name
        && is_declaration()
}

fn has_decorator(symbol: &Symbol, marker: &str, text: &str) -> bool {
    let source =
        text.get(symbol.bytes.start as usize..symbol.body.unwrap_or(symbol.bytes.end) as usize).unwrap_or_default();
    source
        .lines()
        .map(str::trim)
        .any(|line| line.strip_prefix('@').is_some_and(|d| d.rsplit('.').next() == Some(marker)))
}

fn last_line(node: Node<'_>) -> u32 {
    let end = node.end_position();
    let trailing_feed = end.column == 0 && end.row > node.start_position().row;
    (if trailing_feed { end.row } else { end.row + 1 }) as u32
}
