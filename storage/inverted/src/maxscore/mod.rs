//! MaxScore: finds the best chunks for a weighted sum of terms without scoring every posting.
//!
//! MaxScore (Turtle and Flood, "Query evaluation: strategies and optimizations", 1995) is combined with block-max
//! bounds (Ding and Suel, 2011). The search processes one window of chunk ids at a time, windows with the highest
//! bounds first. It stops when the bound of the next window is below the threshold, the score of the k-th best chunk so
//! far. In a window, the lists with the lowest bounds are non-essential if the sum of their bounds cannot reach the
//! threshold: a chunk that only these lists contain cannot be among the best. The other lists are essential and produce
//! candidates. The search looks up candidates in a non-essential list only while they can still reach the threshold.
//! With a single essential list, postings whose tf vectors cannot reach the threshold are not even decoded.
//!
//! The threshold begins at an estimate: the score that about `k` chunks reach by one term alone. The estimate is
//! computed from the bounds, because a bound is close to the score of its best posting. If the estimate was too high,
//! the search finds fewer than `k` chunks and runs again without an estimate.
//!
//! This module adds scores in the order of bounds, not of the query's terms, so the sums may differ in the last bits
//! from the reported scores. The threshold is lowered by more than that difference. The result therefore contains the
//! best chunks and perhaps a few others, and the caller scores them again.

use roaring::RoaringBitmap;

use crate::chunk_id::{ChunkId, WINDOW};
use crate::collection::Collection;
use crate::lengths::LengthColumns;
use crate::postings::WindowPostings;
use accumulators::Accumulators;
use allowed::AllowedOffsets;
pub(crate) use term_list::TermList;
use top_k::TopK;

mod accumulators;
mod allowed;
mod score_table;
mod term_list;
mod top_k;

/// The search looks up the allowed chunks of a window one by one if the essential lists have more than this many
/// postings per allowed chunk.
const SELECTIVE_RATIO: u32 = 8;
/// If a window has several essential lists, a non-essential list with at most this many postings is treated as
/// essential too: scoring it is faster than looking up candidates.
const SMALL_LIST_POSTINGS: u32 = 128;

/// Buffers for the postings of one list in one window.
struct WindowScratch<'s> {
    lengths: LengthColumns<'s>,
    number: u32,
    postings: WindowPostings,
    /// The scores of `postings`.
    scores: Vec<f32>,
    /// For each offset, the number of its posting, counted from 1; 0 if there is no posting.
    posting_at: Option<Box<[u16; WINDOW as usize]>>,
    /// Indexes of the postings whose score is not in a table.
    mixed: Vec<u16>,
    /// The candidates that contain the term: the index of the candidate and the index of its posting.
    hits: Vec<(u16, u16)>,
}

/// Offsets of chunks of a window that may be among the best, in ascending order, with their partial scores.
type WindowCandidates = Vec<(u16, f32)>;

/// Buffers for all lists in one window.
struct SearchBuffers {
    /// The lists by ascending bound. Each item is the sum of the bounds up to and including a list, and the index of
    /// the list.
    order: Vec<(f32, usize)>,
    accumulators: Accumulators,
    candidates: WindowCandidates,
}

/// Returns a superset of the best `k` chunks and of all chunks with the same score as the k-th best, in ascending
/// order, with their scores. The scores are exact if there are at most two lists. With a `filter`, only chunks in the
/// filter are returned; all of them must be live.
pub(crate) fn candidates<C: Collection>(
    mut lists: Vec<TermList<'_>>,
    collection: &C,
    k: usize,
    filter: Option<&RoaringBitmap>,
) -> Result<Vec<(ChunkId, f32)>, C::Error> {
    let windows = collection.end().div_ceil(WINDOW);
    let total = |window: u32| lists.iter().map(|list| list.bound_in(window).score).sum::<f32>();
    let mut windows: Vec<(f32, u32)> = (0..windows).map(|window| (total(window), window)).collect();
    windows.retain(|(total, _)| *total > 0.0);
    windows.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    // A filter may exclude the chunks on which the estimate is based.
    let estimate = match filter {
        None if k > 0 => lists.iter_mut().fold(0.0, |estimate, list| list.estimate(k, estimate)),
        _ => 0.0,
    };
    let mut top = TopK::new(k, lists.len(), estimate);
    search(&mut lists, collection, &windows, filter, &mut top)?;
    if estimate > 0.0 && !top.is_full() {
        top = TopK::new(k, lists.len(), 0.0);
        search(&mut lists, collection, &windows, filter, &mut top)?;
    }
    Ok(top.finish())
}

/// Searches the windows, which are in descending order of their bounds.
fn search<C: Collection>(
    lists: &mut [TermList<'_>],
    collection: &C,
    windows: &[(f32, u32)],
    filter: Option<&RoaringBitmap>,
    top: &mut TopK,
) -> Result<(), C::Error> {
    let mut scratch = WindowScratch {
        lengths: LengthColumns::NONE,
        number: 0,
        postings: WindowPostings::default(),
        scores: Vec::with_capacity(WINDOW as usize),
        mixed: Vec::new(),
        posting_at: None,
        hits: Vec::new(),
    };
    // The operating system maps only the memory that candidates are written to.
    let candidates = Vec::with_capacity(WINDOW as usize);
    let mut buffers = SearchBuffers { order: Vec::new(), accumulators: Accumulators::default(), candidates };
    for &(total, number) in windows {
        if !top.may_enter(total) {
            break;
        }
        scratch.number = number;
        scratch.lengths = collection.window_lengths(number)?;
        let allowed = AllowedOffsets::new(collection.tombstones(), filter, number);
        search_window(lists, &mut scratch, &mut buffers, allowed.as_ref(), top);
    }
    Ok(())
}

/// Searches one window.
fn search_window(
    lists: &mut [TermList<'_>],
    scratch: &mut WindowScratch<'_>,
    buffers: &mut SearchBuffers,
    allowed: Option<&AllowedOffsets>,
    top: &mut TopK,
) {
    let number = scratch.number;
    let SearchBuffers { order, accumulators, candidates } = buffers;
    order_lists(lists, number, order, top);
    let mut non_essential = order.iter().take_while(|(bound, _)| !top.may_enter(*bound)).count();
    if non_essential + 1 < order.len() {
        let small = order[..non_essential]
            .iter()
            .rev()
            .take_while(|(_, at)| lists[*at].bound_in(number).count <= SMALL_LIST_POSTINGS);
        non_essential -= small.count();
    }
    let (non_essential, essential) = order.split_at(non_essential);
    let threshold = top.threshold() - non_essential.last().map_or(0.0, |(bound, _)| *bound);
    let is_allowed = |offset: u16| allowed.is_none_or(|allowed| allowed.contains(offset));
    let postings: u32 = essential.iter().map(|&(_, at)| lists[at].bound_in(number).count).sum();
    candidates.clear();
    let looked_up = match (allowed, essential) {
        (Some(allowed), _) if allowed.count() * SELECTIVE_RATIO < postings => {
            allowed.iter().for_each(|offset| candidates.push((offset, 0.0)));
            &order[..]
        }
        (_, &[(_, only)]) => {
            lists[only].for_each_above(scratch, threshold, |offset, score| {
                if is_allowed(offset) {
                    candidates.push((offset, score));
                }
            });
            non_essential
        }
        _ => {
            let mut accumulators = accumulators.begin();
            essential.iter().for_each(|&(_, at)| lists[at].add_all(scratch, &mut accumulators));
            accumulators.for_each_above(threshold, |offset, score| {
                if is_allowed(offset) {
                    candidates.push((offset, score));
                }
            });
            non_essential
        }
    };
    for (at, &(_, list)) in looked_up.iter().enumerate().rev() {
        if candidates.is_empty() {
            break;
        }
        lists[list].add_to(scratch, candidates);
        retain_above(candidates, top.threshold() - at.checked_sub(1).map_or(0.0, |below| looked_up[below].0));
    }
    candidates.iter().for_each(|&(offset, score)| top.push(number, offset, score));
}

/// Keeps the candidates whose partial score is at least `threshold`. Has no branch, because the branch would be
/// unpredictable.
fn retain_above(candidates: &mut WindowCandidates, threshold: f32) {
    let mut kept = 0;
    for at in 0..candidates.len() {
        let candidate = candidates[at];
        candidates[kept] = candidate;
        kept += usize::from(candidate.1 >= threshold);
    }
    candidates.truncate(kept);
}

/// Orders the lists that have postings in a window by their bounds, and computes the cumulative sums of the bounds. If
/// no chunk can reach the threshold without a certain list, that list comes last, and it alone is then essential. If
/// there are several such lists, the shortest comes last.
fn order_lists(lists: &[TermList<'_>], window: u32, order: &mut Vec<(f32, usize)>, top: &TopK) {
    order.clear();
    let bounds = lists.iter().enumerate().map(|(at, list)| (list.bound_in(window), at));
    order.extend(bounds.filter(|(bound, _)| bound.count > 0).map(|(bound, at)| (bound.score, at)));
    order.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
    let total: f32 = order.iter().map(|(bound, _)| bound).sum();
    let required = order.iter().enumerate().filter(|(_, (bound, _))| !top.may_enter(total - bound));
    if let Some((at, _)) = required.min_by_key(|(_, (_, at))| lists[*at].bound_in(window).count) {
        order[at..].rotate_left(1);
    }
    let mut sum = 0.0;
    order.iter_mut().for_each(|(bound, _)| {
        sum += *bound;
        *bound = sum;
    });
}
