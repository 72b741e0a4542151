//! Assembles the chunks of one file.

use std::ops::Range;

use aurora_storage::{Chunk, ChunkType, Complexity, StoredTokens};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::chunk::TOO_MANY_CHUNKS;
use crate::chunk::definitions::Definitions;
use crate::chunk::keys::Keys;
use crate::chunk::layout::{Layout, Lines, trim};
use crate::chunk::options::ChunkOptions;
use crate::chunk::references::{self, References};
use crate::chunk::splitter::{self, Atom, Segment, weight};
use crate::chunk::words::Words;
use crate::columns::heap_bytes;
use crate::formats;
use aurora_languages::{FileSymbols, Symbol, SymbolKind};

/// A parsed file.
#[derive(Debug, Clone, Copy)]
pub struct Source<'a> {
    /// Path relative to the root, with `/` as the separator.
    pub path: &'a str,
    /// Format of the file, as returned by [`formats::format_of`].
    pub language: &'a str,
    /// The text that was parsed.
    pub text: &'a str,
    /// The symbols that parsing found in the text.
    pub symbols: &'a FileSymbols,
}

/// Fixed part of the memory limit for the chunks of one file, in bytes. The limit exists because chunks repeat shared
/// data such as names and paths. Files written by people stay far below the limit.
const BASE_BYTES: usize = 64 << 20;
/// Number of bytes that each byte of the text adds to the memory limit.
const BYTES_PER_BYTE: usize = 16;

/// The chunks of one file.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct FileChunks {
    /// The chunks in document order.
    pub chunks: Vec<Chunk>,
    /// Reason why the rest of the file has no chunks, or `None` if the chunks cover the whole file.
    pub cut: Option<&'static str>,
    /// Whether a program generated the file. The chunks of a generated file have the metadata `generated = true`.
    pub is_generated: bool,
}

/// Returns the chunks of a file in document order, without history, terms and vectors. If `is_stopped` returns true,
/// the chunks are incomplete, and the caller must discard them.
///
/// Every non-blank line is in at least one chunk, and every byte span is within the text and on character boundaries.
/// The chunk of a type spans the whole definition. Unless the type is small, its text contains only the signatures of
/// members that have their own chunks.
pub fn chunks_of(source: &Source<'_>, options: &ChunkOptions, is_stopped: &dyn Fn() -> bool) -> FileChunks {
    let layout = Layout::new(source.text, source.symbols, options);
    let mut assembler = Assembler {
        source,
        options,
        references: References::new(source.symbols, |index| layout.is_chunk(index)),
        definitions: Definitions::new(source.symbols, &layout),
        symbol_keys: FxHashMap::default(),
        keys: Keys::default(),
        lines: Lines::new(source.text),
        found: FileChunks::default(),
        bytes_left: BASE_BYTES + BYTES_PER_BYTE * source.text.len(),
        layout: &layout,
        is_stopped,
    };
    assembler.name_symbols();
    for index in 0..source.symbols.symbols.len() as u32 {
        if assembler.is_full() {
            break;
        }
        assembler.symbol(index);
    }
    assembler.module_level();
    let mut found = assembler.found;
    if found.cut.is_some() {
        remove_dangling_references(&mut found.chunks);
    }
    found.chunks.sort_by_key(|chunk| chunk.byte_start);
    if let Some(first) = found.chunks.first_mut() {
        first.bindings = references::bindings(source.symbols);
    }
    found
}

/// Removes references to chunks that were left out because a limit was exceeded.
fn remove_dangling_references(chunks: &mut [Chunk]) {
    let keys: FxHashSet<String> = chunks.iter().map(|chunk| chunk.key.clone()).collect();
    for chunk in chunks {
        chunk.parent.take_if(|parent| !keys.contains(parent));
        chunk.dependencies.retain(|key| keys.contains(key));
    }
}

struct Assembler<'a> {
    source: &'a Source<'a>,
    options: &'a ChunkOptions,
    layout: &'a Layout,
    references: References<'a>,
    definitions: Definitions<'a>,
    symbol_keys: FxHashMap<u32, String>,
    keys: Keys,
    lines: Lines,
    found: FileChunks,
    bytes_left: usize,
    is_stopped: &'a dyn Fn() -> bool,
}

impl<'a> Assembler<'a> {
    /// Whether a limit was exceeded or the caller requested a stop.
    fn is_full(&self) -> bool {
        self.found.cut.is_some() || (self.is_stopped)()
    }

    /// Adds a chunk. If the chunk exceeds a limit, records the reason instead.
    fn push(&mut self, chunk: Chunk) {
        let bytes = heap_bytes(&chunk) + size_of::<Chunk>();
        if self.found.chunks.len() >= self.options.max_chunks {
            self.found.cut = Some(TOO_MANY_CHUNKS);
        } else if bytes > self.bytes_left {
            self.found.cut = Some("the chunks need too much memory: the rest of the file was not indexed");
        } else {
            self.bytes_left -= bytes;
            self.found.chunks.push(chunk);
        }
    }

    /// Assigns keys to definitions. Module-level code gets its keys later, because it must not take the plain key of a
    /// definition.
    fn name_symbols(&mut self) {
        for (index, symbol) in self.source.symbols.symbols.iter().enumerate() {
            if self.layout.is_chunk(index as u32) {
                let key = self.keys.next(self.prefix(), self.source.path, &symbol.qualified_name);
                self.symbol_keys.insert(index as u32, key);
            }
        }
    }

    fn symbol(&mut self, index: u32) {
        let Some(key) = self.symbol_keys.get(&index).cloned() else { return };
        let symbol = &self.source.symbols.symbols[index as usize];
        let span = self.layout.span(index);
        let segments = self.segments(index, symbol, span.clone());
        let pieces =
            splitter::split(self.source.text, &segments, &self.source.symbols.boundaries, self.options.max_size);
        let absorbed = self.layout.absorbed(index);
        let sum =
            |count: fn(&Symbol) -> u32| absorbed.iter().map(|i| count(&self.source.symbols.symbols[*i as usize])).sum();
        let complexity = complexity(sum(|s| s.branches), sum(|s| s.loops));
        let calls = self.calls(symbol, &absorbed);
        let parent = self.parent(index);
        let is_split = pieces.len() > 1;
        let words = if is_split { words_in_calls(&calls) } else { Words::new(std::iter::empty(), 0) };
        let definitions = self.definitions.names_by_piece(Some(index), &absorbed, &pieces);
        for (n, (piece, definitions)) in pieces.into_iter().zip(definitions).enumerate() {
            if self.is_full() {
                return;
            }
            let text = self.render(&piece);
            let bytes = if is_split { self.trimmed(&piece) } else { span.clone() };
            let calls = if is_split { calls_in(&calls, &words, &text) } else { calls.clone() };
            let (key, parent) = match n {
                0 => (key.clone(), parent.clone()),
                _ => (self.keys.piece(&key), Some(key.clone())),
            };
            let chunk = Chunk {
                chunk_type: self.chunk_type(symbol.kind),
                name: symbol.name.clone(),
                qualified_name: symbol.qualified_name.clone(),
                signature: symbol.signature.clone(),
                doc: if n == 0 { symbol.doc.clone() } else { String::new() },
                definitions,
                tokens: StoredTokens::default(),
                imports: self.references.imports_in(&text),
                dependencies: self.dependencies(Some(index), &calls),
                exported: symbol.exported,
                parent,
                calls,
                bases: if n == 0 { symbol.bases.clone() } else { Vec::new() },
                complexity,
                ..self.chunk(key, bytes, text)
            };
            self.push(chunk);
        }
    }

    /// Adds the chunks of module-level code, which is the text between symbols. Small runs of text are merged, and
    /// large runs are split.
    fn module_level(&mut self) {
        // A custom stage can define symbols in a language that is not built in. The text between such symbols is code.
        let has_sections = self.source.symbols.symbols.iter().all(|symbol| symbol.kind == SymbolKind::Section);
        let is_prose =
            (has_sections || formats::has_code(self.source.language)) && formats::is_prose(self.source.language);
        let runs = self.layout.outside(self.source.text, !is_prose);
        let mut groups: Vec<(Vec<Segment>, usize, usize)> = Vec::new();
        for bytes in runs {
            let size = weight(slice(self.source.text, &bytes));
            let segment = Segment { bytes, hole: None };
            match groups.last_mut() {
                Some((segments, total, last))
                    if (*last < self.options.min_size || size < self.options.min_size)
                        && *total + size <= self.options.max_size =>
                {
                    segments.push(segment);
                    *total += size;
                    *last = (*last).max(size);
                }
                _ => groups.push((vec![segment], size, size)),
            }
        }
        let name = self.source.path.rsplit('/').next().unwrap_or(self.source.path);
        let words = words_in_calls(&self.source.symbols.calls);
        for (n, (segments, ..)) in groups.into_iter().enumerate() {
            if self.is_full() {
                return;
            }
            let first = self.keys.next(self.prefix(), self.source.path, name);
            let pieces =
                splitter::split(self.source.text, &segments, &self.source.symbols.boundaries, self.options.max_size);
            let definitions = self.definitions.names_by_piece(None, &[], &pieces);
            for (part, (piece, definitions)) in pieces.into_iter().zip(definitions).enumerate() {
                if self.is_full() {
                    return;
                }
                let text = self.render(&piece);
                let (key, parent) = match part {
                    0 => (first.clone(), None),
                    _ => (self.keys.piece(&first), Some(first.clone())),
                };
                let calls = calls_in(&self.source.symbols.calls, &words, &text);
                let chunk = Chunk {
                    chunk_type: if is_prose { self.chunk_type(SymbolKind::Section) } else { ChunkType::Code },
                    name: name.to_owned(),
                    qualified_name: name.to_owned(),
                    doc: if n == 0 && part == 0 { self.source.symbols.doc.clone() } else { String::new() },
                    definitions,
                    imports: self.references.imports_in(&text),
                    dependencies: self.dependencies(None, &calls),
                    exported: true,
                    parent,
                    calls,
                    ..self.chunk(key, self.trimmed(&piece), text)
                };
                self.push(chunk);
            }
        }
    }

    /// Returns a chunk with the fields that all chunks of the file share.
    fn chunk(&self, key: String, bytes: Range<u32>, text: String) -> Chunk {
        // In a text with errors, a definition may end with blank lines.
        let last = bytes.start + slice(self.source.text, &bytes).trim_end_matches('\n').len() as u32;
        Chunk {
            path: self.source.path.to_owned(),
            language: formats::family_of(self.source.language).to_owned(),
            line_start: self.lines.line_number(bytes.start),
            line_end: self.lines.line_number(last.saturating_sub(1).max(bytes.start)),
            byte_start: bytes.start,
            byte_end: bytes.end,
            content_hash: Chunk::digest(&text),
            text,
            ..Chunk::empty(key, ChunkType::Code)
        }
    }

    fn segments(&self, index: u32, symbol: &Symbol, span: Range<u32>) -> Vec<Segment> {
        let lines =
            self.lines.line_number(span.end.saturating_sub(1)).saturating_sub(self.lines.line_number(span.start)) + 1;
        if symbol.kind.is_container() && lines <= self.options.whole_type_lines {
            return vec![Segment { bytes: span, hole: None }];
        }
        let mut segments = Vec::new();
        let mut from = span.start;
        for child in self.layout.holes(index) {
            let hole = self.layout.span(*child);
            if hole.start < from {
                continue;
            }
            if from < hole.start {
                segments.push(Segment { bytes: from..hole.start, hole: None });
            }
            let signature_weight = weight(&self.source.symbols.symbols[*child as usize].signature);
            from = hole.end;
            segments.push(Segment { bytes: hole, hole: Some((*child, signature_weight)) });
        }
        if from < span.end || segments.is_empty() {
            segments.push(Segment { bytes: from..span.end, hole: None });
        }
        segments
    }

    /// Renders the text of a piece: the source, with every hole replaced by the signature of its symbol.
    fn render(&self, piece: &[Atom]) -> String {
        let mut text = String::new();
        let mut end = None;
        for atom in piece {
            let source = slice(self.source.text, &atom.bytes);
            if end.is_some_and(|end| end != atom.bytes.start) && !text.ends_with('\n') {
                text.push('\n');
            }
            end = Some(atom.bytes.end);
            let Some(hole) = atom.hole else {
                text.push_str(source);
                continue;
            };
            let indent = source.len() - source.trim_start_matches([' ', '\t']).len();
            text.push_str(&source[..indent]);
            text.push_str(&self.source.symbols.symbols[hole as usize].signature);
        }
        let end = text.trim_end().len();
        text.truncate(end);
        let blank = text.len() - text.trim_start().len();
        let start = text[..blank].rfind('\n').map_or(0, |feed| feed + 1);
        text.drain(..start);
        text
    }

    /// Returns the span of a piece without the blank lines at its ends.
    fn trimmed(&self, piece: &[Atom]) -> Range<u32> {
        let start = piece.first().map_or(0, |atom| atom.bytes.start);
        let end = piece.last().map_or(start, |atom| atom.bytes.end);
        trim(self.source.text, start..end)
    }

    /// Returns the calls of a symbol and of the symbols that it absorbs, and the bases of the symbol, without
    /// duplicates.
    fn calls(&self, symbol: &Symbol, absorbed: &[u32]) -> Vec<String> {
        let inner = absorbed.iter().flat_map(|i| &self.source.symbols.symbols[*i as usize].calls);
        let mut seen = FxHashSet::default();
        inner.chain(&symbol.bases).filter(|name| seen.insert(name.as_str())).cloned().collect()
    }

    fn dependencies(&self, index: Option<u32>, calls: &[String]) -> Vec<String> {
        let mut seen = FxHashSet::default();
        let targets = calls.iter().filter_map(|call| self.references.definition(call, index));
        targets
            .filter(|target| seen.insert(*target))
            .filter_map(|target| self.symbol_keys.get(&target))
            .cloned()
            .collect()
    }

    /// Returns the key of the parent chunk: the type that owns the symbol, or else the enclosing chunk.
    fn parent(&self, index: u32) -> Option<String> {
        let symbol = &self.source.symbols.symbols[index as usize];
        let owner = symbol.owner.as_deref().and_then(|owner| self.references.find_qualified(owner));
        let around = self.layout.parent(index);
        owner
            .filter(|owner| *owner != index)
            .and_then(|o| self.symbol_keys.get(&o))
            .or_else(|| self.symbol_keys.get(&around?))
            .cloned()
    }

    fn prefix(&self) -> &'static str {
        match self.chunk_type(SymbolKind::Section) {
            ChunkType::Kb => "kb",
            ChunkType::Doc => "doc",
            _ => "code",
        }
    }

    fn chunk_type(&self, kind: SymbolKind) -> ChunkType {
        match kind {
            SymbolKind::Function => ChunkType::Function,
            SymbolKind::Method => ChunkType::Method,
            SymbolKind::Class => ChunkType::Class,
            SymbolKind::Interface => ChunkType::Interface,
            SymbolKind::Type => ChunkType::Type,
            SymbolKind::Struct => ChunkType::Struct,
            SymbolKind::Enum => ChunkType::Enum,
            SymbolKind::Module | SymbolKind::Implementation | SymbolKind::Block => ChunkType::Code,
            SymbolKind::Section => match aurora_languages::by_name(self.source.language) {
                None => ChunkType::Doc,
                Some(language) if language.is_prose() => ChunkType::Kb,
                Some(_) => ChunkType::Code,
            },
        }
    }
}

/// Computes the complexity. With d decisions, the cyclomatic complexity (McCabe 1976) is d + 1. The score is d / (d +
/// 10), so McCabe's limit of ten corresponds to a score of about one half.
fn complexity(branches: u32, loops: u32) -> Complexity {
    let decisions = (branches + loops) as f32;
    Complexity { branches, loops, score: decisions / (decisions + 10.0) }
}

fn words_in_calls(calls: &[String]) -> Words<'_> {
    Words::new(calls.iter().map(String::as_str).zip(0..), 1)
}

/// Returns the calls that occur in a text.
fn calls_in(calls: &[String], words: &Words<'_>, text: &str) -> Vec<String> {
    words.numbers_in(text).into_iter().map(|call| calls[call as usize].clone()).collect()
}

fn slice<'t>(text: &'t str, bytes: &Range<u32>) -> &'t str {
    text.get(bytes.start as usize..bytes.end as usize).unwrap_or_default()
}
