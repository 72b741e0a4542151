//! The best chunks of a weighted sum of terms, without scoring every posting.
//!
//! MaxScore (Turtle and Flood, "Query evaluation: strategies and optimizations", 1995) by windows of chunk ids, those
//! with the highest bounds first, until the next can hold nothing better. In a window the lists with the lowest bounds,
//! as many as together cannot reach the bar, cannot bring in a chunk alone: they are only asked about chunks that the
//! others have brought in, and about those only as long as the bounds that are left could lift them over the bar. Of the
//! other lists those blocks of postings are left out that no chunk can reach the bar with.
//!
//! The sums in here run in another order than those that are shown, and so differ from them in the last bits. A slack
//! around the bar makes up for that: what comes out holds the exact best, and a few more, for the caller to score again.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use aurora_storage::{BlockBound, ChunkId, FIELDS, PostingBatch, Postings, PostingsCursor};
use roaring::RoaringBitmap;

/// Ids that are looked at together.
const WINDOW: u32 = 4096;
/// 64-bit words of a set of them.
const WORDS: usize = WINDOW as usize / 64;
/// Most postings of a block.
const BLOCK: u32 = 128;
/// A list is walked, not searched, where its postings in a window are fewer than this for each candidate.
const PER_BLOCK: u32 = 64;
/// Lists of up to this many postings are scored at once, which gives them exact bounds.
const SHORT: u32 = 1024;
/// Chunks that a filter leaves in a window are asked for one by one if postings are this many times as many.
const FEW: u32 = 8;

/// What a posting adds to the score of its chunk, without the factor of the term.
pub(crate) trait Scorer {
    /// The contribution of a posting.
    fn posting(&self, chunk: ChunkId, frequencies: [u16; FIELDS]) -> f32;
    /// The contributions of all postings of a batch, in their order.
    fn postings(&self, batch: &mut PostingBatch, scores: &mut Scores);
    /// At least the contribution of every posting of a block.
    fn bound(&self, block: &BlockBound) -> f32;
}

/// Contributions of the postings of a batch.
pub(crate) type Scores = [f32; PostingBatch::MOST];

/// The postings of a term.
pub(crate) struct List<'p> {
    source: Source<'p>,
    factor: f32,
    /// What is known of each window.
    reaches: Vec<Reach>,
}

enum Source<'p> {
    /// Chunks and what they get, ascending.
    Scored(Vec<(u32, f32)>),
    Postings(&'p Postings<'p>, PostingsCursor<'p>, Vec<Block>),
}

/// A block of postings, and at least what any of its chunks gets.
struct Block {
    first: u32,
    last: u32,
    bound: f32,
}

/// What a list can do in a window.
#[derive(Clone, Copy, Default)]
struct Reach {
    /// At least what any of its chunks gets.
    bound: f32,
    /// At least as many postings as there are.
    postings: u32,
}

impl<'p> List<'p> {
    /// A list of a term with a positive factor; `end` is the id behind the last chunk of the index.
    pub(crate) fn new(postings: &'p Postings<'p>, factor: f32, scorer: &impl Scorer, end: u32) -> Self {
        let mut reaches = vec![Reach::default(); end.div_ceil(WINDOW) as usize];
        let mut reach = |window: u32, bound: f32, count: u32| {
            if let Some(reach) = reaches.get_mut(window as usize) {
                reach.bound = reach.bound.max(bound);
                reach.postings += count;
            }
        };
        let source = if postings.doc_frequency() <= SHORT {
            let mut scored = Vec::with_capacity(postings.doc_frequency() as usize);
            Room::new().each_below(&mut postings.cursor(), end, scorer, |chunk, score| {
                reach(chunk / WINDOW, factor * score, 1);
                scored.push((chunk, factor * score));
            });
            Source::Scored(scored)
        } else {
            let blocks = postings.blocks().map(|block| Block {
                first: block.first.0,
                last: block.last.0,
                bound: factor * scorer.bound(&block),
            });
            let blocks: Vec<Block> = blocks.collect();
            for Block { first, last, bound } in &blocks {
                (first / WINDOW..=last / WINDOW).for_each(|window| reach(window, *bound, BLOCK));
            }
            Source::Postings(postings, postings.cursor(), blocks)
        };
        Self { source, factor, reaches }
    }

    /// Adds the postings in the window, but for blocks with which no chunk can reach the bar; `rest` is at least what the
    /// other lists can add.
    fn add_all(
        &mut self,
        window: Window,
        scorer: &impl Scorer,
        (best, rest): (&Best, f32),
        (sums, room): (&mut Sums, &mut Room),
    ) {
        match &mut self.source {
            Source::Scored(scored) => {
                let from = scored.partition_point(|(chunk, _)| *chunk < window.first);
                let inside = scored[from..].iter().take_while(|(chunk, _)| *chunk < window.end);
                inside.for_each(|&(chunk, score)| sums.add(chunk - window.first, score));
            }
            Source::Postings(_, cursor, blocks) => {
                let from = blocks.partition_point(|block| block.last < window.first);
                let inside = blocks[from..].iter().take_while(|block| block.first < window.end);
                for block in inside.filter(|block| best.admits(block.bound + rest)) {
                    cursor.move_to(ChunkId(block.first.max(window.first)));
                    room.each_below(cursor, window.end.min(block.last.saturating_add(1)), scorer, |chunk, score| {
                        sums.add(chunk - window.first, self.factor * score);
                    });
                }
            }
        }
    }

    /// Adds the postings of candidates, which ascend.
    fn add_to(&mut self, window: Window, scorer: &impl Scorer, candidates: &mut [(u32, f32)]) {
        let many = candidates.len() as u32 * PER_BLOCK > self.reaches[window.number].postings;
        match &mut self.source {
            Source::Scored(scored) => {
                for (at, sum) in candidates {
                    if let Ok(found) = scored.binary_search_by_key(&(window.first + *at), |(chunk, _)| *chunk) {
                        *sum += scored[found].1;
                    }
                }
            }
            Source::Postings(_, cursor, _) if many => {
                cursor.move_to(ChunkId(window.first));
                for (at, sum) in candidates {
                    let chunk = ChunkId(window.first + *at);
                    if cursor.seek(chunk) == Some(chunk)
                        && let Some((_, frequencies)) = cursor.current()
                    {
                        *sum += self.factor * scorer.posting(chunk, frequencies);
                    }
                }
            }
            Source::Postings(postings, ..) => {
                for (at, sum) in candidates {
                    let chunk = ChunkId(window.first + *at);
                    if let Some(frequencies) = postings.find(chunk) {
                        *sum += self.factor * scorer.posting(chunk, frequencies);
                    }
                }
            }
        }
    }
}

/// Room for postings that are read and scored together.
struct Room {
    batch: PostingBatch,
    scores: Scores,
}

impl Room {
    fn new() -> Self {
        Self { batch: PostingBatch::default(), scores: [0.0; PostingBatch::MOST] }
    }

    /// Gives the chunks from the cursor's on that are below `end`, with what their postings contribute.
    fn each_below(
        &mut self,
        cursor: &mut PostingsCursor<'_>,
        end: u32,
        scorer: &impl Scorer,
        mut each: impl FnMut(u32, f32),
    ) {
        while cursor.read_below(ChunkId(end), &mut self.batch) {
            scorer.postings(&mut self.batch, &mut self.scores);
            self.batch.chunks().iter().zip(&self.scores).for_each(|(&chunk, &score)| each(chunk, score));
        }
    }
}

#[derive(Clone, Copy)]
struct Window {
    number: usize,
    first: u32,
    end: u32,
}

/// Chunks among which the best `k` are, by scores as [`Scorer`] and the factors give them, and all that equal the last of
/// them; ascending. Only chunks in `filter`, which holds live ones.
pub(crate) fn candidates(
    mut lists: Vec<List<'_>>,
    scorer: &impl Scorer,
    k: usize,
    filter: Option<&RoaringBitmap>,
) -> Vec<ChunkId> {
    let windows = lists.iter().map(|list| list.reaches.len()).max().unwrap_or(0);
    let total = |window: usize| lists.iter().map(|list| list.reaches[window].bound).sum::<f32>();
    let mut windows: Vec<(f32, usize)> = (0..windows).map(|window| (total(window), window)).collect();
    windows.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    let mut best = Best::new(k, lists.len());
    let (mut sums, mut room) = (Sums::new(), Room::new());
    let mut found = Vec::new();
    for (total, number) in windows {
        if k == 0 || !best.admits(total) {
            break;
        }
        let first = number as u32 * WINDOW;
        let window = Window { number, first, end: first.saturating_add(WINDOW) };
        found.clear();
        collect(&mut lists, window, scorer, filter, (&mut sums, &mut room, &best), &mut found);
        found.iter().for_each(|&(at, score)| best.push(first + at, score));
    }
    best.finish()
}

/// The chunks of a window that reach the bar.
fn collect(
    lists: &mut [List<'_>],
    window: Window,
    scorer: &impl Scorer,
    filter: Option<&RoaringBitmap>,
    (sums, room, best): (&mut Sums, &mut Room, &Best),
    found: &mut Vec<(u32, f32)>,
) {
    lists.sort_unstable_by(|a, b| a.reaches[window.number].bound.total_cmp(&b.reaches[window.number].bound));
    // What a list and all below it can add
    let reach = lists.iter().scan(0.0f32, |sum, list| {
        *sum += list.reaches[window.number].bound;
        Some(*sum)
    });
    let reach: Vec<f32> = reach.collect();
    let silent = reach.iter().take_while(|&&reach| !best.admits(reach)).count();
    let allowed = filter.map(|filter| Allowed::new(filter, window));
    let postings: u32 = lists[silent..].iter().map(|list| list.reaches[window.number].postings).sum();
    let asked = match &allowed {
        Some(allowed) if allowed.count * FEW < postings => {
            found.extend(allowed.iter().map(|at| (at, 0.0)));
            lists.len()
        }
        _ => {
            for at in silent..lists.len() {
                let others = lists.iter().enumerate().filter(|(other, _)| *other != at);
                let rest = others.map(|(_, list)| list.reaches[window.number].bound).sum();
                lists[at].add_all(window, scorer, (best, rest), (sums, room));
            }
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
        if found.is_empty() || lists[at].reaches[window.number].postings == 0 {
            break;
        }
        lists[at].add_to(window, scorer, found);
        let rest = if at > 0 { reach[at - 1] } else { 0.0 };
        found.retain(|(_, sum)| best.admits(sum + rest));
    }
    found.retain(|(_, sum)| best.admits(*sum));
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
    count: u32,
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
        let admitted = self.kept.iter().filter(|(_, score)| self.admits(*score));
        let mut chunks: Vec<_> = admitted.map(|&(chunk, _)| ChunkId(chunk)).collect();
        chunks.sort_unstable();
        chunks
    }
}
