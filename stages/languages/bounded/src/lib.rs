//! A parse by tree-sitter with limits for its stacks, its error recovery and the scanners of grammars.
//!
//! At the end of a text with errors, tree-sitter copies every path through its stacks. That takes the square of the number
//! of errors at nested places: a gigabyte for a text of some kilobytes, without a call of the progress callback, and an
//! allocation that fails ends the process. It also releases a stack by recursion, which ends the process if it is deep.
//! The scanners of some grammars write states that are longer than tree-sitter's buffer, which ends the process as well, read
//! the rest of the text for every token, or wait for ever for a character after its end.
//! [`parse`] gives such a text up. What it counts is what tree-sitter asks for, so whether a text exceeds a limit depends on
//! the text alone.
//!
//! The part in C leaves the parse with `longjmp`, which Rust has no equivalent of.
//!
//! ```
//! use aurora_bounded_parser::{Grammar, Limits, Stopped, parse};
//! use std::ops::ControlFlow;
//!
//! let go = Grammar::new(&tree_sitter_go::LANGUAGE.into()).expect("is of a version that is supported");
//! let limits = Limits { copied: 1 << 20, nodes: 10_000, reads: 1 << 20 };
//! let parse = |text: &str| parse(go, text.as_bytes(), limits, &mut || ControlFlow::Continue(()));
//! assert_eq!(parse(&"%w[".repeat(2_000)).err(), Some(Stopped::AtLimit));
//! assert_eq!(parse("package p").expect("is short").root_node().kind(), "source_file");
//! ```

#![warn(missing_docs)]
#![cfg_attr(not(test), warn(clippy::disallowed_methods))]

use std::ffi::{c_char, c_void};
use std::ops::ControlFlow;
use std::ptr::NonNull;
use std::sync::Once;

use tree_sitter::ffi::{TSInput, TSInputEncodingUTF8, TSLanguage, TSParseOptions, TSParseState, TSPoint, TSTree};
use tree_sitter::{Language, Tree};

/// A `BoundedLanguage` of the part in C.
enum BoundedLanguage {}

unsafe extern "C" {
    fn aurora_bound_allocations();
    fn aurora_bounded_language(language: *const TSLanguage) -> *const BoundedLanguage;
    fn aurora_parse_bounded(
        language: *const BoundedLanguage,
        input: TSInput,
        options: TSParseOptions,
        most_copied: usize,
        most_nodes: usize,
        most_reads: usize,
        is_exceeded: *mut bool,
    ) -> *mut TSTree;
}

/// What a parse may hold at one time, and do in all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Bytes in copies of subtrees.
    pub copied: usize,
    /// Nodes of stacks. Releasing them may take a frame of some hundred bytes for each.
    pub nodes: usize,
    /// Characters that the scanner of the grammar reads, each as often as it reads it.
    pub reads: usize,
}

/// A grammar for [`parse`].
#[derive(Debug, Clone, Copy)]
pub struct Grammar(NonNull<BoundedLanguage>);

// SAFETY: nothing changes what it points to.
unsafe impl Send for Grammar {}
// SAFETY: as above.
unsafe impl Sync for Grammar {}

impl Grammar {
    /// A copy of some hundred bytes of the language, which lives as long as the process because trees point to it. Parsers of
    /// tree-sitter should be given the original instead of the language of such a tree, whose scanner finds nothing.
    ///
    /// `None`: the grammar is of another version of tree-sitter's format than 14 and 15.
    pub fn new(language: &Language) -> Option<Self> {
        let language = language.clone().into_raw();
        // SAFETY: the pointer is that of a language, and what it points to is copied.
        let grammar = unsafe { aurora_bounded_language(language) };
        // SAFETY: the pointer is that of the language above.
        drop(unsafe { Language::from_raw(language) });
        NonNull::new(grammar.cast_mut()).map(Self)
    }
}

/// Why there is no tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stopped {
    /// The progress callback asked for it, or the parse cannot begin: the text has 4 GiB or more, or the call came from a
    /// progress callback of this function.
    ByCaller,
    /// A limit was exceeded.
    AtLimit,
}

/// The tree of a text in UTF-8. tree-sitter calls `on_progress` every 100 operations.
///
/// # Errors
///
/// [`Stopped`]: the text was given up.
pub fn parse(
    grammar: Grammar,
    text: &[u8],
    limits: Limits,
    on_progress: &mut dyn FnMut() -> ControlFlow<()>,
) -> Result<Tree, Stopped> {
    static BOUNDED: Once = Once::new();
    // SAFETY: the functions that this sets pass every call on to those of libc, as tree-sitter's own do, so blocks allocated
    // before and after can be freed by either.
    BOUNDED.call_once(|| unsafe { aurora_bound_allocations() });
    if u32::try_from(text.len()).is_err() {
        return Err(Stopped::ByCaller);
    }
    let (mut text, mut on_progress) = (text, on_progress);
    let input =
        TSInput { payload: (&raw mut text).cast(), read: Some(read), encoding: TSInputEncodingUTF8, decode: None };
    let options = TSParseOptions { payload: (&raw mut on_progress).cast(), progress_callback: Some(progress) };
    let mut is_exceeded = false;
    // SAFETY: each payload has the type that its function casts it to, and outlives the call. `longjmp` leaves frames of C
    // alone: neither function allocates by tree-sitter.
    let Limits { copied, nodes, reads } = limits;
    let tree =
        unsafe { aurora_parse_bounded(grammar.0.as_ptr(), input, options, copied, nodes, reads, &raw mut is_exceeded) };
    if is_exceeded {
        return Err(Stopped::AtLimit);
    }
    if tree.is_null() {
        return Err(Stopped::ByCaller);
    }
    // SAFETY: the tree is new, and no one else has it.
    Ok(unsafe { Tree::from_raw(tree) })
}

/// The rest of the text. `payload` is a `&[u8]`.
unsafe extern "C" fn read(payload: *mut c_void, at: u32, _: TSPoint, length: *mut u32) -> *const c_char {
    // SAFETY: `parse` has set the payload to a slice that outlives the parse; `length` is a place of tree-sitter.
    unsafe {
        let text = *payload.cast::<&[u8]>();
        let rest = text.get(at as usize..).unwrap_or_default();
        *length = rest.len() as u32;
        rest.as_ptr().cast()
    }
}

/// Whether to stop. The payload of `state` is a `&mut dyn FnMut() -> ControlFlow<()>`.
unsafe extern "C" fn progress(state: *mut TSParseState) -> bool {
    // SAFETY: `parse` has set the payload, and nothing else uses the closure during the parse.
    let on_progress = unsafe { &mut *(*state).payload.cast::<&mut dyn FnMut() -> ControlFlow<()>>() };
    on_progress().is_break()
}

#[cfg(test)]
mod tests;
