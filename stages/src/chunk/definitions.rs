//! Which names a piece of a chunk defines without their being chunks: nested functions, constants, variables.

use std::cmp::Reverse;
use std::ops::Range;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::chunk::layout::Layout;
use crate::chunk::splitter::Atom;
use crate::parse::symbols::{Constant, FileSymbols};

/// Most names of one piece. Each becomes an entry of the dictionary; text written by people stays far below.
pub(crate) const MOST_NAMES: usize = 256;

/// The names of one file by the chunk that they stand in.
pub(crate) struct Definitions<'a> {
    symbols: &'a FileSymbols,
    constants: FxHashMap<Option<u32>, Vec<&'a Constant>>,
}

impl<'a> Definitions<'a> {
    /// Gives every constant to the innermost chunk around it.
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
            while let Some(chunk) = next.next_if(|(_, span)| span.start <= constant.at) {
                open.retain(|(_, span)| span.end > chunk.1.start);
                open.push(chunk);
            }
            open.retain(|(_, span)| span.end > constant.at);
            constants.entry(open.last().map(|(index, _)| *index)).or_default().push(constant);
        }
        Self { symbols, constants }
    }

    /// The names in a piece of a chunk, each once: of the symbols that the chunk has absorbed, then of constants.
    /// Without a chunk, of a piece of what stands outside all symbols.
    pub(crate) fn of(&self, chunk: Option<u32>, absorbed: &[u32], piece: &[Atom]) -> Vec<String> {
        // Atoms and constants are in the order of the text; tables have thousands of both.
        let begins_here = |at: u32| {
            let atom = piece.get(piece.partition_point(|atom| atom.bytes.end <= at));
            atom.is_some_and(|atom| atom.bytes.start <= at)
        };
        let inner = absorbed.iter().filter(|inner| Some(**inner) != chunk);
        let inner = inner.map(|inner| &self.symbols.symbols[*inner as usize]);
        let inner = inner.filter(|symbol| begins_here(symbol.bytes.start)).map(|symbol| &symbol.name);
        let constants = self.constants.get(&chunk).map_or(&[][..], Vec::as_slice);
        let start = piece.first().map_or(0, |atom| atom.bytes.start);
        let constants = &constants[constants.partition_point(|constant| constant.at < start)..];
        let end = piece.last().map_or(0, |atom| atom.bytes.end);
        let constants = constants.iter().take_while(|constant| constant.at < end);
        let constants = constants.filter(|constant| begins_here(constant.at)).map(|constant| &constant.name);
        let mut seen = FxHashSet::default();
        inner.chain(constants).filter(|name| seen.insert(name.as_str())).take(MOST_NAMES).cloned().collect()
    }
}
