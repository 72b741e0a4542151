//! Selects the nested blocks of a declarative language that become symbols.
//!
//! Data can nest deeply, and most keys are too small to be search results. A block is divided into its members if it is
//! large, or if it has no text outside of its members. A block that is not divided is one symbol. The chunks of a file
//! therefore follow the structure of the file, and their number depends on its size.

use std::ops::Range;

use rustc_hash::FxHashMap;

use crate::deadline::Deadline;
use crate::extract::captures::{CapturedDefinition, Captures};
use crate::extract::docs;
use crate::failure::ParseFailure;
use crate::language::{BlockLimits, DeclaredName, Language};
use crate::spans::{slice, span_of, text_of};
use crate::symbols::{Constant, bounded};

/// A block with fewer letters and digits than this outside of its members is a wrapper, which only qualifies its
/// members.
const MIN_OWN_BYTES: usize = 16;

/// Blocks that are too small to be symbols are recorded as constants if fewer blocks than this enclose them.
const NAMED_DEPTH: u32 = 2;

/// Keeps the blocks that are large enough and whose parent is divided. Turns wrappers into namespaces, and removes all
/// other blocks. Returns the names of removed blocks near the root, in document order.
///
/// # Errors
/// See [`Deadline::check`].
pub(super) fn select_blocks(
    language: &Language,
    limits: BlockLimits,
    captures: &mut Captures<'_, '_>,
    text: &str,
    deadline: &Deadline<'_>,
) -> Result<Vec<Constant>, ParseFailure> {
    let mut blocks = named_blocks(language, limits.min_bytes(text.len()), captures, text, deadline)?;
    remove_repeated(&mut blocks);
    measure(language, captures, &mut blocks, text);
    divide(&mut blocks, limits.whole_bytes);
    let mut small = Vec::new();
    let mut blocks = blocks.into_iter();
    captures.definitions.retain_mut(|definition| match blocks.next() {
        Some(block) if block.is_symbol => true,
        Some(block) if block.is_divided => {
            definition.kind = None;
            true
        }
        block => {
            let name = block.filter(|block| block.depth < NAMED_DEPTH).and_then(|block| block.name);
            let at = definition.name.start_byte() as u32;
            small.extend(name.map(|name| Constant { name: name.name, at }));
            false
        }
    });
    Ok(small)
}

/// A captured block.
#[derive(Default)]
struct Block {
    span: Range<u32>,
    /// Index of the enclosing named block.
    parent: Option<usize>,
    /// Number of blocks that enclose this block.
    depth: u32,
    /// Value of `depth` for the members of this block.
    member_depth: u32,
    has_body: bool,
    name: Option<DeclaredName>,
    /// Whether the block is large enough to be a symbol.
    is_large: bool,
    /// Whether the block contains blocks that are large enough to be symbols.
    has_members: bool,
    /// Number of letters and digits in the body, outside of the members that are large enough and their documentation.
    own_bytes: usize,
    /// Whether the block is divided, so that its members can be symbols.
    is_divided: bool,
    is_symbol: bool,
}

/// Returns a block for every captured definition, with its parent and, if the name may be recorded, its name.
fn named_blocks(
    language: &Language,
    min_bytes: usize,
    captures: &Captures<'_, '_>,
    text: &str,
    deadline: &Deadline<'_>,
) -> Result<Vec<Block>, ParseFailure> {
    let mut blocks: Vec<Block> = Vec::with_capacity(captures.definitions.len());
    let mut open: Vec<usize> = Vec::new();
    for definition in &captures.definitions {
        deadline.tick()?;
        let span = span_of(definition.node);
        while open.pop_if(|last| blocks[*last].span.end <= span.start).is_some() {}
        let parent = open.last().copied();
        let depth = parent.map_or(0, |parent| blocks[parent].member_depth);
        let has_body = definition.body.is_some();
        // A block without a body is a document, a list item, a table or a section. Many such blocks have the same keys,
        // so the names of their members are not recorded.
        let member_depth = if has_body { depth + 1 } else { NAMED_DEPTH };
        let is_large = span.len() >= min_bytes && spans_lines(definition);
        let needs_name = is_large || depth < NAMED_DEPTH;
        let name = if needs_name { name_of(language, definition, text) } else { None };
        let is_nameless = needs_name && name.is_none();
        let is_large = is_large && !is_nameless;
        blocks.push(Block { span, parent, depth, member_depth, has_body, name, is_large, ..Block::default() });
        // The members of a block without a name belong to the enclosing block.
        if !is_nameless {
            open.push(blocks.len() - 1);
        }
    }
    Ok(blocks)
}

/// Whether a definition spans several lines. A list or table on one line counts as a value of its parent, regardless of
/// its length.
fn spans_lines(definition: &CapturedDefinition<'_>) -> bool {
    definition.node.start_position().row < definition.node.end_position().row
}

fn name_of(language: &Language, definition: &CapturedDefinition<'_>, text: &str) -> Option<DeclaredName> {
    let declared = match language.declared_name {
        Some(read) => read(definition.name, text)?,
        None => DeclaredName { name: (language.name_in)(text_of(definition.name, text)).to_owned(), owner: None },
    };
    let name = bounded(&declared.name).to_owned();
    (!name.is_empty()).then_some(DeclaredName { name, ..declared })
}

/// Clears [`Block::is_large`] of blocks whose name occurs several times in the parent, so that they stay part of the
/// parent. Such blocks are list items without a name of their own.
fn remove_repeated(blocks: &mut [Block]) {
    let mut seen: FxHashMap<(Option<usize>, &Option<DeclaredName>), usize> = FxHashMap::default();
    let mut repeated = Vec::new();
    for (index, block) in blocks.iter().enumerate().filter(|(_, block)| block.is_large) {
        if let Some(first) = seen.insert((block.parent, &block.name), index) {
            repeated.extend([first, index]);
        }
    }
    for index in repeated {
        blocks[index].is_large = false;
    }
}

/// Determines which blocks have members, and counts the letters and digits outside of the members.
fn measure(language: &Language, captures: &Captures<'_, '_>, blocks: &mut [Block], text: &str) {
    let words = |span: Range<u32>| slice(text, &span).bytes().filter(u8::is_ascii_alphanumeric).count();
    // For each block, the end of the last member so far.
    let start = |definition: &CapturedDefinition<'_>| definition.body.unwrap_or(definition.node).start_byte() as u32;
    let mut ends: Vec<u32> = captures.definitions.iter().map(start).collect();
    for index in 0..blocks.len() {
        let Block { span, parent: Some(parent), is_large: true, .. } = &blocks[index] else { continue };
        let (span, parent) = (span.clone(), *parent);
        let attached = docs::attached(language, &captures.leading, 0..0, span.start, text);
        let start = attached.doc.map_or(attached.start, |doc| doc.start.min(attached.start));
        blocks[parent].own_bytes += words(ends[parent]..start.max(ends[parent]));
        blocks[parent].has_members = true;
        ends[parent] = span.end;
    }
    for (block, end) in blocks.iter_mut().zip(ends).filter(|(block, _)| block.has_members) {
        block.own_bytes += words(end..block.span.end);
    }
}

/// Decides, from the root down, which blocks are divided and which blocks are symbols.
fn divide(blocks: &mut [Block], whole_bytes: usize) {
    for index in 0..blocks.len() {
        let is_reached = blocks[index].parent.is_none_or(|parent| blocks[parent].is_divided);
        let block = &mut blocks[index];
        if !block.is_large || !is_reached {
            continue;
        }
        // A block without a body contains the keys that name it, so it is not a wrapper.
        let is_wrapper = block.has_body && block.has_members && block.own_bytes < MIN_OWN_BYTES;
        block.is_divided = is_wrapper || (block.has_members && block.span.len() > whole_bytes);
        block.is_symbol = !is_wrapper;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_minimum_size_of_symbols_grows_with_the_file() {
        let limits = BlockLimits::DEFAULT;
        assert_eq!([0, 12_800, 25_600, 1 << 20].map(|bytes| limits.min_bytes(bytes)), [200, 200, 400, 500]);
    }
}
