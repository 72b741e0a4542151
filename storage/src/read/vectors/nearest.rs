//! The search for the nearest vectors. A scan of the codes selects some thousand candidates, for which exact dot
//! products are computed.

use std::cmp::Ordering;
use std::sync::atomic::{self, AtomicI32};

use aurora_kernels::dot;
use aurora_lmdb_pages::Damage;
use rayon::prelude::*;
use roaring::RoaringBitmap;

use super::block::BLOCK_IDS;
use super::block::VectorBlock;
use super::code::CodeQuery;

/// Minimum number of candidates that the codes select. With vectors of the built-in model for 630,000 chunks of 65
/// repositories, 2,048 candidates contain 99.7 % of the ten nearest vectors and 98 % of the hundred nearest. More
/// candidates take more time and do not improve the measured search quality.
const MIN_CANDIDATES: usize = 2048;
/// Minimum number of candidates for each requested result.
const CANDIDATES_PER_RESULT: usize = 20;
/// If the number of eligible chunks is at most this multiple of the number of candidates, all of their vectors are
/// compared exactly.
const MAX_EXACT_FACTOR: u64 = 4;

/// Number of shares of the codes for each thread. With only one share for each thread, a thread that is busy with
/// another search would delay this search.
const SHARES_PER_THREAD: usize = 2;
/// Number of vectors that a thread compares exactly at a time.
const EXACT_BATCH: usize = 512;
/// Number of scores that are compared with the threshold together.
const GROUP: usize = 32;
/// Number of vectors between the vector that is compared and the vector that is prefetched.
const PREFETCH_DISTANCE: usize = 8;

/// The number of threads that a search may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Threads {
    /// Only the calling thread. Best for the throughput of many searches at once, because no search waits for another
    /// thread.
    One,
    /// All threads of the pool. Best for the latency of a single search.
    All,
}

/// Number of words in a [`Mask`].
const MASK_WORDS: usize = BLOCK_IDS as usize / 64;
/// The eligible ids of a block, as a bit set.
type Mask = [u64; MASK_WORDS];

/// The chunks that a search may return.
pub(crate) struct Eligible<'a> {
    /// The id after the last chunk.
    pub(crate) next_id: u32,
    /// Deleted chunks.
    pub(crate) dead: &'a RoaringBitmap,
    /// If set, only these chunks may be returned. All of them must be live.
    pub(crate) filter: Option<&'a RoaringBitmap>,
}

impl Eligible<'_> {
    fn len(&self) -> u64 {
        self.filter.map_or(u64::from(self.next_id).saturating_sub(self.dead.len()), RoaringBitmap::len)
    }

    fn mask(&self, first: u32) -> Mask {
        let ids = first..=first + (BLOCK_IDS - 1);
        let mut mask = [0u64; MASK_WORDS];
        let word_and_bit = |id: u32| ((id - first) as usize / 64, (id - first) % 64);
        match self.filter {
            Some(filter) => filter.range(ids).map(word_and_bit).for_each(|(word, bit)| mask[word] |= 1 << bit),
            None => {
                let known = u64::from(self.next_id.saturating_sub(first));
                for (word, bits) in (0u64..).step_by(64).zip(&mut mask) {
                    *bits = match known.saturating_sub(word) {
                        64.. => u64::MAX,
                        left => (1 << left) - 1,
                    };
                }
                self.dead.range(ids).map(word_and_bit).for_each(|(word, bit)| mask[word] &= !(1 << bit));
            }
        }
        mask
    }
}

/// A block of vectors of one of several indexes.
#[derive(Clone, Copy)]
pub(crate) struct IndexBlock<'a> {
    /// Position of the index.
    pub(crate) index: usize,
    /// Number of the block in its index.
    pub(crate) number: u32,
    pub(crate) vectors: VectorBlock<'a>,
}

/// A chunk of one of several indexes, with its dot product.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct NearChunk {
    /// Position of the index.
    pub(crate) index: usize,
    pub(crate) id: u32,
    pub(crate) product: f32,
}

/// Damage of an index, with the position of the index.
pub(crate) type DamagedIndex = (usize, Damage);

/// Returns the `k` eligible chunks of all indexes with the highest dot products, in no particular order. Also returns
/// all chunks with the same dot product as the k-th best chunk.
///
/// `blocks` contains the blocks of all indexes, and `eligible` the chunks of each index that may be returned. The
/// vectors must have as many dimensions as the query. If there are many vectors, only the vectors with the nearest codes
/// are compared. The selection depends neither on threads and timing nor on the division of chunks into indexes.
pub(crate) fn nearest(
    blocks: &[IndexBlock<'_>],
    query: &[f32],
    k: usize,
    eligible: &[Eligible<'_>],
    threads: Threads,
) -> Result<Vec<NearChunk>, DamagedIndex> {
    let candidates = MIN_CANDIDATES.max(k.saturating_mul(CANDIDATES_PER_RESULT));
    let count: u64 = eligible.iter().map(Eligible::len).sum();
    let mut best = if count > MAX_EXACT_FACTOR * candidates as u64 {
        scan_codes(blocks, query, candidates, eligible, threads)?
    } else {
        scan_all(blocks, query, eligible)?
    };
    keep_best(&mut best, k, |a, b| b.product.total_cmp(&a.product));
    Ok(best)
}

/// Returns the dot product of a query and a stored vector. The result is bit-identical on every processor.
pub(crate) fn product(query: &[f32], scale: f32, row: &[u8]) -> f32 {
    dot(query, row) * scale
}

fn scan_all(
    blocks: &[IndexBlock<'_>],
    query: &[f32],
    eligible: &[Eligible<'_>],
) -> Result<Vec<NearChunk>, DamagedIndex> {
    let (mut scored, mut row) = (Vec::new(), Vec::new());
    for IndexBlock { index: at, number, vectors } in blocks {
        let first = number * BLOCK_IDS;
        let mask = eligible[*at].mask(first);
        if mask.iter().all(|word| *word == 0) {
            continue;
        }
        for (order, index) in vectors.stored_indices().filter(|(_, index)| contains(&mask, *index)) {
            let scale = vectors.read(order, &mut row).map_err(|damage| (*at, damage))?;
            scored.push(NearChunk { index: *at, id: first + index as u32, product: product(query, scale, &row) });
        }
    }
    Ok(scored)
}

/// A candidate: the index of its block in a list, its index among the block's vectors, and the score of its code.
#[derive(Clone, Copy)]
struct Candidate {
    score: i32,
    block: u32,
    order: u32,
}

fn scan_codes(
    blocks: &[IndexBlock<'_>],
    query: &[f32],
    candidates: usize,
    eligible: &[Eligible<'_>],
    threads: Threads,
) -> Result<Vec<NearChunk>, DamagedIndex> {
    let code = CodeQuery::new(query);
    let threshold = AtomicI32::new(i32::MIN);
    let mut kept = match threads {
        Threads::One => nearest_codes(blocks, &code, candidates, eligible, &threshold),
        Threads::All => {
            let share = blocks.len().div_ceil(SHARES_PER_THREAD * rayon::current_num_threads()).max(1);
            let shares = blocks.par_chunks(share).enumerate().map(|(number, blocks)| {
                let mut kept = nearest_codes(blocks, &code, candidates, eligible, &threshold);
                kept.iter_mut().for_each(|coded| coded.block += (number * share) as u32);
                kept
            });
            shares.collect::<Vec<_>>().concat()
        }
    };
    let reached = threshold.into_inner();
    kept.retain(|coded| coded.score >= reached);
    keep_best(&mut kept, candidates, nearer);
    match threads {
        Threads::One => products(blocks, query, &kept),
        Threads::All => {
            let scored = kept.par_chunks(EXACT_BATCH).map(|coded| products(blocks, query, coded));
            Ok(scored.collect::<Result<Vec<_>, _>>()?.concat())
        }
    }
}

/// Returns those vectors in `blocks`, a share of all blocks, whose codes may be among the `candidates` nearest codes of
/// all blocks. The result may contain other vectors too. `threshold` is a score that at least `candidates` vectors of
/// all blocks reach. This function raises it.
fn nearest_codes(
    blocks: &[IndexBlock<'_>],
    query: &CodeQuery,
    candidates: usize,
    eligible: &[Eligible<'_>],
    threshold: &AtomicI32,
) -> Vec<Candidate> {
    let (mut kept, mut room) = (Vec::new(), 2 * candidates);
    let mut scores = Vec::with_capacity(BLOCK_IDS as usize);
    for (at, IndexBlock { index, number, vectors }) in blocks.iter().enumerate() {
        let mask = eligible[*index].mask(number * BLOCK_IDS);
        if mask.iter().all(|word| *word == 0) {
            continue;
        }
        query.score(vectors.codes(), &mut scores);
        let least = threshold.load(atomic::Ordering::Relaxed);
        for (group, scores) in scores.chunks(GROUP).enumerate() {
            // The scores of most groups are below the threshold.
            if scores.iter().fold(i32::MIN, |best, score| best.max(*score)) < least {
                continue;
            }
            for (order, &score) in (group * GROUP..).zip(scores) {
                if score >= least && contains(&mask, vectors.index_of(order)) {
                    kept.push(Candidate { score, block: at as u32, order: order as u32 });
                }
            }
        }
        if kept.len() > room {
            keep_best(&mut kept, candidates, nearer);
            let reached = kept.iter().map(|coded| coded.score).min().unwrap_or(i32::MIN);
            threshold.fetch_max(reached, atomic::Ordering::Relaxed);
            room = 2 * kept.len();
        }
    }
    kept
}

fn nearer(a: &Candidate, b: &Candidate) -> Ordering {
    b.score.cmp(&a.score)
}

/// Returns the exact products of some vectors, with their ids.
fn products(blocks: &[IndexBlock<'_>], query: &[f32], vectors: &[Candidate]) -> Result<Vec<NearChunk>, DamagedIndex> {
    let mut row = Vec::new();
    let scored = vectors.iter().enumerate().map(|(at, coded)| {
        // The vectors are far apart in memory. Waiting for each of them would take longer than computing the product.
        if let Some(next) = vectors.get(at + PREFETCH_DISTANCE) {
            blocks[next.block as usize].vectors.prefetch(next.order as usize);
        }
        let IndexBlock { index, number, vectors } = &blocks[coded.block as usize];
        let order = coded.order as usize;
        let scale = vectors.read(order, &mut row).map_err(|damage| (*index, damage))?;
        let id = number * BLOCK_IDS + vectors.index_of(order) as u32;
        Ok(NearChunk { index: *index, id, product: product(query, scale, &row) })
    });
    scored.collect()
}

fn contains(mask: &Mask, index: usize) -> bool {
    mask[index / 64 % MASK_WORDS] >> (index % 64) & 1 != 0
}

/// Keeps the `count` best rows, and all rows that are equal to the last of these.
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

    /// Creates blocks of clustered vectors. The ids in `absent` have no vectors.
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
        VectorBlock::decode(&encoded.codes, &encoded.packed).expect("the block is valid")
    }

    fn sorted(rows: Result<Vec<NearChunk>, DamagedIndex>) -> Vec<(u32, f32)> {
        let rows = rows.expect("the vectors are valid");
        let mut rows: Vec<(u32, f32)> = rows.into_iter().map(|found| (found.id, found.product)).collect();
        rows.sort_unstable_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        rows
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(16))]

        #[test]
        fn the_scan_of_codes_finds_what_an_exact_scan_finds(
            seed in any::<u64>(),
            query in prop::collection::vec(-1f32..1.0, DIMENSIONS),
            dead in prop::collection::btree_set(0u32..3000, 0..300),
            absent in prop::collection::btree_set(0u32..3000, 0..300),
            filtered in any::<bool>(),
        ) {
            let (dead, absent) = (RoaringBitmap::from_iter(dead), RoaringBitmap::from_iter(absent));
            let encoded = blocks(seed, 3000, &absent);
            let block = |index: usize, (number, encoded)| IndexBlock { index, number, vectors: decode(encoded) };
            let numbered = || encoded.iter().map(|(number, encoded)| (*number, encoded));
            let blocks: Vec<IndexBlock<'_>> = numbered().map(|encoded| block(0, encoded)).collect();
            let filter: RoaringBitmap = (0..3000).filter(|id| id % 3 != 0).collect::<RoaringBitmap>() - &dead;
            let filter = filtered.then_some(&filter);
            let eligible = [Eligible { next_id: 2900, dead: &dead, filter }];
            let alive = |id: u32| !dead.contains(id) && !absent.contains(id);
            let expected: Vec<u32> =
                (0..3000).filter(|&id| alive(id) && filter.map_or(id < 2900, |filter| filter.contains(id))).collect();
            let exact = sorted(scan_all(&blocks, &query, &eligible));
            let mut found: Vec<u32> = exact.iter().map(|(id, _)| *id).collect();
            found.sort_unstable();
            prop_assert_eq!(found, expected);
            for candidates in [3000, 100] {
                let scan = |threads| sorted(scan_codes(&blocks, &query, candidates, &eligible, threads));
                prop_assert_eq!(scan(Threads::One), scan(Threads::All));
            }
            // The division into indexes does not affect the result.
            let divided: Vec<_> = numbered().map(|encoded| block(encoded.0 as usize % 2, encoded)).collect();
            let both = [Eligible { next_id: 2900, dead: &dead, filter }, Eligible { next_id: 2900, dead: &dead, filter }];
            prop_assert_eq!(
                sorted(scan_codes(&divided, &query, 100, &both, Threads::All)),
                sorted(scan_codes(&blocks, &query, 100, &eligible, Threads::All))
            );
            // With all vectors as candidates, the result is exact. With half of them, it contains the ten nearest.
            prop_assert_eq!(&sorted(scan_codes(&blocks, &query, 3000, &eligible, Threads::All)), &exact);
            let half = sorted(scan_codes(&blocks, &query, exact.len() / 2, &eligible, Threads::All));
            prop_assert!(half.len() >= exact.len() / 2);
            let missed = exact[..10].iter().filter(|row| !half.contains(row)).count();
            prop_assert!(missed <= 1, "{missed} of the ten nearest are missed");
        }
    }

    #[test]
    fn all_vectors_with_equal_codes_are_returned() {
        let mut writer = VectorBlockWriter::new(DIMENSIONS);
        (0..600).for_each(|index| writer.push(index, 0.5, &[1; DIMENSIONS]));
        let encoded = writer.finish().expect("the block has vectors");
        let blocks = [IndexBlock { index: 0, number: 0, vectors: decode(&encoded) }];
        let dead = RoaringBitmap::new();
        let eligible = [Eligible { next_id: 600, dead: &dead, filter: None }];
        let query = [1.0; DIMENSIONS];
        assert_eq!(sorted(scan_codes(&blocks, &query, 10, &eligible, Threads::All)).len(), 600);
        assert_eq!(sorted(nearest(&blocks, &query, 10, &eligible, Threads::All)).len(), 600);
        assert!(sorted(nearest(&blocks, &query, 0, &eligible, Threads::All)).is_empty());
    }
}
