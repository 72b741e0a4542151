//! Packs the texts of the best hits into a token budget. Every line appears once.

use std::collections::BTreeMap;

use aurora_storage::{ChunkType, Complexity};
use rustc_hash::FxHashMap;
use serde::Serialize;

use crate::memory::Source;
use crate::present::results::{ShownChunk, display_path};
use crate::present::tokens::estimate_tokens;
use crate::work::{Cancelled, WorkBudget};

/// Maximum number of blank lines between two chunks that are joined into one block.
const MAX_BLANK_LINES: u32 = 2;
/// Maximum number of names in a header.
const MAX_NAMES: usize = 3;
/// Minimum number of lines of a truncated text.
const MIN_LINES: usize = 3;

/// A chunk to pack. Pieces are given in the order of the ranking.
#[derive(Debug, Clone)]
pub(crate) struct Piece {
    /// The hit, without its text.
    pub(crate) hit: PackedHit,
    /// The file of the chunk.
    pub(crate) file: FileLocation,
    /// The chunk's text.
    pub(crate) text: String,
    /// Whether the text has every line of its range in the file. Only such a text is joined with its neighbours.
    pub(crate) whole: bool,
    /// Number of lines of the text up to the end of the signature.
    pub(crate) head: usize,
}

/// A file of one of the searched indexes.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub(crate) struct FileLocation {
    /// Position of the index among the searched indexes.
    pub(crate) root_place: usize,
    /// Source of the file.
    pub(crate) source: Source,
    /// Name of the root, if several roots are searched.
    pub(crate) root: Option<String>,
    /// Path below the root.
    pub(crate) path: String,
}

/// A hit whose text, or the start of its text, is in a block.
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PackedHit {
    /// Rank, from 1.
    pub rank: usize,
    /// The chunk's key.
    pub id: String,
    /// The chunk's type.
    #[serde(rename = "type")]
    pub chunk_type: ChunkType,
    /// Name with the names of the enclosing definitions.
    pub name: String,
    /// First line of the chunk.
    pub line_start: u32,
    /// Last line of the chunk, inclusive.
    pub line_end: u32,
    /// Complexity of source code; `None` for other texts.
    #[serde(skip)]
    pub complexity: Option<Complexity>,
    /// Final score.
    pub score: f32,
    /// Whether the block contains the whole text of the chunk.
    pub complete: bool,
}

/// A range of lines of a file.
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ContextBlock {
    /// Source of the file.
    pub source: Source,
    /// Position of the root among the searched roots.
    #[serde(skip)]
    pub root_place: usize,
    /// Name of the root, if several roots are searched.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub root: Option<String>,
    /// Path of the file below its root.
    pub file: String,
    /// First line of the text.
    pub line_start: u32,
    /// Last line of the text, inclusive. If the text omits inner lines, this is the last line of the chunk.
    pub line_end: u32,
    /// The hits in the block, best first.
    pub hits: Vec<PackedHit>,
    /// Estimated number of tokens of the header, the text and the following blank line.
    pub tokens: usize,
    /// The text.
    #[serde(rename = "content")]
    pub text: String,
}

/// The best hits that fit into the budget.
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Context {
    /// Maximum number of tokens.
    pub budget: usize,
    /// Estimated number of tokens of all blocks; never exceeds the budget.
    pub tokens: usize,
    /// Blocks in the order of their best hits.
    pub blocks: Vec<ContextBlock>,
    /// Number of hits that did not fit.
    pub skipped: usize,
}

impl Context {
    /// Returns the chunks whose texts are in the blocks.
    pub fn shown(&self) -> impl Iterator<Item = ShownChunk<'_>> {
        self.blocks.iter().flat_map(|block| {
            block.hits.iter().map(|hit| ShownChunk {
                root_place: block.root_place,
                root: block.root.as_deref(),
                key: &hit.id,
            })
        })
    }
}

impl FileLocation {
    /// Creates a block and estimates its number of tokens.
    fn block(&self, (line_start, line_end): (u32, u32), hits: Vec<PackedHit>, text: String) -> ContextBlock {
        let Self { root_place, source, root, path } = self.clone();
        let mut block =
            ContextBlock { source, root_place, root, file: path, line_start, line_end, hits, tokens: 0, text };
        block.tokens = estimate_tokens(&block.header()) + estimate_tokens(&block.text) + 1;
        block
    }
}

impl ContextBlock {
    /// Returns the header, such as `path:4-20 UserManager`, with the names of the hits in the block. For an entry of
    /// memory, the header contains the entry's id and title.
    pub fn header(&self) -> String {
        let mut names: Vec<&str> = Vec::new();
        for hit in &self.hits {
            if !hit.name.is_empty() && !names.contains(&hit.name.as_str()) {
                names.push(&hit.name);
            }
        }
        let more = if names.len() > MAX_NAMES { ", …" } else { "" };
        names.truncate(MAX_NAMES);
        let cut = match self.hits.iter().find(|hit| !hit.complete) {
            Some(hit) => format!(" (cut, goes on to {})", hit.line_end),
            None => String::new(),
        };
        let mut place = display_path(self.root.as_deref(), &self.file);
        if self.source != Source::Memory {
            place += &format!(":{}-{}", self.line_start, self.line_end);
        }
        format!("{place} {}{more}{cut}", names.join(", ")).trim_end().into()
    }
}

/// Packs the pieces, which must be in the order of their ranks, into `budget` tokens. [`estimate_tokens`] counts the
/// tokens.
///
/// A piece that does not fit is truncated to the first lines that fit into half of the remaining budget. If these lines
/// do not include the signature and at least one more line, or are fewer than [`MIN_LINES`], the piece is skipped.
/// Chunks of a file that overlap, touch, or have at most two blank lines between them form one block. `is_blank`
/// returns whether a line of a file is blank.
pub(crate) fn pack(
    pieces: Vec<Piece>,
    budget: usize,
    is_blank: &dyn Fn(&FileLocation, u32) -> bool,
    work: &WorkBudget,
) -> Result<Context, Cancelled> {
    let mut packer = Packer { files: FxHashMap::default(), loose: Vec::new(), tokens: 0, is_blank, work };
    let mut skipped = 0;
    for piece in pieces {
        if !packer.add(piece, budget) {
            skipped += 1;
        }
        work.check()?;
    }
    let mut blocks: Vec<ContextBlock> = packer.files.values().flat_map(|file| file.blocks(is_blank)).collect();
    blocks.append(&mut packer.loose);
    blocks.sort_by_key(|block| block.hits.iter().map(|hit| hit.rank).min());
    Ok(Context { budget, tokens: packer.tokens, blocks, skipped })
}

struct Packer<'b> {
    files: FxHashMap<FileLocation, FileLines>,
    /// Blocks of texts that differ from the lines of their files.
    loose: Vec<ContextBlock>,
    tokens: usize,
    is_blank: &'b dyn Fn(&FileLocation, u32) -> bool,
    work: &'b WorkBudget,
}

/// The packed lines of one file.
#[derive(Clone, Default)]
struct FileLines {
    file: FileLocation,
    lines: BTreeMap<u32, String>,
    hits: Vec<PackedHit>,
}

impl Packer<'_> {
    /// Adds a piece, truncated if necessary. Returns whether the piece was added.
    fn add(&mut self, piece: Piece, budget: usize) -> bool {
        let count = piece.text.lines().count();
        if self.try_lines(&piece, count, budget) {
            return true;
        }
        let allowed = self.tokens + budget.saturating_sub(self.tokens) / 2;
        let least = MIN_LINES.max(piece.head + 1);
        (least..count).rev().any(|lines| self.work.is_cancelled() || self.try_lines(&piece, lines, allowed))
    }

    /// Adds the first `lines` lines of a piece, unless the total number of tokens would exceed `most`. Returns whether
    /// the lines were added.
    fn try_lines(&mut self, piece: &Piece, lines: usize, most: usize) -> bool {
        let complete = lines == piece.text.lines().count();
        let hit = PackedHit { complete, ..piece.hit.clone() };
        if !piece.whole {
            let text = piece.text.lines().take(lines).collect::<Vec<_>>().join("\n");
            let block = piece.file.block((hit.line_start, hit.line_end), vec![hit], text);
            let fits = self.tokens + block.tokens <= most;
            if fits {
                self.tokens += block.tokens;
                self.loose.push(block);
            }
            return fits;
        }
        let before = self.files.get(&piece.file);
        let mut after =
            before.cloned().unwrap_or_else(|| FileLines { file: piece.file.clone(), ..FileLines::default() });
        after.insert(hit, piece.text.lines().take(lines));
        let tokens = self.tokens - before.map_or(0, |file| file.tokens(self.is_blank)) + after.tokens(self.is_blank);
        let fits = tokens <= most;
        if fits {
            self.tokens = tokens;
            self.files.insert(piece.file.clone(), after);
        }
        fits
    }
}

impl FileLines {
    fn insert<'t>(&mut self, hit: PackedHit, text: impl Iterator<Item = &'t str>) {
        for (line, text) in (hit.line_start..).zip(text) {
            // A chunk may begin inside a line that another chunk contains completely.
            let shown = self.lines.entry(line).or_default();
            if text.len() > shown.len() {
                *shown = text.to_owned();
            }
        }
        self.hits.push(hit);
    }

    fn tokens(&self, is_blank: &dyn Fn(&FileLocation, u32) -> bool) -> usize {
        self.blocks(is_blank).iter().map(|block| block.tokens).sum()
    }

    fn blocks(&self, is_blank: &dyn Fn(&FileLocation, u32) -> bool) -> Vec<ContextBlock> {
        let mut spans: Vec<(u32, u32)> = Vec::new();
        for &line in self.lines.keys() {
            match spans.last_mut() {
                Some((_, last))
                    if line - *last <= MAX_BLANK_LINES + 1
                        && (*last + 1..line).all(|gap| is_blank(&self.file, gap)) =>
                {
                    *last = line;
                }
                _ => spans.push((line, line)),
            }
        }
        let block = |(first, last): (u32, u32)| {
            let lines = (first..=last).map(|line| self.lines.get(&line).map_or("", String::as_str));
            let hits = self.hits.iter().filter(|hit| (first..=last).contains(&hit.line_start));
            let hits = hits.map(|hit| PackedHit { complete: hit.line_end <= last, ..hit.clone() });
            self.file.block((first, last), hits.collect(), lines.collect::<Vec<_>>().join("\n"))
        };
        spans.into_iter().map(block).collect()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn line_of(number: u32) -> String {
        format!("    line {number} {}", "word ".repeat((number % 5) as usize))
    }

    fn piece(rank: usize, file: &str, first: u32, last: u32) -> Piece {
        let text: Vec<String> = (first..=last).map(line_of).collect();
        Piece {
            hit: PackedHit {
                rank,
                id: format!("code:{file}:f{first}"),
                chunk_type: ChunkType::Function,
                name: format!("f{first}"),
                line_start: first,
                line_end: last,
                complexity: None,
                score: 1.0 / rank as f32,
                complete: true,
            },
            file: FileLocation { path: file.to_owned(), ..FileLocation::default() },
            text: text.join("\n"),
            whole: true,
            head: 1,
        }
    }

    fn headers(context: &Context) -> Vec<String> {
        context.blocks.iter().map(ContextBlock::header).collect()
    }

    #[test]
    fn adjacent_chunks_form_one_block_and_the_best_block_comes_first() {
        let pieces = vec![
            piece(1, "b.py", 20, 22),
            piece(2, "a.py", 1, 3),
            piece(3, "b.py", 10, 18),
            piece(4, "b.py", 11, 12),
            piece(5, "a.py", 5, 6),
        ];
        let context = pack(pieces, 10_000, &|file, line| (&*file.path, line) == ("b.py", 19), &WorkBudget::default())
            .expect("not cancelled");
        assert_eq!(headers(&context), ["b.py:10-22 f20, f10, f11", "a.py:1-3 f1", "a.py:5-6 f5"]);
        assert_eq!(context.blocks[0].text.lines().nth(9), Some(""));
        assert_eq!((context.skipped, context.tokens), (0, context.blocks.iter().map(|block| block.tokens).sum()));
    }

    #[test]
    fn pieces_that_do_not_fit_are_truncated_or_skipped() {
        let context =
            pack(vec![piece(1, "a.py", 1, 40), piece(2, "b.py", 7, 9)], 150, &|_, _| false, &WorkBudget::default())
                .expect("not cancelled");
        assert_eq!(headers(&context), ["a.py:1-9 f1 (cut, goes on to 40)", "b.py:7-9 f7"]);
        assert!(!context.blocks[0].hits[0].complete && context.tokens <= 150);
        let nothing =
            pack(vec![piece(1, "a.py", 1, 40)], 10, &|_, _| true, &WorkBudget::default()).expect("not cancelled");
        assert_eq!((nothing.blocks.len(), nothing.skipped, nothing.tokens), (0, 1, 0));
    }

    #[test]
    fn a_text_with_omitted_lines_is_a_separate_block() {
        let mut skeleton = piece(1, "a.py", 1, 30);
        skeleton.text = "class A:\n    def f(self)".to_owned();
        skeleton.whole = false;
        let context = pack(vec![skeleton, piece(2, "a.py", 5, 8)], 1_000, &|_, _| false, &WorkBudget::default())
            .expect("not cancelled");
        assert_eq!(headers(&context), ["a.py:1-30 f1", "a.py:5-8 f5"]);
    }

    proptest! {
        #[test]
        fn the_budget_is_not_exceeded_and_every_line_is_shown_once(
            spans in prop::collection::vec((0_usize..3, 1_u32..60, 0_u32..25), 0..12), budget in 0_usize..900, blank in 1_u32..60,
        ) {
            let files = ["a.py", "b.py", "c.py"];
            let pieces: Vec<Piece> =
                spans.iter().enumerate().map(|(at, &(file, first, more))| piece(at + 1, files[file], first, first + more)).collect();
            let context = pack(pieces.clone(), budget, &|_, line| line == blank, &WorkBudget::default()).expect("not cancelled");
            let printed: String =
                context.blocks.iter().map(|block| format!("{}\n{}\n\n", block.header(), block.text)).collect();
            prop_assert!(context.tokens <= budget);
            prop_assert!(printed.is_empty() || estimate_tokens(printed.trim_end_matches('\n')) <= context.tokens);
            prop_assert!(context.blocks.windows(2).all(|pair| pair[0].hits[0].rank.min(99) != pair[1].hits[0].rank));
            for (at, block) in context.blocks.iter().enumerate() {
                prop_assert!(!block.hits.is_empty());
                for (line, text) in (block.line_start..=block.line_end).zip(block.text.split('\n')) {
                    prop_assert!(text == line_of(line) || (text.is_empty() && line == blank));
                }
                prop_assert_eq!(block.text.split('\n').count() as u32, block.line_end - block.line_start + 1);
                for other in &context.blocks[..at] {
                    let apart = other.line_end + 1 < block.line_start || block.line_end + 1 < other.line_start;
                    prop_assert!(other.file != block.file || apart);
                }
                for hit in &block.hits {
                    prop_assert_eq!(hit.complete, hit.line_end <= block.line_end);
                }
            }
            let shown: usize = context.blocks.iter().map(|block| block.hits.len()).sum();
            prop_assert_eq!(shown + context.skipped, pieces.len());
        }
    }
}
