//! Text to symbols: one parse, one pass of the language's query over the tree, and the tree is dropped.

use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use thiserror::Error;
use tree_sitter::{ParseOptions, ParseState, Tree};

use crate::languages::{self, Language};
use crate::parse::boundaries::boundaries;
use crate::parse::captures::Captures;
use crate::parse::query::QueryProblem;
use crate::parse::sections::{self, Heading};
use crate::parse::structure::assemble;
use crate::parse::symbols::FileSymbols;

/// The parser asks every 100 operations whether to go on. Real sources, broken ones included, stay below 3
/// operations a byte; what needs more than 16 is in a loop of error recovery. There, single operations can take
/// seconds, so time is bounded as well, far above what any file that parses needs on a busy machine.
const OPERATIONS_PER_CHECK: u64 = 100;
const OPERATIONS_PER_BYTE: u64 = 16;
const OPERATIONS_AT_LEAST: u64 = 200_000;
const LONGEST_PARSE: Duration = Duration::from_secs(10);
const LONGEST_PARSE_PER_MIB: Duration = Duration::from_secs(20);

/// Parses files one after another, of any language; one for each worker.
pub struct Parser {
    parser: tree_sitter::Parser,
    language: Option<&'static Language>,
}

/// Why a file yields no symbols.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ParseFailure {
    /// The grammar needs far more work than the size of the file warrants.
    #[error("syntax too complex to parse")]
    TooComplex,
    /// Offsets are 32 bits wide.
    #[error("larger than 4 GiB")]
    TooLarge,
    /// The grammar was made for another version of the parser: a bug.
    #[error("the grammar does not fit the parser: {0}")]
    Grammar(String),
    /// The language's queries do not fit its grammar: a bug.
    #[error(transparent)]
    Query(#[from] QueryProblem),
}

impl Default for Parser {
    fn default() -> Self {
        Self::new()
    }
}

impl Parser {
    /// A parser without a language yet.
    pub fn new() -> Self {
        Self { parser: tree_sitter::Parser::new(), language: None }
    }

    /// The symbols of a text in the given format (see [`languages::format_of`]). What does not parse is left out
    /// and counted in [`FileSymbols::errors`]; a text that cannot be parsed at all has no symbols and says why in
    /// [`FileSymbols::failure`].
    ///
    /// The result depends on the arguments alone, not on what was parsed before; only whether hostile input is given
    /// up can depend on time.
    pub fn parse(&mut self, format: &str, text: &str) -> FileSymbols {
        let parsed = match languages::by_name(format) {
            Some(language) => self.try_parse(language, text),
            None => Ok(sections::symbols(text, sections::plain_headings(text))),
        };
        let mut symbols =
            parsed.unwrap_or_else(|failure| FileSymbols { failure: Some(failure), ..FileSymbols::default() });
        symbols.lines = line_count(text);
        symbols
    }

    fn try_parse(&mut self, language: &'static Language, text: &str) -> Result<FileSymbols, ParseFailure> {
        if u32::try_from(text.len()).is_err() {
            return Err(ParseFailure::TooLarge);
        }
        let query = language.query()?;
        let tree = self.tree(language, text)?;
        let captures = Captures::collect(query, tree.root_node(), text);
        let mut symbols = if language.is_prose() {
            let headings = captures.headings.iter().filter_map(|node| Heading::of_markdown(*node, text)).collect();
            sections::symbols(text, headings)
        } else {
            assemble(language, tree.root_node(), captures, text)
        };
        symbols.boundaries = boundaries(&tree, text);
        Ok(symbols)
    }

    fn tree(&mut self, language: &'static Language, text: &str) -> Result<Tree, ParseFailure> {
        if !self.language.is_some_and(|current| std::ptr::eq(current, language)) {
            self.language = None;
            self.parser.set_language(&(language.grammar)()).map_err(|e| ParseFailure::Grammar(e.to_string()))?;
            self.language = Some(language);
        }
        let bytes = text.as_bytes();
        let allowed = (bytes.len() as u64 * OPERATIONS_PER_BYTE).max(OPERATIONS_AT_LEAST) / OPERATIONS_PER_CHECK;
        let longest = LONGEST_PARSE + LONGEST_PARSE_PER_MIB * (bytes.len() >> 20) as u32;
        let started = Instant::now();
        let mut checks = 0;
        let mut on_progress = |_: &ParseState| {
            checks += 1;
            if checks > allowed || started.elapsed() > longest {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        };
        let options = ParseOptions::new().progress_callback(&mut on_progress);
        let tree =
            self.parser.parse_with_options(&mut |at, _| bytes.get(at..).unwrap_or_default(), None, Some(options));
        tree.ok_or_else(|| {
            self.parser.reset();
            ParseFailure::TooComplex
        })
    }
}

fn line_count(text: &str) -> u32 {
    let feeds = memchr::memchr_iter(b'\n', text.as_bytes()).count() as u32;
    feeds + u32::from(!text.is_empty() && !text.ends_with('\n'))
}
