//! The best chunks of a weighted sum of terms, without scoring every posting.
//!
//! MaxScore (Turtle and Flood, "Query evaluation: strategies and optimizations", 1995) by windows of chunk ids, those
//! with the highest bounds first, until the next can hold nothing better. In a window the lists with the lowest bounds,
//! as many as together cannot reach the threshold, cannot bring in a chunk alone: they are only asked about chunks that the
//! others have brought in, and about those only as long as the bounds that are left could lift them over the threshold. Where a
//! single list brings in chunks, its rows that are too low for that are not even unpacked. The threshold begins at a guess: what
//! about `k` chunks get for one term alone, since a bound is mostly about what the best of its postings gets. If the guess
//! was too high, too few are found, and the search begins again without one.
//!
//! The accumulators in here run in another order than those that are shown, and so differ from them in the last bits. A slack
//! around the threshold makes up for that: what comes out holds the exact best, and a few more, for the caller to score again.

use aurora_storage::{ChunkId, LengthColumns, Snapshot, StorageError, WINDOW, WindowPostings};
use roaring::RoaringBitmap;

use crate::maxscore::accumulators::Accumulators;
use crate::maxscore::allowed::AllowedOffsets;
use crate::maxscore::candidates::WindowCandidates;
pub(crate) use crate::maxscore::list::TermList;
use crate::maxscore::top_k::TopK;

mod accumulators;
mod allowed;
mod candidates;
mod list;
mod score_table;
mod top_k;

/// Chunks that a filter leaves in a window are asked for one by one if postings are this many times as many.
const FEW: u32 = 8;
/// Where several lists bring in chunks, one of so many postings may as well: that is quicker than to ask it.
const SMALL: u32 = 128;

/// One window, and buffers for what is done in it.
struct WindowScratch<'s> {
    lengths: LengthColumns<'s>,
    number: u32,
    postings: WindowPostings,
    /// What the postings get, in their order.
    scores: Vec<f32>,
    /// For each offset the number of its posting from 1 on, while a list is looked through.
    posting_at: Option<Box<[u16; WINDOW as usize]>>,
    /// Indexes of postings that are scored apart.
    mixed: Vec<u16>,
    /// WindowCandidates that hold a term, by index, with the numbers of their postings.
    hits: Vec<(u16, u16)>,
}

/// What a window is searched with.
struct SearchBuffers {
    /// The lists by rising bound, and what each and all before it can add.
    order: Vec<(f32, usize)>,
    accumulators: Accumulators,
    candidates: WindowCandidates,
}

/// Chunks among which the best `k` are, by scores as the factors give them, and all that equal the last of
/// them; ascending, with their scores, which are exact where there are no more than two lists. Only chunks in `filter`, which holds live
/// ones.
pub(crate) fn candidates(
    mut lists: Vec<TermList<'_>>,
    snapshot: &Snapshot,
    k: usize,
    filter: Option<&RoaringBitmap>,
) -> Result<Vec<(ChunkId, f32)>, StorageError> {
    let windows = snapshot.manifest().next_chunk_id.div_ceil(WINDOW);
    let total = |window: u32| lists.iter().map(|list| list.reach(window).bound).sum::<f32>();
    let mut windows: Vec<(f32, u32)> = (0..windows).map(|window| (total(window), window)).collect();
    windows.retain(|(total, _)| *total > 0.0);
    windows.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    // A filter may let through none of the chunks that this is about.
    let likely = match filter {
        None if k > 0 => lists.iter_mut().fold(0.0, |likely, list| list.likely(k, likely)),
        _ => 0.0,
    };
    let mut best = TopK::new(k, lists.len(), likely);
    search(&mut lists, snapshot, &windows, filter, &mut best)?;
    if likely > 0.0 && !best.is_full() {
        best = TopK::new(k, lists.len(), 0.0);
        search(&mut lists, snapshot, &windows, filter, &mut best)?;
    }
    Ok(best.finish())
}

/// A value for each offset, without a way over the stack.
fn by_offset<T: Copy + Default>() -> Box<[T; WINDOW as usize]> {
    match vec![T::default(); WINDOW as usize].into_boxed_slice().try_into() {
        Ok(values) => values,
        Err(_) => unreachable!("there are as many"),
    }
}

/// Looks for the best chunks in windows, which come by falling bound.
fn search(
    lists: &mut [TermList<'_>],
    snapshot: &Snapshot,
    windows: &[(f32, u32)],
    filter: Option<&RoaringBitmap>,
    best: &mut TopK,
) -> Result<(), StorageError> {
    let mut scratch = WindowScratch {
        lengths: LengthColumns::NONE,
        number: 0,
        postings: WindowPostings::default(),
        scores: Vec::with_capacity(WINDOW as usize),
        mixed: Vec::new(),
        posting_at: None,
        hits: Vec::new(),
    };
    let mut buffers =
        SearchBuffers { order: Vec::new(), accumulators: Accumulators::default(), candidates: WindowCandidates::new() };
    for &(total, number) in windows {
        if !best.may_enter(total) {
            break;
        }
        scratch.number = number;
        scratch.lengths = snapshot.window_lengths(number)?;
        let allowed = AllowedOffsets::allowed(snapshot, filter, number);
        search_window(lists, &mut scratch, &mut buffers, allowed.as_ref(), best);
    }
    Ok(())
}

/// Looks for the best chunks of a window.
fn search_window(
    lists: &mut [TermList<'_>],
    scratch: &mut WindowScratch<'_>,
    buffers: &mut SearchBuffers,
    allowed: Option<&AllowedOffsets>,
    best: &mut TopK,
) {
    let number = scratch.number;
    let SearchBuffers { order, accumulators, candidates } = buffers;
    put_in_order(lists, number, order, best);
    let mut non_essential = order.iter().take_while(|(reach, _)| !best.may_enter(*reach)).count();
    if non_essential + 1 < order.len() {
        let small = order[..non_essential].iter().rev().take_while(|(_, at)| lists[*at].reach(number).count <= SMALL);
        non_essential -= small.count();
    }
    let (non_essential, essential) = order.split_at(non_essential);
    let threshold = best.threshold() - non_essential.last().map_or(0.0, |(reach, _)| *reach);
    let is_allowed = |offset: u16| allowed.is_none_or(|allowed| allowed.contains(offset));
    let postings: u32 = essential.iter().map(|&(_, at)| lists[at].reach(number).count).sum();
    candidates.clear();
    let asked = match (allowed, essential) {
        (Some(allowed), _) if allowed.count() * FEW < postings => {
            allowed.iter().for_each(|offset| candidates.push(offset, 0.0));
            &order[..]
        }
        (_, &[(_, only)]) => {
            lists[only].for_each_above(scratch, threshold, |offset, score| {
                if is_allowed(offset) {
                    candidates.push(offset, score);
                }
            });
            non_essential
        }
        _ => {
            let mut accumulators = accumulators.begin();
            essential.iter().for_each(|&(_, at)| lists[at].add_all(scratch, &mut accumulators));
            accumulators.for_each_above(threshold, |offset, sum| {
                if is_allowed(offset) {
                    candidates.push(offset, sum);
                }
            });
            non_essential
        }
    };
    for (at, &(_, list)) in asked.iter().enumerate().rev() {
        if candidates.len() == 0 {
            break;
        }
        lists[list].add_to(scratch, candidates);
        candidates.keep(best.threshold() - at.checked_sub(1).map_or(0.0, |below| asked[below].0));
    }
    candidates.as_slice().iter().for_each(|&(offset, score)| best.push(number, offset, score));
}

/// Puts the lists that hold postings of a window in the order of their bounds; but if nothing is good enough without some of
/// them, then the shortest of those comes last, to bring in the chunks. Gives each the sum of the bounds so far.
fn put_in_order(lists: &[TermList<'_>], window: u32, order: &mut Vec<(f32, usize)>, best: &TopK) {
    order.clear();
    let held = lists.iter().enumerate().map(|(at, list)| (list.reach(window), at)).filter(|(reach, _)| reach.count > 0);
    order.extend(held.map(|(reach, at)| (reach.bound, at)));
    order.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
    let total: f32 = order.iter().map(|(bound, _)| bound).sum();
    let needed = order.iter().enumerate().filter(|(_, (bound, _))| !best.may_enter(total - bound));
    if let Some((at, _)) = needed.min_by_key(|(_, (_, at))| lists[*at].reach(window).count) {
        order[at..].rotate_left(1);
    }
    let mut sum = 0.0;
    order.iter_mut().for_each(|(bound, _)| {
        sum += *bound;
        *bound = sum;
    });
}
