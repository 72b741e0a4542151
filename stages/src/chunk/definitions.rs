//! Names that a piece of a chunk defines and that have no chunks of their own: nested functions, constants and
//! variables.

use std::cmp::Reverse;
use std::ops::Range;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::chunk::layout::Layout;
use crate::chunk::splitter::Atom;
use aurora_languages::{Constant, FileSymbols};

/// Maximum number of names of one piece. Each name becomes a dictionary entry. Text written by people stays far below
/// the limit.
pub(crate) const MAX_NAMES: usize = 256;

/// The names of one file by enclosing chunk.
pub(crate) struct Definitions<'a> {
    symbols: &'a FileSymbols,
    constants: FxHashMap<Option<u32>, Vec<&'a Constant>>,
}

impl<'a> Definitions<'a> {
    /// Assigns every constant to the innermost enclosing chunk.
    pub(crate) fn new(symbols: &'a FileSymbols, layout: &Layout) -> Self {
        let mut constants: FxHashMap<Option<u32>, Vec<&Constant>> = FxHashMap::default();
        let mut chunks: Vec<(u32, Range<u32>)> = Vec::new();
        if !symbols.constants.is_empty() {
            let indices = 0..symbols.symbols.len() as u32;
            chunks.extend(indices.filter(|index| layout.is_chunk(*index)).map(|index| (index, layout.span(index))));
            chunks.sort_by_key(|(index, span)| (span.start, Reverse(span.end), *index));
        }
        let mut open: Vec<(u32, Range<u32>)> = Vec::new();
        let mut next = chunks.into_iter().peekable();
        for constant in &symbols.constants {
            // The last open chunk is the innermost chunk. A chunk below it on the stack may have ended, and is popped
            // later.
            while let Some(chunk) = next.next_if(|(_, span)| span.start <= constant.at) {
                while open.pop_if(|(_, span)| span.end <= chunk.1.start).is_some() {}
                open.push(chunk);
            }
            while open.pop_if(|(_, span)| span.end <= constant.at).is_some() {}
            constants.entry(open.last().map(|(index, _)| *index)).or_default().push(constant);
        }
        Self { symbols, constants }
    }

    /// Returns the names in each piece of a chunk without duplicates: absorbed symbols first, then constants. The chunk
    /// `None` means module-level code.
    pub(crate) fn names_by_piece(
        &self,
        chunk: Option<u32>,
        absorbed: &[u32],
        pieces: &[Vec<Atom>],
    ) -> Vec<Vec<String>> {
        // Binary search in text order, because a generated table has thousands of constants and pieces.
        let piece_at = |at: u32| {
            let ends_before = |piece: &Vec<Atom>| piece.last().is_none_or(|atom| atom.bytes.end <= at);
            let index = pieces.partition_point(ends_before);
            let piece = pieces.get(index)?;
            let atom = piece.get(piece.partition_point(|atom| atom.bytes.end <= at))?;
            (atom.bytes.start <= at).then_some(index)
        };
        let mut found = vec![Names::default(); pieces.len()];
        for inner in absorbed.iter().filter(|inner| Some(**inner) != chunk) {
            let symbol = &self.symbols.symbols[*inner as usize];
            if let Some(piece) = piece_at(symbol.bytes.start) {
                found[piece].push(&symbol.name);
            }
        }
        for constant in self.constants.get(&chunk).into_iter().flatten() {
            if let Some(piece) = piece_at(constant.at) {
                found[piece].push(&constant.name);
            }
        }
        found.into_iter().map(|names| names.list.into_iter().map(str::to_owned).collect()).collect()
    }
}

/// The names of one piece.
#[derive(Clone, Default)]
struct Names<'a> {
    list: Vec<&'a str>,
    seen: FxHashSet<&'a str>,
}

impl<'a> Names<'a> {
    fn push(&mut self, name: &'a str) {
        if self.list.len() < MAX_NAMES && self.seen.insert(name) {
            self.list.push(name);
        }
    }
}
