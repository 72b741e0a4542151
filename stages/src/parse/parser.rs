//! Text to symbols: one parse, one pass of the language's query over the tree, and the tree is dropped.

use std::ops::ControlFlow;
use std::time::Duration;

use thiserror::Error;
use tree_sitter::{ParseOptions, ParseState, Tree};

use crate::languages::{self, Language};
use crate::parse::boundaries::boundaries;
use crate::parse::captures::Captures;
use crate::parse::deadline::Deadline;
use crate::parse::query::QueryError;
use crate::parse::sections::{self, Heading};
use crate::parse::structure::assemble;
use crate::parse::symbols::FileSymbols;

/// The parser asks every 100 operations whether to go on. Real sources, broken ones included, stay below 3
/// operations a byte; what needs more than 16 is in a loop of error recovery. There, single operations can take
/// seconds, so time is bounded as well.
const OPERATIONS_PER_CHECK: u64 = 100;
const OPERATIONS_PER_BYTE: u64 = 16;
const OPERATIONS_AT_LEAST: u64 = 200_000;

/// How much of one file is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ParseLimits {
    /// Longest time for one file. What takes longer is taken as plain text.
    pub time: Duration,
    /// Texts of more bytes are taken as plain text.
    pub size: usize,
    /// Most symbols, and most imports.
    pub symbols: usize,
}

impl Default for ParseLimits {
    fn default() -> Self {
        Self { time: Duration::from_secs(20), size: 4 << 20, symbols: 50_000 }
    }
}

/// Most lines of a Markdown text that its grammar is asked about. It keeps some 600 bytes for each of them, blank or not;
/// in longer texts, tables above all, headings are found as in plain text.
const MOST_MARKDOWN_LINES: usize = 200_000;

/// Parses files one after another, of any language; one for each worker.
pub struct Parser {
    parser: tree_sitter::Parser,
    limits: ParseLimits,
    language: Option<&'static Language>,
}

/// Why a file yields no symbols.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ParseFailure {
    /// The grammar needs far more work than the size of the file warrants.
    #[error("syntax too complex to parse: taken as plain text")]
    TooComplex,
    /// See [`ParseLimits::time`].
    #[error("parsing takes longer than `max_seconds`: taken as plain text")]
    TooSlow,
    /// See [`ParseLimits::size`].
    #[error("larger than `max_size` of [stage.parse]: taken as plain text")]
    TooLarge,
    /// The run is to stop; what was found is of no use.
    #[error("the run was stopped")]
    Stopped,
    /// The grammar was made for another version of the parser: a bug.
    #[error("the grammar does not fit the parser: {0}")]
    Grammar(String),
    /// The language's queries do not fit its grammar: a bug.
    #[error(transparent)]
    Query(#[from] QueryError),
}

impl Default for Parser {
    fn default() -> Self {
        Self::new()
    }
}

impl Parser {
    /// A parser without a language yet.
    pub fn new() -> Self {
        Self::within(ParseLimits::default())
    }

    /// The same with other limits.
    pub fn within(limits: ParseLimits) -> Self {
        Self { parser: tree_sitter::Parser::new(), limits, language: None }
    }

    /// The symbols of a text in the given format (see [`languages::format_of`]). What does not parse is left out
    /// and counted in [`FileSymbols::errors`]; a text that cannot be parsed at all has no symbols and says why in
    /// [`FileSymbols::failure`].
    ///
    /// The result depends on the arguments alone, not on what was parsed before; only whether hostile input is given
    /// up can depend on time.
    pub fn parse(&mut self, format: &str, text: &str) -> FileSymbols {
        self.parse_unless(format, text, &|| false)
    }

    /// The same, ended soon after `is_stopped` says so; then it fails with [`ParseFailure::Stopped`].
    pub fn parse_unless(&mut self, format: &str, text: &str, is_stopped: &dyn Fn() -> bool) -> FileSymbols {
        let deadline = Deadline::new(self.limits.time, is_stopped);
        let lines = line_count(text);
        let parsed = match languages::by_name(format) {
            _ if u32::try_from(text.len()).is_err() => Err(ParseFailure::TooLarge),
            Some(language) if language.is_prose() && lines as usize > MOST_MARKDOWN_LINES => Ok(FileSymbols {
                cut: Some("too many lines for the grammar: headings were found as in plain text"),
                ..self.plain(text)
            }),
            Some(language) => self.try_parse(language, text, &deadline),
            None => Ok(self.plain(text)),
        };
        let mut symbols =
            parsed.unwrap_or_else(|failure| FileSymbols { failure: Some(failure), ..FileSymbols::default() });
        symbols.lines = lines;
        symbols
    }

    fn plain(&self, text: &str) -> FileSymbols {
        sections::symbols(text, sections::plain_headings(text), self.limits.symbols)
    }

    fn try_parse(
        &mut self,
        language: &'static Language,
        text: &str,
        deadline: &Deadline<'_>,
    ) -> Result<FileSymbols, ParseFailure> {
        if text.len() > self.limits.size {
            return Err(ParseFailure::TooLarge);
        }
        let query = language.query()?;
        let tree = self.tree(language, text, deadline)?;
        let captures = Captures::collect(query, tree.root_node(), text, deadline)?;
        let mut symbols = if language.is_prose() {
            let headings = captures.headings.iter().filter_map(|node| Heading::of_markdown(*node, text)).collect();
            sections::symbols(text, headings, self.limits.symbols)
        } else {
            assemble(language, tree.root_node(), captures, text, self.limits.symbols, deadline)?
        };
        symbols.boundaries = boundaries(&tree, text, deadline)?;
        Ok(symbols)
    }

    fn tree(&mut self, language: &'static Language, text: &str, deadline: &Deadline<'_>) -> Result<Tree, ParseFailure> {
        if !self.language.is_some_and(|current| std::ptr::eq(current, language)) {
            self.language = None;
            self.parser.set_language(&(language.grammar)()).map_err(|e| ParseFailure::Grammar(e.to_string()))?;
            self.language = Some(language);
        }
        let bytes = text.as_bytes();
        let allowed = (bytes.len() as u64 * OPERATIONS_PER_BYTE).max(OPERATIONS_AT_LEAST) / OPERATIONS_PER_CHECK;
        let (mut checks, mut failure) = (0, ParseFailure::TooComplex);
        let mut on_progress = |_: &ParseState| {
            checks += 1;
            match deadline.check() {
                Ok(()) if checks <= allowed => return ControlFlow::Continue(()),
                Ok(()) => {}
                Err(why) => failure = why,
            }
            ControlFlow::Break(())
        };
        let options = ParseOptions::new().progress_callback(&mut on_progress);
        let tree =
            self.parser.parse_with_options(&mut |at, _| bytes.get(at..).unwrap_or_default(), None, Some(options));
        tree.ok_or_else(|| {
            self.parser.reset();
            failure
        })
    }
}

fn line_count(text: &str) -> u32 {
    let feeds = memchr::memchr_iter(b'\n', text.as_bytes()).count() as u32;
    feeds + u32::from(!text.is_empty() && !text.ends_with('\n'))
}
