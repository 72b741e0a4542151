//! Parses a text into symbols: parses it once with the grammar, then runs the language's query over the tree.

use std::ops::ControlFlow;
use std::time::Duration;

use aurora_bounded_parser::{BoundedTree, Grammar, Limits, Stopped};

use crate::deadline::Deadline;
use crate::detect::by_alias;
use crate::embedded::Embedded;
use crate::extract::boundaries::boundaries;
use crate::extract::captures::Captures;
use crate::extract::outline::outline;
use crate::extract::{headings, parts, sections};
use crate::failure::ParseFailure;
use crate::fences::fences;
use crate::file_symbols::{FileSymbols, Truncation};
use crate::language::{Language, Sections};
use crate::lines::{LineCounter, line_count};

/// Number of operations between two progress callbacks of tree-sitter.
const OPERATIONS_PER_CHECK: u64 = 100;
/// Maximum number of operations per byte of the text. Real sources, including those with syntax errors, need fewer than
/// three. If a parse exceeds this limit, its error recovery does not end. A single operation of such a recovery can
/// take seconds, so time is limited as well.
const MAX_OPERATIONS_PER_BYTE: u64 = 16;
/// Minimum of the limit on operations, which applies to short texts.
const MIN_OPERATION_LIMIT: u64 = 200_000;
/// Maximum size of copied subtrees in bytes. Real sources, including those with syntax errors, need less than a
/// hundredth of this.
const MAX_COPIED_BYTES: usize = 32 << 20;
/// Maximum number of stack nodes. Real sources, including those with syntax errors, need less than a hundredth of this.
/// Releasing a stack with this many nodes takes half of the 2 MiB stack of a thread.
const MAX_NODES: usize = 10_000;
/// Maximum number of characters that the scanner reads per byte of the text. Real sources need up to 17.
const MAX_READS_PER_BYTE: usize = 128;
/// Minimum of the limit on read characters, which applies to short texts. They may need more characters per byte.
const MIN_READ_LIMIT: usize = 1 << 20;

/// Limits of the work on one text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ParseLimits {
    /// Maximum time for one text.
    pub time: Duration,
    /// Maximum size of the text in bytes.
    pub size: usize,
    /// Maximum number of symbols, and also of imports.
    pub symbols: usize,
}

impl Default for ParseLimits {
    fn default() -> Self {
        Self { time: Duration::from_secs(20), size: 4 << 20, symbols: 50_000 }
    }
}

/// Parses texts of any language.
pub struct Parser {
    limits: ParseLimits,
}

impl Default for Parser {
    fn default() -> Self {
        Self::new()
    }
}

impl Parser {
    /// Creates a parser with the default limits.
    pub fn new() -> Self {
        Self::with_limits(ParseLimits::default())
    }

    /// Creates a parser with the given limits.
    pub fn with_limits(limits: ParseLimits) -> Self {
        Self { limits }
    }

    /// Returns the symbols of a text. If `language` is `None`, the text is plain text, and the symbols are its
    /// sections.
    ///
    /// Syntax errors are skipped and counted in [`FileSymbols::errors`]. If a text cannot be parsed, the result has no
    /// symbols, and [`FileSymbols::failure`] contains the reason.
    ///
    /// The result depends only on the arguments, not on texts parsed before. The only exception is the time limit:
    /// whether a text exceeds it can vary.
    pub fn parse(&self, language: Option<&'static Language>, text: &str) -> FileSymbols {
        self.parse_cancellable(language, text, &|| false)
    }

    /// Like [`Self::parse`], but ends with [`ParseFailure::Cancelled`] soon after `is_cancelled` returns true.
    pub fn parse_cancellable(
        &self,
        language: Option<&'static Language>,
        text: &str,
        is_cancelled: &dyn Fn() -> bool,
    ) -> FileSymbols {
        let deadline = Deadline::new(self.limits.time, is_cancelled);
        let lines = line_count(text);
        let parsed = match language {
            _ if u32::try_from(text.len()).is_err() => Err(ParseFailure::TooLarge),
            Some(Language { sections: Some(Sections::Nodes { max_lines, .. }), .. }) if lines > *max_lines => {
                Ok(FileSymbols { truncation: Some(Truncation::Lines), ..self.parse_plain(text) })
            }
            Some(language) => self.try_parse(language, text, &deadline),
            None => Ok(self.parse_plain(text)),
        };
        file_symbols(parsed, lines)
    }

    /// Parses the sections of plain text and the definitions in its fenced code, such as the cells of a notebook.
    pub fn parse_with_code(&self, text: &str, is_cancelled: &dyn Fn() -> bool) -> FileSymbols {
        let deadline = Deadline::new(self.limits.time, is_cancelled);
        let parsed = match u32::try_from(text.len()) {
            Ok(_) if text.len() <= self.limits.size => self.try_parse_with_code(text, &deadline),
            _ => Err(ParseFailure::TooLarge),
        };
        file_symbols(parsed, line_count(text))
    }

    fn try_parse_with_code(&self, text: &str, deadline: &Deadline<'_>) -> Result<FileSymbols, ParseFailure> {
        let cells = fences(text);
        let mut headings = headings::plain_headings(text);
        // Ignores headings inside code, because a comment in code can look like a heading.
        let cell_at = |at: usize| cells.get(cells.partition_point(|cell| cell.bytes.end <= at));
        headings
            .retain(|heading| cell_at(heading.at as usize).is_none_or(|cell| (heading.at as usize) < cell.bytes.start));
        let mut found = sections::sections(text, headings, self.limits.symbols);
        self.parse_parts(text, cells, deadline, &mut found, parts::add_part)?;
        parts::nest_parts(&mut found);
        parts::order_parts(&mut found);
        Ok(found)
    }

    fn parse_plain(&self, text: &str) -> FileSymbols {
        sections::sections(text, headings::plain_headings(text), self.limits.symbols)
    }

    fn try_parse(
        &self,
        language: &'static Language,
        text: &str,
        deadline: &Deadline<'_>,
    ) -> Result<FileSymbols, ParseFailure> {
        if text.len() > self.limits.size {
            return Err(ParseFailure::TooLarge);
        }
        let mut found = self.parse_one(language, text, self.limits.symbols, deadline)?;
        if let Some(embedded) = language.embedded {
            let add = |found: &mut FileSymbols, part: FileSymbols, at: u32, line: u32| {
                if language.is_prose() {
                    parts::name_part(found, part, at, self.limits.symbols);
                } else {
                    parts::add_part(found, part, at, line);
                }
            };
            self.parse_parts(text, embedded(text), deadline, &mut found, add)?;
            parts::order_parts(&mut found);
        }
        Ok(found)
    }

    /// Parses each part and passes its symbols to `add`, with the offset and line at which the part starts.
    fn parse_parts(
        &self,
        text: &str,
        parts: Vec<Embedded<'_>>,
        deadline: &Deadline<'_>,
        found: &mut FileSymbols,
        add: impl Fn(&mut FileSymbols, FileSymbols, u32, u32),
    ) -> Result<(), ParseFailure> {
        let mut lines = LineCounter::new(text);
        for part in parts {
            let Some(inner) = by_alias(part.language).filter(|inner| is_part(inner)) else { continue };
            let (at, line) = (part.bytes.start as u32, lines.line_of(part.bytes.start));
            let room = self.limits.symbols.saturating_sub(found.symbols.len());
            let inner = match self.parse_one(inner, &text[part.bytes], room, deadline) {
                Ok(inner) => inner,
                // This error does not end the parse, because the other parts can still be parsed.
                Err(ParseFailure::TooComplex) => FileSymbols { errors: 1, ..FileSymbols::default() },
                Err(failure) => return Err(failure),
            };
            add(found, inner, at, line);
        }
        Ok(())
    }

    /// Returns the symbols of a text, without the symbols of its parts in other languages.
    fn parse_one(
        &self,
        language: &'static Language,
        text: &str,
        max_symbols: usize,
        deadline: &Deadline<'_>,
    ) -> Result<FileSymbols, ParseFailure> {
        if let Some(Sections::Lines(outline)) = language.sections {
            return Ok(sections::sections_of_outline(text, outline(text), max_symbols));
        }
        if (language.breaks_scanner)(text) {
            return Err(ParseFailure::TooComplex);
        }
        let query = language.compiled_query()?;
        let masked = (language.masked)(text);
        debug_assert!(masked.as_ref().is_none_or(|masked| masked.len() == text.len()));
        let tree = parse_tree(&query.grammar, masked.as_deref().unwrap_or(text), deadline)?;
        let captures = Captures::collect(query, &tree, text, deadline)?;
        let mut symbols = if let Some(Sections::Nodes { heading, .. }) = language.sections {
            let headings = captures.headings.iter().filter_map(|node| heading(*node, text)).collect();
            sections::sections(text, headings, max_symbols)
        } else {
            outline(language, tree.root_node(), captures, text, max_symbols, deadline)?
        };
        symbols.boundaries = boundaries(tree.root_node(), text, deadline)?;
        Ok(symbols)
    }
}

/// Adds the number of lines to the result of a parse, and turns an error into [`FileSymbols::failure`].
fn file_symbols(parsed: Result<FileSymbols, ParseFailure>, lines: u32) -> FileSymbols {
    let symbols = parsed.unwrap_or_else(|failure| FileSymbols { failure: Some(failure), ..FileSymbols::default() });
    FileSymbols { lines, ..symbols }
}

/// Parses a text into a syntax tree, within the limits of this module and the deadline.
fn parse_tree(grammar: &Grammar, text: &str, deadline: &Deadline<'_>) -> Result<BoundedTree, ParseFailure> {
    let max_operations = (text.len() as u64 * MAX_OPERATIONS_PER_BYTE).max(MIN_OPERATION_LIMIT);
    let max_checks = max_operations / OPERATIONS_PER_CHECK;
    let (mut checks, mut failure) = (0, ParseFailure::TooComplex);
    let mut on_progress = || {
        checks += 1;
        match deadline.check() {
            Ok(()) if checks <= max_checks => return ControlFlow::Continue(()),
            Ok(()) => {}
            Err(error) => failure = error,
        }
        ControlFlow::Break(())
    };
    let reads = (text.len() * MAX_READS_PER_BYTE).max(MIN_READ_LIMIT);
    let limits = Limits { copied: MAX_COPIED_BYTES, nodes: MAX_NODES, reads };
    aurora_bounded_parser::parse(grammar, text.as_bytes(), limits, &mut on_progress).map_err(|stopped| match stopped {
        Stopped::ByCaller => failure,
        Stopped::AtLimit => ParseFailure::TooComplex,
    })
}

/// Whether a part of a text can be in a language: the language has definitions, and its texts have no parts in other
/// languages.
fn is_part(language: &Language) -> bool {
    !language.is_prose() && language.embedded.is_none()
}
