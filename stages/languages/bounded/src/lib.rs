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
//! A tree is in an arena, which the next parse of the thread uses again, and [`BoundedTree::nodes_of`] visits only nodes of some
//! kinds. Both make a parse with a walk over its tree faster than tree-sitter alone.
//!
//! The part in C leaves the parse with `longjmp`, which Rust has no equivalent of.
//!
//! ```
//! use aurora_bounded_parser::{Grammar, Limits, Stopped, parse};
//! use std::ops::ControlFlow;
//!
//! let go = Grammar::new(&tree_sitter_go::LANGUAGE.into()).expect("is of a version that is supported");
//! let limits = Limits { copied: 1 << 20, nodes: 10_000, reads: 1 << 20 };
//! let parse = |text: &str| parse(&go, text.as_bytes(), limits, &mut || ControlFlow::Continue(()));
//! assert_eq!(parse(&"%w[".repeat(2_000)).err(), Some(Stopped::AtLimit));
//! assert_eq!(parse("package p").expect("is short").root_node().kind(), "source_file");
//! ```

#![warn(missing_docs)]
#![cfg_attr(not(test), warn(clippy::disallowed_methods))]

use std::cell::Cell;
use std::ffi::{c_char, c_void};
use std::marker::PhantomData;
use std::mem::{ManuallyDrop, MaybeUninit};
use std::ops::ControlFlow;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Once, OnceLock};

use tree_sitter::ffi::{
    TSInput, TSInputEncodingUTF8, TSLanguage, TSNode, TSParseOptions, TSParseState, TSPoint, TSTree,
};
use tree_sitter::{Language, Node, Tree};

/// A `BoundedLanguage` of the part in C.
enum BoundedLanguage {}

/// An `Arena` of the part in C.
enum RawArena {}

/// A `Walk` of the part in C.
enum RawWalk {}

unsafe extern "C" {
    fn aurora_bound_allocations();
    fn aurora_bounded_language(language: *const TSLanguage, is_expanded: bool) -> *const BoundedLanguage;
    fn aurora_parse_bounded(
        language: *const BoundedLanguage,
        input: TSInput,
        options: TSParseOptions,
        arena: *mut RawArena,
        most_copied: usize,
        most_nodes: usize,
        most_reads: usize,
        is_exceeded: *mut bool,
    ) -> *mut TSTree;
    fn aurora_arena_new() -> *mut RawArena;
    fn aurora_arena_clear(arena: *mut RawArena);
    fn aurora_arena_free(arena: *mut RawArena);
    fn aurora_walk_new(tree: *const TSTree, is_visited: *const bool) -> *mut RawWalk;
    fn aurora_walk_next(walk: *mut RawWalk, node: *mut TSNode) -> bool;
    fn aurora_walk_free(walk: *mut RawWalk);
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
#[derive(Debug)]
pub struct Grammar {
    original: Language,
    bounded: NonNull<BoundedLanguage>,
    /// Made when enough texts were parsed to be worth it.
    expanded: OnceLock<NonNull<BoundedLanguage>>,
    /// Bytes of all texts.
    parsed: AtomicUsize,
}

// SAFETY: nothing changes what the pointers point to.
unsafe impl Send for Grammar {}
// SAFETY: as above.
unsafe impl Sync for Grammar {}

/// Bytes after which a grammar is expanded.
const MIN_EXPANDED_BYTES: usize = 512 << 10;

impl Grammar {
    /// Takes some hundred bytes, later up to 13 MB, which live as long as the process because trees point to them. Parsers of
    /// tree-sitter should be given the original instead of the language of such a tree, whose scanner finds nothing.
    ///
    /// `None`: the grammar is of another version of tree-sitter's format than 14 and 15.
    pub fn new(language: &Language) -> Option<Self> {
        let bounded = bounded(language, false)?;
        Some(Self { original: language.clone(), bounded, expanded: OnceLock::new(), parsed: AtomicUsize::new(0) })
    }

    /// The language to parse so many bytes with.
    fn for_text(&self, bytes: usize) -> NonNull<BoundedLanguage> {
        if self.parsed.fetch_add(bytes, Ordering::Relaxed) < MIN_EXPANDED_BYTES {
            return self.bounded;
        }
        *self.expanded.get_or_init(|| bounded(&self.original, true).unwrap_or(self.bounded))
    }
}

/// A copy of a language, which is never freed; `None` if its format is not supported.
fn bounded(language: &Language, is_expanded: bool) -> Option<NonNull<BoundedLanguage>> {
    let language = language.clone().into_raw();
    // SAFETY: `language` points to a language, which is copied.
    let bounded = unsafe { aurora_bounded_language(language, is_expanded) };
    // SAFETY: `language` is still owned here.
    drop(unsafe { Language::from_raw(language) });
    NonNull::new(bounded.cast_mut())
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

/// The memory of a parse and its tree.
struct Arena(NonNull<RawArena>);

// SAFETY: the part in C uses an arena during a parse only, and on the thread of the parse.
unsafe impl Send for Arena {}

thread_local! {
    /// The arena of the last tree that was dropped, without blocks.
    static SPARE_ARENA: Cell<Option<Arena>> = const { Cell::new(None) };
}

impl Arena {
    /// One without blocks.
    fn take() -> Self {
        let spare = SPARE_ARENA.try_with(Cell::take).ok().flatten();
        // SAFETY: the function needs nothing; memory that is missing ends the process.
        spare.unwrap_or_else(|| {
            Self(NonNull::new(unsafe { aurora_arena_new() }).expect("the part in C never gives null"))
        })
    }

    /// Frees its blocks, and keeps it for the next parse of the thread.
    fn give_back(self) {
        // SAFETY: no one has the blocks.
        unsafe { aurora_arena_clear(self.0.as_ptr()) };
        // While the thread ends, the arena is freed here.
        SPARE_ARENA.try_with(|spare| spare.set(Some(self))).ok();
    }
}

impl Drop for Arena {
    fn drop(&mut self) {
        // SAFETY: no one has the arena or its blocks.
        unsafe { aurora_arena_free(self.0.as_ptr()) };
    }
}

/// A tree that [`parse`] has made.
pub struct BoundedTree {
    /// In `arena`, so it is never dropped: it is gone when the arena is cleared.
    tree: NonNull<TSTree>,
    arena: ManuallyDrop<Arena>,
}

impl BoundedTree {
    /// The outermost node.
    pub fn root_node(&self) -> Node<'_> {
        // SAFETY: the tree is alive as long as `self`. `ManuallyDrop` keeps it from being freed by tree-sitter.
        let tree = ManuallyDrop::new(unsafe { Tree::from_raw(self.tree.as_ptr()) });
        // SAFETY: a node points to what `self` owns, not to `tree`.
        unsafe { Node::from_raw(tree.root_node().into_raw()) }
    }

    /// The nodes of some kinds, and all that are errors or missing, in the order of their starts, outer ones first.
    /// `is_visited` has a value for each kind of the grammar.
    ///
    /// # Panics
    /// If it has fewer values than the grammar has kinds.
    pub fn nodes_of<'t>(&'t self, is_visited: &[bool]) -> impl Iterator<Item = Node<'t>> {
        let root = self.root_node();
        assert!(is_visited.len() >= root.language().node_kind_count(), "a kind has no value");
        let is_root_visited = root.is_error() || root.is_missing() || is_visited[usize::from(root.kind_id())];
        // SAFETY: the tree and the values outlive the walk, and there is a value for every symbol.
        let walk = unsafe { aurora_walk_new(self.tree.as_ptr(), is_visited.as_ptr()) };
        is_root_visited.then_some(root).into_iter().chain(Walk { walk, tree: PhantomData })
    }
}

impl Drop for BoundedTree {
    fn drop(&mut self) {
        // SAFETY: `arena` is not used again.
        unsafe { ManuallyDrop::take(&mut self.arena) }.give_back();
    }
}

struct Walk<'t> {
    walk: *mut RawWalk,
    tree: PhantomData<&'t BoundedTree>,
}

impl<'t> Iterator for Walk<'t> {
    type Item = Node<'t>;

    fn next(&mut self) -> Option<Node<'t>> {
        let mut node = MaybeUninit::uninit();
        // SAFETY: the walk is alive, and a node that was set is one of the tree.
        unsafe { aurora_walk_next(self.walk, node.as_mut_ptr()).then(|| Node::from_raw(node.assume_init())) }
    }
}

impl Drop for Walk<'_> {
    fn drop(&mut self) {
        // SAFETY: no one else has the walk.
        unsafe { aurora_walk_free(self.walk) };
    }
}

/// The tree of a text in UTF-8. tree-sitter calls `on_progress` every 100 operations.
///
/// # Errors
///
/// [`Stopped`]: the text was given up.
pub fn parse(
    grammar: &Grammar,
    text: &[u8],
    limits: Limits,
    on_progress: &mut dyn FnMut() -> ControlFlow<()>,
) -> Result<BoundedTree, Stopped> {
    static BOUNDED: Once = Once::new();
    // SAFETY: outside of `aurora_parse_bounded`, the functions that this sets pass every call on to those of libc, as
    // tree-sitter's own do, so blocks allocated before and after can be freed by either.
    BOUNDED.call_once(|| unsafe { aurora_bound_allocations() });
    if u32::try_from(text.len()).is_err() {
        return Err(Stopped::ByCaller);
    }
    let (mut text, mut on_progress) = (text, on_progress);
    let input =
        TSInput { payload: (&raw mut text).cast(), read: Some(read), encoding: TSInputEncodingUTF8, decode: None };
    let options = TSParseOptions { payload: (&raw mut on_progress).cast(), progress_callback: Some(progress) };
    let mut is_exceeded = false;
    let arena = Arena::take();
    let Limits { copied, nodes, reads } = limits;
    // SAFETY: each payload has the type that its function casts it to, and outlives the call. `longjmp` leaves frames of C
    // alone: neither function allocates by tree-sitter. The arena has no blocks.
    let tree = unsafe {
        let (grammar, arena) = (grammar.for_text(text.len()).as_ptr(), arena.0.as_ptr());
        aurora_parse_bounded(grammar, input, options, arena, copied, nodes, reads, &raw mut is_exceeded)
    };
    match NonNull::new(tree) {
        Some(tree) => Ok(BoundedTree { tree, arena: ManuallyDrop::new(arena) }),
        None => {
            arena.give_back();
            Err(if is_exceeded { Stopped::AtLimit } else { Stopped::ByCaller })
        }
    }
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
