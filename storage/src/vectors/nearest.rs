//! The search for the nearest vectors: a scan of codes that leaves some thousands, and the exact product of those.

use std::cmp::Ordering;
use std::sync::atomic::{self, AtomicI32};

use aurora_kernels::dot;
use rayon::prelude::*;
use roaring::RoaringBitmap;

use super::block::BLOCK_IDS;
use super::block::VectorBlock;
use super::code::CodeQuery;
use crate::btree::Damage;

/// Fewest vectors that the codes leave, and how many for each that is asked for. On 630,000 chunks of 65 repositories, 2,048 of the
/// embedded model's vectors hold 99.7 % of the ten nearest to a query and 98 % of the hundred nearest; more cost time and
/// change no figure of search quality.
const LEFT: usize = 2048;
const LEFT_PER_RESULT: usize = 20;
/// Vectors, as a multiple of those that the codes would leave, up to which all are compared exactly.
const ALL: u64 = 4;

/// Shares of the codes that each thread scans: with one, a thread that another search keeps busy holds up the rest.
const SHARES_PER_THREAD: usize = 2;
/// Vectors that a thread compares exactly at a time.
const SCORED: usize = 512;
/// Scores that are compared with the threshold together.
const GROUP: usize = 32;
/// How many vectors before its turn one is fetched from memory.
const AHEAD: usize = 8;

/// How many threads a search may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Threads {
    /// The one that asks: nothing waits for another one, which serves most searches where many run at once.
    One,
    /// All of the pool: one search is done soonest.
    All,
}

/// Which ids of a block may be found.
const MASK_WORDS: usize = BLOCK_IDS as usize / 64;
type Mask = [u64; MASK_WORDS];

/// Chunks that may be found.
pub(crate) struct Eligible<'a> {
    /// All below the next id.
    pub(crate) next_id: u32,
    /// Those that are gone.
    pub(crate) dead: &'a RoaringBitmap,
    /// The only ones that are asked for, all alive.
    pub(crate) filter: Option<&'a RoaringBitmap>,
}

impl Eligible<'_> {
    fn len(&self) -> u64 {
        self.filter.map_or(u64::from(self.next_id).saturating_sub(self.dead.len()), RoaringBitmap::len)
    }

    fn mask(&self, first: u32) -> Mask {
        let ids = first..=first + (BLOCK_IDS - 1);
        let mut mask = [0u64; MASK_WORDS];
        let place = |id: u32| ((id - first) as usize / 64, (id - first) % 64);
        match self.filter {
            Some(filter) => filter.range(ids).map(place).for_each(|(word, bit)| mask[word] |= 1 << bit),
            None => {
                let known = u64::from(self.next_id.saturating_sub(first));
                for (word, bits) in (0u64..).step_by(64).zip(&mut mask) {
                    *bits = match known.saturating_sub(word) {
                        64.. => u64::MAX,
                        left => (1 << left) - 1,
                    };
                }
                self.dead.range(ids).map(place).for_each(|(word, bit)| mask[word] &= !(1 << bit));
            }
        }
        mask
    }
}

/// The `k` eligible chunks with the highest dot product and all that equal the last of them, in no order.
///
/// `blocks` are those of the query's dimensions, with their numbers. Where there are many vectors, those are compared
/// whose codes are among the nearest; which these are depends on nothing but the vectors.
pub(crate) fn nearest(
    blocks: &[(u32, VectorBlock<'_>)],
    query: &[f32],
    k: usize,
    eligible: &Eligible<'_>,
    threads: Threads,
) -> Result<Vec<(u32, f32)>, Damage> {
    let left = LEFT.max(k.saturating_mul(LEFT_PER_RESULT));
    let mut best = if eligible.len() > ALL * left as u64 {
        by_codes(blocks, query, left, eligible, threads)?
    } else {
        all(blocks, query, eligible)?
    };
    keep_best(&mut best, k, |a, b| b.1.total_cmp(&a.1));
    Ok(best)
}

/// The dot product of a query with a vector as it is stored; the same bits on every processor.
pub(crate) fn product(query: &[f32], scale: f32, row: &[u8]) -> f32 {
    dot(query, row) * scale
}

fn all(blocks: &[(u32, VectorBlock<'_>)], query: &[f32], eligible: &Eligible<'_>) -> Result<Vec<(u32, f32)>, Damage> {
    let (mut scored, mut row) = (Vec::new(), Vec::new());
    for (block, vectors) in blocks {
        let first = block * BLOCK_IDS;
        let mask = eligible.mask(first);
        if mask.iter().all(|word| *word == 0) {
            continue;
        }
        for (order, index) in vectors.places().filter(|(_, index)| holds(&mask, *index)) {
            let scale = vectors.read(order, &mut row)?;
            scored.push((first + index as u32, product(query, scale, &row)));
        }
    }
    Ok(scored)
}

/// A vector by its block in a list, its place among the block's vectors, and the score of its code.
#[derive(Clone, Copy)]
struct Coded {
    score: i32,
    block: u32,
    order: u32,
}

fn by_codes(
    blocks: &[(u32, VectorBlock<'_>)],
    query: &[f32],
    left: usize,
    eligible: &Eligible<'_>,
    threads: Threads,
) -> Result<Vec<(u32, f32)>, Damage> {
    let code = CodeQuery::new(query);
    let threshold = AtomicI32::new(i32::MIN);
    let mut kept = match threads {
        Threads::One => nearest_codes(blocks, &code, left, eligible, &threshold),
        Threads::All => {
            let share = blocks.len().div_ceil(SHARES_PER_THREAD * rayon::current_num_threads()).max(1);
            let shares = blocks.par_chunks(share).enumerate().map(|(number, blocks)| {
                let mut kept = nearest_codes(blocks, &code, left, eligible, &threshold);
                kept.iter_mut().for_each(|coded| coded.block += (number * share) as u32);
                kept
            });
            shares.collect::<Vec<_>>().concat()
        }
    };
    let reached = threshold.into_inner();
    kept.retain(|coded| coded.score >= reached);
    keep_best(&mut kept, left, nearer);
    match threads {
        Threads::One => products(blocks, query, &kept),
        Threads::All => {
            let scored = kept.par_chunks(SCORED).map(|coded| products(blocks, query, coded));
            Ok(scored.collect::<Result<Vec<_>, _>>()?.concat())
        }
    }
}

/// The vectors of some blocks whose codes are among the `left` nearest, and perhaps some more. `threshold` is a score that `left`
/// vectors of these or other blocks reach.
fn nearest_codes(
    blocks: &[(u32, VectorBlock<'_>)],
    query: &CodeQuery,
    left: usize,
    eligible: &Eligible<'_>,
    threshold: &AtomicI32,
) -> Vec<Coded> {
    let (mut kept, mut room) = (Vec::new(), 2 * left);
    let mut scores = Vec::with_capacity(BLOCK_IDS as usize);
    for (at, (block, vectors)) in blocks.iter().enumerate() {
        let mask = eligible.mask(block * BLOCK_IDS);
        if mask.iter().all(|word| *word == 0) {
            continue;
        }
        query.score(vectors.codes(), &mut scores);
        let least = threshold.load(atomic::Ordering::Relaxed);
        for (group, scores) in scores.chunks(GROUP).enumerate() {
            // Few groups have such a score.
            if scores.iter().fold(i32::MIN, |best, score| best.max(*score)) < least {
                continue;
            }
            for (order, &score) in (group * GROUP..).zip(scores) {
                if score >= least && holds(&mask, vectors.index_of(order)) {
                    kept.push(Coded { score, block: at as u32, order: order as u32 });
                }
            }
        }
        if kept.len() > room {
            keep_best(&mut kept, left, nearer);
            let reached = kept.iter().map(|coded| coded.score).min().unwrap_or(i32::MIN);
            threshold.fetch_max(reached, atomic::Ordering::Relaxed);
            room = 2 * kept.len();
        }
    }
    kept
}

fn nearer(a: &Coded, b: &Coded) -> Ordering {
    b.score.cmp(&a.score)
}

/// The exact products of some vectors, with their ids.
fn products(blocks: &[(u32, VectorBlock<'_>)], query: &[f32], vectors: &[Coded]) -> Result<Vec<(u32, f32)>, Damage> {
    let mut row = Vec::new();
    let scored = vectors.iter().enumerate().map(|(at, coded)| {
        // Vectors lie far apart: to wait for each of them takes longer than the product.
        if let Some(next) = vectors.get(at + AHEAD) {
            blocks[next.block as usize].1.prefetch(next.order as usize);
        }
        let (block, vectors) = &blocks[coded.block as usize];
        let order = coded.order as usize;
        let scale = vectors.read(order, &mut row)?;
        Ok((block * BLOCK_IDS + vectors.index_of(order) as u32, product(query, scale, &row)))
    });
    scored.collect()
}

fn holds(mask: &Mask, index: usize) -> bool {
    mask[index / 64 % MASK_WORDS] >> (index % 64) & 1 != 0
}

/// Keeps the `count` best and all that equal the last of them.
fn keep_best<T: Copy>(rows: &mut Vec<T>, count: usize, best_first: impl Fn(&T, &T) -> Ordering) {
    if count == 0 {
        rows.clear();
    } else if rows.len() > count {
        let last = *rows.select_nth_unstable_by(count - 1, &best_first).1;
        rows.retain(|row| best_first(row, &last).is_le());
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::block::{EncodedBlock, VectorBlockWriter};
    use super::*;

    const DIMENSIONS: usize = 24;

    /// Blocks of clustered vectors, of which the ids in `absent` have none.
    fn blocks(seed: u64, count: u32, absent: &RoaringBitmap) -> Vec<(u32, EncodedBlock)> {
        let mut state = seed | 1;
        let mut next = move || {
            state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
            (state >> 33) as i32
        };
        let blocks = (0..count.div_ceil(BLOCK_IDS)).map(|block| {
            let mut writer = VectorBlockWriter::new(DIMENSIONS);
            let ids = block * BLOCK_IDS..count.min((block + 1) * BLOCK_IDS);
            for id in ids.filter(|id| !absent.contains(*id)) {
                let shift = next() % 60;
                let row: Vec<u8> = (0..DIMENSIONS).map(|_| (shift + next() % 60) as u8).collect();
                writer.push((id % BLOCK_IDS) as usize, 0.01, &row);
            }
            (block, writer.finish())
        });
        blocks.filter_map(|(block, encoded)| Some((block, encoded?))).collect()
    }

    fn decode(encoded: &EncodedBlock) -> VectorBlock<'_> {
        VectorBlock::decode(&encoded.codes, &encoded.packed).expect("sound")
    }

    fn sorted(rows: Result<Vec<(u32, f32)>, Damage>) -> Vec<(u32, f32)> {
        let mut rows = rows.expect("sound");
        rows.sort_unstable_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        rows
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(16))]

        #[test]
        fn codes_leave_what_an_exact_scan_finds(
            seed in any::<u64>(),
            query in prop::collection::vec(-1f32..1.0, DIMENSIONS),
            dead in prop::collection::btree_set(0u32..3000, 0..300),
            absent in prop::collection::btree_set(0u32..3000, 0..300),
            filtered in any::<bool>(),
        ) {
            let (dead, absent) = (RoaringBitmap::from_iter(dead), RoaringBitmap::from_iter(absent));
            let encoded = blocks(seed, 3000, &absent);
            let blocks: Vec<_> = encoded.iter().map(|(block, encoded)| (*block, decode(encoded))).collect();
            let filter: RoaringBitmap = (0..3000).filter(|id| id % 3 != 0).collect::<RoaringBitmap>() - &dead;
            let filter = filtered.then_some(&filter);
            let eligible = Eligible { next_id: 2900, dead: &dead, filter };
            let alive = |id: u32| !dead.contains(id) && !absent.contains(id);
            let expected: Vec<u32> =
                (0..3000).filter(|&id| alive(id) && filter.map_or(id < 2900, |filter| filter.contains(id))).collect();
            let exact = sorted(all(&blocks, &query, &eligible));
            let mut found: Vec<u32> = exact.iter().map(|(id, _)| *id).collect();
            found.sort_unstable();
            prop_assert_eq!(found, expected);
            for left in [3000, 100] {
                let of = |threads| sorted(by_codes(&blocks, &query, left, &eligible, threads));
                prop_assert_eq!(of(Threads::One), of(Threads::All));
            }
            // Everything kept is everything; half of it holds the ten nearest.
            prop_assert_eq!(&sorted(by_codes(&blocks, &query, 3000, &eligible, Threads::All)), &exact);
            let half = sorted(by_codes(&blocks, &query, exact.len() / 2, &eligible, Threads::All));
            prop_assert!(half.len() >= exact.len() / 2);
            let missed = exact[..10].iter().filter(|row| !half.contains(row)).count();
            prop_assert!(missed <= 1, "{missed} of the ten nearest are missed");
        }
    }

    #[test]
    fn equal_codes_are_kept_together() {
        let mut writer = VectorBlockWriter::new(DIMENSIONS);
        (0..600).for_each(|index| writer.push(index, 0.5, &[1; DIMENSIONS]));
        let encoded = writer.finish().expect("vectors");
        let blocks = [(0, decode(&encoded))];
        let eligible = Eligible { next_id: 600, dead: &RoaringBitmap::new(), filter: None };
        let query = [1.0; DIMENSIONS];
        assert_eq!(sorted(by_codes(&blocks, &query, 10, &eligible, Threads::All)).len(), 600);
        assert_eq!(sorted(nearest(&blocks, &query, 10, &eligible, Threads::All)).len(), 600);
        assert!(sorted(nearest(&blocks, &query, 0, &eligible, Threads::All)).is_empty());
    }
}
