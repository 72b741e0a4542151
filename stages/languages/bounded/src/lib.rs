//! A tree-sitter parser with a limit for what its error recovery copies.
//!
//! At the end of a text with errors, tree-sitter copies every path through its stacks. That takes the square of the number
//! of errors at nested places: a gigabyte for a text of some kilobytes, without a call of the progress callback, and an
//! allocation that fails ends the process. [`BoundedParser`] gives such a text up. The limit counts bytes that tree-sitter
//! asks for, so whether a text exceeds it depends on the text alone.
//!
//! The part in C leaves the parse with `longjmp`, which Rust has no equivalent of.
//!
//! ```
//! use std::ops::ControlFlow;
//!
//! let mut parser = aurora_bounded_parser::BoundedParser::new(1 << 20);
//! parser.set_language(&tree_sitter_go::LANGUAGE.into())?;
//! let mut parse = |text: &str| parser.parse(text.as_bytes(), &mut || ControlFlow::Continue(()));
//! assert!(parse(&"%w[".repeat(2_000)).is_err());
//! assert_eq!(parse("package p").expect("is short").root_node().kind(), "source_file");
//! # Ok::<(), tree_sitter::LanguageError>(())
//! ```

#![warn(missing_docs)]
#![cfg_attr(not(test), warn(clippy::disallowed_methods))]

use std::ffi::{c_char, c_void};
use std::ops::ControlFlow;
use std::sync::Once;

use tree_sitter::ffi::{TSInput, TSInputEncodingUTF8, TSParseOptions, TSParseState, TSParser, TSPoint, TSTree};
use tree_sitter::{Language, LanguageError, Parser, Tree};

unsafe extern "C" {
    fn aurora_bound_allocations();
    fn aurora_parse_bounded(
        parser: *mut TSParser,
        input: TSInput,
        options: TSParseOptions,
        most_copied: usize,
        is_exceeded: *mut bool,
    ) -> *mut TSTree;
}

/// Why there is no tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stopped {
    /// The progress callback asked for it.
    ByCaller,
    /// Error recovery copied more than the limit.
    TooManyCopies,
}

/// Parses texts one after another, each from its beginning.
pub struct BoundedParser {
    /// None after a text was given up.
    parser: Option<Parser>,
    language: Option<Language>,
    most_copied: usize,
}

impl BoundedParser {
    /// A parser that gives up a text for which copies of subtrees hold more than `most_copied` bytes at one time.
    pub fn new(most_copied: usize) -> Self {
        static BOUNDED: Once = Once::new();
        // SAFETY: the functions that this sets pass every call on to those of libc, as tree-sitter's own do, so blocks
        // allocated before and after can be freed by either.
        BOUNDED.call_once(|| unsafe { aurora_bound_allocations() });
        Self { parser: None, language: None, most_copied }
    }

    /// Sets the language of the next texts.
    ///
    /// # Errors
    ///
    /// The version of the grammar is not supported. The parser has no language then.
    pub fn set_language(&mut self, language: &Language) -> Result<(), LanguageError> {
        self.language = None;
        self.parser.get_or_insert_default().set_language(language)?;
        self.language = Some(language.clone());
        Ok(())
    }

    /// The tree of a text in UTF-8. tree-sitter calls `on_progress` every 100 operations; it may use other parsers, but no
    /// [`BoundedParser`].
    ///
    /// # Errors
    ///
    /// [`Stopped`]: the text was given up; the parser can parse others. Without a language, and for a text of 4 GiB or more,
    /// it is given up as well.
    pub fn parse(&mut self, text: &[u8], on_progress: &mut dyn FnMut() -> ControlFlow<()>) -> Result<Tree, Stopped> {
        let Some(parser) = self.ready().filter(|_| u32::try_from(text.len()).is_ok()) else {
            return Err(Stopped::ByCaller);
        };
        let parser = parser.into_raw();
        let (mut text, mut on_progress) = (text, on_progress);
        let input =
            TSInput { payload: (&raw mut text).cast(), read: Some(read), encoding: TSInputEncodingUTF8, decode: None };
        let options = TSParseOptions { payload: (&raw mut on_progress).cast(), progress_callback: Some(progress) };
        let mut is_exceeded = false;
        // SAFETY: the parser is valid and used by this thread alone; each payload has the type that its function casts it to,
        // and outlives the call. `longjmp` leaves frames of C alone: neither function allocates by tree-sitter.
        let tree = unsafe { aurora_parse_bounded(parser, input, options, self.most_copied, &raw mut is_exceeded) };
        if is_exceeded {
            // What the parse allocated is freed already, so the parser must not be dropped.
            return Err(Stopped::TooManyCopies);
        }
        // SAFETY: the pointer is that of the parser above, and C does not keep it.
        let parser = self.parser.insert(unsafe { Parser::from_raw(parser) });
        if tree.is_null() {
            parser.reset();
            return Err(Stopped::ByCaller);
        }
        // SAFETY: the tree is new, and no one else has it.
        Ok(unsafe { Tree::from_raw(tree) })
    }

    /// A parser with the language.
    fn ready(&mut self) -> Option<Parser> {
        let language = self.language.as_ref()?;
        self.parser.take().or_else(|| {
            let mut parser = Parser::new();
            parser.set_language(language).ok()?;
            Some(parser)
        })
    }
}

/// The rest of the text. `payload` is a `&[u8]`.
unsafe extern "C" fn read(payload: *mut c_void, at: u32, _: TSPoint, length: *mut u32) -> *const c_char {
    // SAFETY: `BoundedParser::parse` has set the payload to a slice that outlives the parse; `length` is a place of tree-sitter.
    unsafe {
        let text = *payload.cast::<&[u8]>();
        let rest = text.get(at as usize..).unwrap_or_default();
        *length = rest.len() as u32;
        rest.as_ptr().cast()
    }
}

/// Whether to stop. The payload of `state` is a `&mut dyn FnMut() -> ControlFlow<()>`.
unsafe extern "C" fn progress(state: *mut TSParseState) -> bool {
    // SAFETY: `BoundedParser::parse` has set the payload, and nothing else uses the closure during the parse.
    let on_progress = unsafe { &mut *(*state).payload.cast::<&mut dyn FnMut() -> ControlFlow<()>>() };
    on_progress().is_break()
}

#[cfg(test)]
mod tests;
