//! The result of parsing one text.

use std::ops::Range;

use crate::failure::ParseFailure;
use crate::symbols::{Boundary, Constant, Import, Symbol};

/// The structure of one text. It does not reference the syntax tree.
///
/// All offsets are bytes of the text that was parsed, on character boundaries.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FileSymbols {
    /// Definitions, or sections in documents, ordered by start offset. A symbol precedes the symbols inside it.
    pub symbols: Vec<Symbol>,
    /// Imports, in document order.
    pub imports: Vec<Import>,
    /// Constants and variables that are neither symbols nor local to a function, in document order.
    pub constants: Vec<Constant>,
    /// Offsets at which the text can be split, in ascending order.
    pub boundaries: Vec<Boundary>,
    /// Calls outside all symbols, in top-level statements.
    pub calls: Vec<String>,
    /// Documentation of the file itself: a module docstring or package comment.
    pub doc: String,
    /// Span of the documentation of the file.
    pub doc_bytes: Option<Range<u32>>,
    /// Spans of the comments at the start of the text, except comments that document a symbol or a constant. Adjacent
    /// comments share a span. [`Language::comment_text`](crate::Language::comment_text) returns their text.
    pub opening: Vec<Range<u32>>,
    /// Number of outermost `ERROR` and `MISSING` nodes. Zero for a text without syntax errors.
    pub errors: u32,
    /// The reason why the text was not parsed at all.
    pub failure: Option<ParseFailure>,
    /// The limit that caused symbols to be omitted, if there is one.
    pub truncation: Option<Truncation>,
    /// Number of lines. A last line without a line feed counts.
    pub lines: u32,
}

/// The limit that caused symbols of a text to be omitted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Truncation {
    /// The text has more definitions or imports than [`ParseLimits::symbols`](crate::ParseLimits::symbols). The first
    /// definitions and imports are kept.
    Definitions,
    /// The text has more headings than [`ParseLimits::symbols`](crate::ParseLimits::symbols). The first headings are
    /// kept.
    Headings,
    /// The text has more lines than the grammar can handle. Headings were detected as in plain text.
    Lines,
}
