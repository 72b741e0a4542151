//! Decides which symbols become chunks, and computes their byte spans.

use std::ops::Range;

use crate::chunk::options::ChunkOptions;
use aurora_languages::lines::{begins_line, line_start};
use aurora_languages::{FileSymbols, Symbol, SymbolKind};

/// The division of a file into symbols that become chunks, and the rest.
pub(crate) struct Layout {
    /// Span of each symbol.
    spans: Vec<Range<u32>>,
    is_chunk: Vec<bool>,
    /// Nearest enclosing chunk of each symbol.
    parents: Vec<Option<u32>>,
    /// Chunks directly inside each symbol.
    holes: Vec<Vec<u32>>,
    /// For each chunk, the symbol itself and the symbols inside it that are not chunks.
    absorbed: Vec<Vec<u32>>,
    /// Chunks that are not inside another chunk.
    top: Vec<u32>,
}

impl Layout {
    pub(crate) fn new(text: &str, symbols: &FileSymbols, options: &ChunkOptions) -> Self {
        let all = &symbols.symbols;
        let mut layout = Self {
            spans: Vec::with_capacity(all.len()),
            is_chunk: Vec::with_capacity(all.len()),
            parents: Vec::with_capacity(all.len()),
            holes: vec![Vec::new(); all.len()],
            absorbed: vec![Vec::new(); all.len()],
            top: Vec::new(),
        };
        let mut in_function = Vec::with_capacity(all.len());
        for (index, symbol) in all.iter().enumerate() {
            let around = symbol.parent.map(|parent| parent as usize);
            let nested = around
                .is_some_and(|p| in_function[p] || matches!(all[p].kind, SymbolKind::Function | SymbolKind::Method));
            in_function.push(nested);
            let bounds = around.map_or(0..text.len() as u32, |parent| layout.spans[parent].clone());
            layout.spans.push(span(text, symbol, &bounds));
            let parent = around.and_then(|p| if layout.is_chunk[p] { Some(p as u32) } else { layout.parents[p] });
            layout.parents.push(parent);
            let is_chunk = is_chunk(symbol, around.map(|p| &all[p]), nested, options);
            layout.is_chunk.push(is_chunk);
            match parent {
                _ if is_chunk => layout.absorbed[index].push(index as u32),
                Some(parent) => layout.absorbed[parent as usize].push(index as u32),
                None => {}
            }
            match parent {
                Some(parent) if is_chunk => layout.holes[parent as usize].push(index as u32),
                None if is_chunk => layout.top.push(index as u32),
                _ => {}
            }
        }
        layout
    }

    pub(crate) fn is_chunk(&self, index: u32) -> bool {
        self.is_chunk[index as usize]
    }

    pub(crate) fn span(&self, index: u32) -> Range<u32> {
        self.spans[index as usize].clone()
    }

    pub(crate) fn parent(&self, index: u32) -> Option<u32> {
        self.parents[index as usize]
    }

    pub(crate) fn holes(&self, index: u32) -> &[u32] {
        &self.holes[index as usize]
    }

    pub(crate) fn absorbed(&self, index: u32) -> Vec<u32> {
        self.absorbed[index as usize].clone()
    }

    /// Returns the runs of text outside all chunks, without surrounding blank lines. With `ignore_punctuation`, omits a
    /// run of punctuation that shares its line with a chunk.
    pub(crate) fn outside(&self, text: &str, ignore_punctuation: bool) -> Vec<Range<u32>> {
        let mut runs = Vec::new();
        let mut from = 0;
        let end = text.len() as u32..text.len() as u32;
        for span in self.top.iter().map(|index| self.span(*index)).chain([end]) {
            if span.start > from || (from == 0 && span.start == from) {
                let run = trim(text, from..span.start.max(from));
                let source = &text[run.start as usize..run.end as usize];
                let is_punctuation =
                    ignore_punctuation && !source.chars().any(char::is_alphanumeric) && !source.contains('\n');
                let shares_line = !begins_line(text, run.start) || !ends_line(text, run.end);
                let is_ignored = run.is_empty() || (is_punctuation && shares_line);
                if !is_ignored {
                    runs.push(run);
                }
            }
            from = from.max(span.end);
        }
        runs
    }
}

fn is_chunk(symbol: &Symbol, around: Option<&Symbol>, nested: bool, options: &ChunkOptions) -> bool {
    let lines = symbol.lines.1.saturating_sub(symbol.lines.0) + 1;
    let is_bare_member =
        symbol.kind == SymbolKind::Method && symbol.body.is_none() && symbol.doc.is_empty() && around.is_some();
    !is_bare_member && (!nested || lines >= options.nested_function_lines)
}

/// Returns the span of a symbol with its documentation. The span begins at the start of the first line if only white
/// space precedes the symbol, and ends at the end of the last line if only punctuation follows.
fn span(text: &str, symbol: &Symbol, bounds: &Range<u32>) -> Range<u32> {
    if symbol.kind == SymbolKind::Section {
        return trim(text, symbol.bytes.clone());
    }
    let start = symbol.doc_bytes.as_ref().map_or(symbol.bytes.start, |doc| doc.start.min(symbol.bytes.start));
    let start = if begins_line(text, start) { line_start(text, start) } else { start };
    let end = symbol.bytes.end + closing(&text[symbol.bytes.end as usize..]) as u32;
    let start = start.clamp(bounds.start, bounds.end);
    // A member does not include the closing punctuation of the enclosing symbol.
    let end = if end >= bounds.end && symbol.parent.is_some() { symbol.bytes.end } else { end };
    start..end.clamp(start, bounds.end)
}

/// Returns the length of the closing punctuation after a definition, or 0 if the rest of the line contains anything
/// else.
fn closing(rest: &str) -> usize {
    let is_closing = |c: char| {
        let opens = matches!(c, '{' | '(' | '[' | '"' | '\'' | '`' | '/' | '#' | '<');
        (c.is_ascii_punctuation() && !opens) || (c.is_ascii_whitespace() && c != '\n')
    };
    // Search from the definition and not from the end of the line, because a file may be one line with many
    // definitions.
    let run = &rest[..rest.find(|c| !is_closing(c)).unwrap_or(rest.len())];
    let is_line = rest[run.len()..].chars().find(|c| *c == '\n' || !c.is_whitespace()).is_none_or(|c| c == '\n');
    if is_line { run.trim_end().len() } else { 0 }
}

fn ends_line(text: &str, at: u32) -> bool {
    text[at as usize..].chars().take_while(|c| *c != '\n').all(char::is_whitespace)
}

/// Returns a span without the blank lines at its start and the white space at its end.
pub(crate) fn trim(text: &str, bytes: Range<u32>) -> Range<u32> {
    let source = text.get(bytes.start as usize..bytes.end as usize).unwrap_or_default();
    let end = source.trim_end().len();
    let blank = source[..end].len() - source[..end].trim_start().len();
    let start = source[..blank].rfind('\n').map_or(0, |feed| feed + 1);
    bytes.start + start as u32..bytes.start + end as u32
}

/// Converts offsets in a text to line numbers.
pub(crate) struct Lines {
    starts: Vec<u32>,
}

impl Lines {
    pub(crate) fn new(text: &str) -> Self {
        let feeds = memchr::memchr_iter(b'\n', text.as_bytes()).map(|at| at as u32 + 1);
        Self { starts: std::iter::once(0).chain(feeds).collect() }
    }

    /// Returns the line number of an offset, counted from 1.
    pub(crate) fn line_number(&self, at: u32) -> u32 {
        self.starts.partition_point(|start| *start <= at) as u32
    }
}
