//! The best chunks of a weighted sum of terms, without scoring every posting.
//!
//! MaxScore (Turtle and Flood, "Query evaluation: strategies and optimizations", 1995) by windows of chunk ids. In each
//! window every list has an upper bound, from its blocks. The lists with the lowest bounds, as many as together cannot
//! reach the bar, cannot bring in a chunk alone: they are only asked about chunks that the others have brought in, and
//! about those only as long as the bounds that are left could lift them over the bar.
//!
//! The sums in here run in another order than those that are shown, and so differ from them in the last bits. A slack
//! around the bar makes up for that: what comes out holds the exact best, and a few more, for the caller to score again.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use aurora_storage::{BlockBound, ChunkId, FIELDS, PostingsCursor};
use roaring::RoaringBitmap;

/// Ids that are looked at together.
const WINDOW: u32 = 4096;
/// 64-bit words of a set of them.
const WORDS: usize = WINDOW as usize / 64;
/// Most postings of a block.
const BLOCK: u64 = 128;
/// Chunks that a filter leaves in a window are asked for one by one if postings are this many times as many.
const FEW: u64 = 8;

/// What a posting adds to the score of its chunk, without the factor of the term.
pub(crate) trait Scorer {
    /// The contribution of a posting.
    fn posting(&self, chunk: ChunkId, frequencies: [u16; FIELDS]) -> f32;
    /// At least the contribution of every posting of a block.
    fn bound(&self, block: &BlockBound) -> f32;
}

/// The postings of a term.
pub(crate) struct List<'p> {
    cursor: PostingsCursor<'p>,
    factor: f32,
    blocks: Vec<Block>,
    /// The first block that does not end before the window.
    block: usize,
    /// Bound in the window.
    bound: f32,
    /// At least as many postings as are in the window.
    postings: u64,
}

#[derive(Clone, Copy)]
struct Block {
    first: u32,
    last: u32,
    bound: f32,
}

impl<'p> List<'p> {
    /// A list from its postings, and the factor of its term, which must not be negative.
    pub(crate) fn new(
        cursor: PostingsCursor<'p>,
        blocks: impl Iterator<Item = BlockBound>,
        factor: f32,
        scorer: &impl Scorer,
    ) -> Self {
        let blocks = blocks.map(|block| Block {
            first: block.first.0,
            last: block.last.0,
            bound: factor * scorer.bound(&block),
        });
        Self { cursor, factor, blocks: blocks.collect(), block: 0, bound: 0.0, postings: 0 }
    }

    /// Finds the bound in a window that lies behind the last one.
    fn enter(&mut self, window: Window) {
        let ended = |block: &&Block| block.last < window.first;
        self.block += self.blocks[self.block..].iter().take_while(ended).count();
        let inside = self.blocks[self.block..].iter().take_while(|block| block.first < window.end);
        let none = (0.0, 0);
        (self.bound, self.postings) =
            inside.fold(none, |(bound, count), block| (block.bound.max(bound), count + BLOCK));
    }

    /// Adds every posting in the window.
    fn add_all(&mut self, window: Window, scorer: &impl Scorer, sums: &mut Sums) {
        self.cursor.seek(ChunkId(window.first));
        self.cursor.each_below(ChunkId(window.end), |chunk, frequencies| {
            sums.add(chunk.0 - window.first, self.factor * scorer.posting(chunk, frequencies));
        });
    }

    /// Adds the postings of candidates, which ascend.
    fn add_to(&mut self, window: Window, scorer: &impl Scorer, candidates: &mut [(u32, f32)]) {
        for (at, sum) in candidates {
            let chunk = ChunkId(window.first + *at);
            if let Some(frequencies) = self.cursor.find(chunk) {
                *sum += self.factor * scorer.posting(chunk, frequencies);
            }
        }
    }
}

#[derive(Clone, Copy)]
struct Window {
    first: u32,
    end: u32,
}

/// Chunks among which the best `k` are, by scores as [`Scorer`] and the factors give them, and all that equal the last of
/// them; ascending. Only chunks in `filter`, which holds live ones.
pub(crate) fn candidates(
    lists: &mut [List<'_>],
    scorer: &impl Scorer,
    k: usize,
    filter: Option<&RoaringBitmap>,
) -> Vec<ChunkId> {
    let last = lists.iter().filter_map(|list| list.blocks.last()).map(|block| block.last).max();
    let (Some(last), true) = (last, k > 0) else { return Vec::new() };
    let mut best = Best::new(k, lists.len());
    let mut sums = Sums::new();
    let mut found = Vec::new();
    for first in (0..=last).step_by(WINDOW as usize) {
        let window = Window { first, end: first.saturating_add(WINDOW) };
        lists.iter_mut().for_each(|list| list.enter(window));
        lists.sort_unstable_by(|a, b| a.bound.total_cmp(&b.bound));
        found.clear();
        collect(lists, window, scorer, filter, (&mut sums, &best), &mut found);
        found.iter().for_each(|&(at, score)| best.push(window.first + at, score));
    }
    best.finish()
}

/// The chunks of a window that reach the bar, from lists that ascend by their bounds.
fn collect(
    lists: &mut [List<'_>],
    window: Window,
    scorer: &impl Scorer,
    filter: Option<&RoaringBitmap>,
    (sums, best): (&mut Sums, &Best),
    found: &mut Vec<(u32, f32)>,
) {
    // What a list and all below it can add
    let reach = lists.iter().scan(0.0f32, |sum, list| {
        *sum += list.bound;
        Some(*sum)
    });
    let reach: Vec<f32> = reach.collect();
    let silent = reach.iter().take_while(|&&reach| !best.admits(reach)).count();
    if silent == lists.len() {
        return;
    }
    let allowed = filter.map(|filter| Allowed::new(filter, window));
    let postings = lists[silent..].iter().map(|list| list.postings).sum::<u64>();
    let asked = match &allowed {
        Some(allowed) if allowed.count * FEW < postings => {
            found.extend(allowed.iter().map(|at| (at, 0.0)));
            lists.len()
        }
        _ => {
            lists[silent..].iter_mut().for_each(|list| list.add_all(window, scorer, sums));
            let rest = if silent > 0 { reach[silent - 1] } else { 0.0 };
            sums.take(allowed.as_ref(), |at, sum| {
                if best.admits(sum + rest) {
                    found.push((at, sum));
                }
            });
            silent
        }
    };
    for at in (0..asked).rev() {
        if found.is_empty() || lists[at].postings == 0 {
            return found.retain(|(_, sum)| best.admits(*sum));
        }
        lists[at].add_to(window, scorer, found);
        let rest = if at > 0 { reach[at - 1] } else { 0.0 };
        found.retain(|(_, sum)| best.admits(sum + rest));
    }
}

/// Sums of a window, by place.
struct Sums {
    sums: Box<[f32; WINDOW as usize]>,
    touched: [u64; WORDS],
}

impl Sums {
    fn new() -> Self {
        Self { sums: Box::new([0.0; WINDOW as usize]), touched: [0; WORDS] }
    }

    #[inline]
    fn add(&mut self, at: u32, score: f32) {
        let at = at as usize % WINDOW as usize;
        self.sums[at] += score;
        self.touched[at / 64] |= 1 << (at % 64);
    }

    /// Gives the sums at allowed places, ascending, and forgets all.
    fn take(&mut self, allowed: Option<&Allowed>, mut each: impl FnMut(u32, f32)) {
        for word in 0..WORDS {
            let mut bits = std::mem::take(&mut self.touched[word]);
            while bits != 0 {
                let at = word * 64 + bits.trailing_zeros() as usize;
                let sum = std::mem::take(&mut self.sums[at]);
                if allowed.is_none_or(|allowed| allowed.words[word] >> (at % 64) & 1 != 0) {
                    each(at as u32, sum);
                }
                bits &= bits - 1;
            }
        }
    }
}

/// What a filter lets through in a window.
struct Allowed {
    words: [u64; WORDS],
    count: u64,
}

impl Allowed {
    fn new(filter: &RoaringBitmap, window: Window) -> Self {
        let mut allowed = Self { words: [0; WORDS], count: 0 };
        for chunk in filter.range(window.first..window.end) {
            let at = (chunk - window.first) as usize;
            allowed.words[at / 64] |= 1 << (at % 64);
            allowed.count += 1;
        }
        allowed
    }

    fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        (0..WINDOW).filter(|at| self.words[*at as usize / 64] >> (at % 64) & 1 != 0)
    }
}

/// The best of a stream of scores, and all that may be as good.
struct Best {
    k: usize,
    /// Share by which two sums of the same numbers may differ, several times over.
    slack: f32,
    /// Bits of the `k` best scores; positive floats are ordered as their bits.
    scores: BinaryHeap<Reverse<u32>>,
    bar: f32,
    kept: Vec<(u32, f32)>,
}

impl Best {
    fn new(k: usize, terms: usize) -> Self {
        // n additions and the few operations of a posting err by at most n + 8 halves of the last place (2⁻²⁴ each)
        let slack = (terms as f32 + 8.0) * f32::EPSILON * 4.0;
        Self { k, slack, scores: BinaryHeap::with_capacity(k + 1), bar: f32::MIN_POSITIVE, kept: Vec::new() }
    }

    /// Whether a score of at most `bound` may be among the best.
    #[inline]
    fn admits(&self, bound: f32) -> bool {
        bound >= self.bar
    }

    fn push(&mut self, chunk: u32, score: f32) {
        if !self.admits(score) {
            return;
        }
        self.kept.push((chunk, score));
        self.scores.push(Reverse(score.to_bits()));
        if self.scores.len() > self.k {
            self.scores.pop();
        }
        if self.scores.len() == self.k
            && let Some(&Reverse(last)) = self.scores.peek()
        {
            self.bar = (f32::from_bits(last) * (1.0 - self.slack)).max(f32::MIN_POSITIVE);
        }
    }

    fn finish(self) -> Vec<ChunkId> {
        self.kept.iter().filter(|(_, score)| self.admits(*score)).map(|&(chunk, _)| ChunkId(chunk)).collect()
    }
}
