//! The result of parsing one text.

use std::ops::Range;

use crate::failure::ParseFailure;
use crate::symbols::{Boundary, Constant, Import, Symbol};

/// The structure of one text. Its syntax tree is dropped once this is made.
///
/// All offsets are bytes of the text that was parsed, on character boundaries.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FileSymbols {
    /// Definitions (or, in documents, sections), ordered by their start, the enclosing one first.
    pub symbols: Vec<Symbol>,
    /// Imports, in document order.
    pub imports: Vec<Import>,
    /// Constants and variables that are neither symbols nor local to a function, in document order.
    pub constants: Vec<Constant>,
    /// Where the text can be split, ordered by offset.
    pub boundaries: Vec<Boundary>,
    /// Calls outside every symbol: top-level statements.
    pub calls: Vec<String>,
    /// Documentation of the file itself: a module docstring, a package comment.
    pub doc: String,
    /// Span of that documentation.
    pub doc_bytes: Option<Range<u32>>,
    /// Comments at the start of the text that document no definition: each run of adjacent ones, the first few.
    /// [`Language::comment_text`](crate::Language::comment_text) reads them.
    pub opening: Vec<Range<u32>>,
    /// Number of outermost `ERROR` and `MISSING` nodes: 0 for a text without syntax errors.
    pub errors: u32,
    /// Why the text was not parsed at all.
    pub failure: Option<ParseFailure>,
    /// Which limit left symbols out.
    pub truncation: Option<Truncation>,
    /// Number of lines, counting a last one without a line feed.
    pub lines: u32,
}

/// The limit that left symbols of a text out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Truncation {
    /// More definitions or imports than [`ParseLimits::symbols`](crate::ParseLimits::symbols): the first ones are kept.
    Definitions,
    /// More headings than [`ParseLimits::symbols`](crate::ParseLimits::symbols): the first ones are kept.
    Headings,
    /// More lines than the grammar can handle: headings were found as in plain text.
    Lines,
}
