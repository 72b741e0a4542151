//! Parses with tree-sitter within limits for its stacks, its error recovery and the scanners of grammars.
//!
//! tree-sitter alone can end or block the process in several ways:
//!
//! * At the end of a text with errors, tree-sitter copies every path through its stacks. The size of the copies grows
//!   with the square of the number of nested errors: a text of a few kilobytes needs a gigabyte. While it copies,
//!   tree-sitter does not call the progress callback. A failed allocation ends the process.
//! * tree-sitter releases a stack by recursion. A deep stack overflows the stack of the thread, which ends the process.
//! * The scanners of some grammars write states that are longer than tree-sitter's buffer, which also ends the process.
//! * Other scanners read the rest of the text for every token, or wait forever for a character after the end of the
//!   text.
//!
//! [`parse`] stops with an error when it parses such a text. Its limits count allocations and reads, so whether a text
//! exceeds a limit depends only on the text.
//!
//! A tree is stored in an arena, which the next parse of the thread reuses, and [`BoundedTree::nodes_of`] visits only
//! nodes of selected kinds. Both make parsing a text and walking over its tree faster than with tree-sitter alone.
//!
//! A part of the crate is in C, because it leaves a parse with `longjmp`, which has no equivalent in Rust.
//!
//! ```
//! use aurora_bounded_parser::{Grammar, Limits, Stopped, parse};
//! use std::ops::ControlFlow;
//!
//! let go = Grammar::new(&tree_sitter_go::LANGUAGE.into()).expect("the grammar has a supported version");
//! let limits = Limits { copied: 1 << 20, nodes: 10_000, reads: 1 << 20 };
//! let parse = |text: &str| parse(&go, text.as_bytes(), limits, &mut || ControlFlow::Continue(()));
//! assert_eq!(parse(&"%w[".repeat(2_000)).err(), Some(Stopped::AtLimit));
//! assert_eq!(parse("package p").expect("the text is short").root_node().kind(), "source_file");
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

/// The type `BoundedLanguage` of the C code.
enum BoundedLanguage {}

/// The type `Arena` of the C code.
enum RawArena {}

/// The type `Walk` of the C code.
enum RawWalk {}

unsafe extern "C" {
    fn aurora_bound_allocations();
    fn aurora_bounded_language(language: *const TSLanguage, is_expanded: bool) -> *const BoundedLanguage;
    fn aurora_parse_bounded(
        language: *const BoundedLanguage,
        input: TSInput,
        options: TSParseOptions,
        arena: *mut RawArena,
        max_copied: usize,
        max_nodes: usize,
        max_reads: usize,
        is_exceeded: *mut bool,
    ) -> *mut TSTree;
    fn aurora_arena_new() -> *mut RawArena;
    fn aurora_arena_clear(arena: *mut RawArena);
    fn aurora_arena_free(arena: *mut RawArena);
    fn aurora_walk_new(tree: *const TSTree, is_visited: *const bool) -> *mut RawWalk;
    fn aurora_walk_next(walk: *mut RawWalk, node: *mut TSNode) -> bool;
    fn aurora_walk_free(walk: *mut RawWalk);
}

/// Limits of one parse. `copied` and `nodes` limit the amount at any time, `reads` limits the total.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Maximum number of bytes in copies of subtrees.
    pub copied: usize,
    /// Maximum number of stack nodes. Releasing each node may take a stack frame of a few hundred bytes.
    pub nodes: usize,
    /// Maximum number of characters that the scanner of the grammar reads. A character counts each time it is read.
    pub reads: usize,
}

/// A grammar for [`parse`].
#[derive(Debug)]
pub struct Grammar {
    original: Language,
    bounded: NonNull<BoundedLanguage>,
    /// The expanded language, with which parsing is faster. It is created after [`MIN_EXPANDED_BYTES`] were parsed,
    /// because creating it takes time.
    expanded: OnceLock<NonNull<BoundedLanguage>>,
    /// Total size of the parsed texts in bytes.
    parsed: AtomicUsize,
}

// SAFETY: nothing modifies the languages behind the pointers.
unsafe impl Send for Grammar {}
// SAFETY: as above.
unsafe impl Sync for Grammar {}

/// Number of parsed bytes after which a grammar is expanded.
const MIN_EXPANDED_BYTES: usize = 512 << 10;

impl Grammar {
    /// Creates a grammar for [`parse`]. Returns `None` if the version of the language's format is not 14 or 15.
    ///
    /// A grammar takes a few hundred bytes, and up to 13 MB after it was expanded. This memory is never freed, because
    /// trees point to it. Do not pass the language of a [`BoundedTree`] to tree-sitter's own parser: its scanner works
    /// only in [`parse`]. Pass the original language instead.
    pub fn new(language: &Language) -> Option<Self> {
        let bounded = bounded(language, false)?;
        Some(Self { original: language.clone(), bounded, expanded: OnceLock::new(), parsed: AtomicUsize::new(0) })
    }

    /// Returns the language to use for a text of `bytes` bytes: the expanded language, once enough text was parsed.
    fn for_text(&self, bytes: usize) -> NonNull<BoundedLanguage> {
        if self.parsed.fetch_add(bytes, Ordering::Relaxed) < MIN_EXPANDED_BYTES {
            return self.bounded;
        }
        *self.expanded.get_or_init(|| bounded(&self.original, true).unwrap_or(self.bounded))
    }
}

/// Returns a copy of a language, or `None` if the format of the language is not supported. The copy is never freed.
fn bounded(language: &Language, is_expanded: bool) -> Option<NonNull<BoundedLanguage>> {
    let language = language.clone().into_raw();
    // SAFETY: `language` points to a valid language, which the function copies.
    let bounded = unsafe { aurora_bounded_language(language, is_expanded) };
    // SAFETY: `language` comes from `into_raw` and is still owned here.
    drop(unsafe { Language::from_raw(language) });
    NonNull::new(bounded.cast_mut())
}

/// The reason why a parse has no tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stopped {
    /// The progress callback stopped the parse, or the parse cannot begin. A parse cannot begin if the text has 4 GiB
    /// or more, or if [`parse`] is called from its own progress callback.
    ByCaller,
    /// The parse exceeded a limit.
    AtLimit,
}

/// The memory of a parse and its tree.
struct Arena(NonNull<RawArena>);

// SAFETY: the C code uses an arena only during a parse, and only on the thread of the parse.
unsafe impl Send for Arena {}

thread_local! {
    /// The cleared arena of the tree that this thread dropped last.
    static SPARE_ARENA: Cell<Option<Arena>> = const { Cell::new(None) };
}

impl Arena {
    /// Returns the spare arena of the thread, or a new one. The arena has no blocks.
    fn take() -> Self {
        let spare = SPARE_ARENA.try_with(Cell::take).ok().flatten();
        // SAFETY: the function has no preconditions. It ends the process if memory is exhausted.
        spare.unwrap_or_else(|| {
            Self(NonNull::new(unsafe { aurora_arena_new() }).expect("the C code never returns null"))
        })
    }

    /// Frees the blocks of the arena, and keeps the arena for the next parse of the thread.
    fn recycle(self) {
        // SAFETY: nothing uses the blocks of the arena any more.
        unsafe { aurora_arena_clear(self.0.as_ptr()) };
        // If the thread is ending, `spare` no longer exists and the arena is freed here.
        SPARE_ARENA.try_with(|spare| spare.set(Some(self))).ok();
    }
}

impl Drop for Arena {
    fn drop(&mut self) {
        // SAFETY: nothing uses the arena or its blocks.
        unsafe { aurora_arena_free(self.0.as_ptr()) };
    }
}

/// A syntax tree that [`parse`] has created.
pub struct BoundedTree {
    /// The tree is allocated in `arena`. It is never dropped, because clearing the arena frees it.
    tree: NonNull<TSTree>,
    arena: ManuallyDrop<Arena>,
}

impl BoundedTree {
    /// Returns the root node.
    pub fn root_node(&self) -> Node<'_> {
        // SAFETY: the tree lives as long as `self`. `ManuallyDrop` prevents tree-sitter from freeing the tree.
        let tree = ManuallyDrop::new(unsafe { Tree::from_raw(self.tree.as_ptr()) });
        // SAFETY: the node points to memory that `self` owns, not to `tree`.
        unsafe { Node::from_raw(tree.root_node().into_raw()) }
    }

    /// Returns the nodes of the selected kinds, and all error and missing nodes, ordered by start, outer nodes first.
    /// `is_visited` has a value for each node kind of the grammar, which says whether the kind is selected.
    ///
    /// # Panics
    /// Panics if `is_visited` has fewer values than the grammar has kinds.
    pub fn nodes_of<'t>(&'t self, is_visited: &[bool]) -> impl Iterator<Item = Node<'t>> {
        let root = self.root_node();
        assert!(is_visited.len() >= root.language().node_kind_count(), "a node kind has no value in `is_visited`");
        let is_root_visited = root.is_error() || root.is_missing() || is_visited[usize::from(root.kind_id())];
        // SAFETY: the tree and the values outlive the walk, and the values cover every symbol.
        let walk = unsafe { aurora_walk_new(self.tree.as_ptr(), is_visited.as_ptr()) };
        is_root_visited.then_some(root).into_iter().chain(Walk { walk, tree: PhantomData })
    }
}

impl Drop for BoundedTree {
    fn drop(&mut self) {
        // SAFETY: `arena` is not used again.
        unsafe { ManuallyDrop::take(&mut self.arena) }.recycle();
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
        // SAFETY: the walk is alive. If the function returns true, it has set `node` to a node of the tree.
        unsafe { aurora_walk_next(self.walk, node.as_mut_ptr()).then(|| Node::from_raw(node.assume_init())) }
    }
}

impl Drop for Walk<'_> {
    fn drop(&mut self) {
        // SAFETY: nothing else uses the walk.
        unsafe { aurora_walk_free(self.walk) };
    }
}

/// Parses a UTF-8 text into a tree. tree-sitter calls `on_progress` every 100 operations.
///
/// # Errors
///
/// Returns [`Stopped`] if the parse exceeded a limit, or if the caller stopped it.
pub fn parse(
    grammar: &Grammar,
    text: &[u8],
    limits: Limits,
    on_progress: &mut dyn FnMut() -> ControlFlow<()>,
) -> Result<BoundedTree, Stopped> {
    static BOUNDED: Once = Once::new();
    // SAFETY: outside of `aurora_parse_bounded`, the allocation functions set here pass every call to libc, as
    // tree-sitter's own functions do. Each set of functions can therefore free the blocks of the other.
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
    // SAFETY: each payload has the type to which its function casts it, and outlives the call. `longjmp` skips only
    // frames of C, because neither function allocates through tree-sitter. The arena has no blocks.
    let tree = unsafe {
        let (grammar, arena) = (grammar.for_text(text.len()).as_ptr(), arena.0.as_ptr());
        aurora_parse_bounded(grammar, input, options, arena, copied, nodes, reads, &raw mut is_exceeded)
    };
    match NonNull::new(tree) {
        Some(tree) => Ok(BoundedTree { tree, arena: ManuallyDrop::new(arena) }),
        None => {
            arena.recycle();
            Err(if is_exceeded { Stopped::AtLimit } else { Stopped::ByCaller })
        }
    }
}

/// Returns the rest of the text from byte `at`. `payload` points to a `&[u8]`.
unsafe extern "C" fn read(payload: *mut c_void, at: u32, _: TSPoint, length: *mut u32) -> *const c_char {
    // SAFETY: `parse` has set the payload to a slice that outlives the parse. tree-sitter passes a valid `length`.
    unsafe {
        let text = *payload.cast::<&[u8]>();
        let rest = text.get(at as usize..).unwrap_or_default();
        *length = rest.len() as u32;
        rest.as_ptr().cast()
    }
}

/// Returns whether to stop. The payload of `state` points to a `&mut dyn FnMut() -> ControlFlow<()>`.
unsafe extern "C" fn progress(state: *mut TSParseState) -> bool {
    // SAFETY: `parse` has set the payload, and nothing else uses the closure during the parse.
    let on_progress = unsafe { &mut *(*state).payload.cast::<&mut dyn FnMut() -> ControlFlow<()>>() };
    on_progress().is_break()
}

#[cfg(test)]
mod tests;
