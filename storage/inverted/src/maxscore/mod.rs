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

/// An index of a search, with the posting lists of the terms that it contains.
pub(crate) struct MaxScoreIndex<'p, C> {
    /// The posting lists of terms with a positive factor.
    pub(crate) lists: Vec<TermList<'p>>,
    /// The other data of the index.
    pub(crate) collection: &'p C,
    /// If set, only these chunks are returned; all of them must be live.
    pub(crate) filter: Option<&'p RoaringBitmap>,
}

/// A window of an index.
#[derive(Clone, Copy)]
struct Window {
    /// The sum of the bounds of all lists.
    bound: f32,
    /// Position of the index.
    index: usize,
    number: u32,
}

/// Returns a superset of the best `k` chunks of all indexes and of all chunks with the same score as the k-th best: for
/// each index, the chunks in ascending order with their scores. The scores are exact if an index has at most two lists.
pub(crate) fn candidates<C: Collection>(
    indexes: &mut [MaxScoreIndex<'_, C>],
    k: usize,
) -> Result<Vec<Vec<(ChunkId, f32)>>, C::Error> {
    let mut windows = Vec::new();
    for (at, index) in indexes.iter().enumerate() {
        let bound = |number: u32| index.lists.iter().map(|list| list.bound_in(number).score).sum::<f32>();
        let numbers = 0..index.collection.end().div_ceil(WINDOW);
        windows.extend(numbers.map(|number| Window { bound: bound(number), index: at, number }));
    }
    windows.retain(|window| window.bound > 0.0);
    windows.sort_unstable_by(|a, b| b.bound.total_cmp(&a.bound).then((a.index, a.number).cmp(&(b.index, b.number))));
    // A filter may exclude the chunks on which the estimate is based.
    let may_estimate = k > 0 && indexes.iter().all(|index| index.filter.is_none());
    let estimate = if may_estimate { estimate(indexes, k) } else { 0.0 };
    let terms = indexes.iter().map(|index| index.lists.len()).max().unwrap_or(0);
    let mut top = TopK::new(k, terms, estimate);
    search(indexes, &windows, &mut top)?;
    if estimate > 0.0 && !top.is_full() {
        top = TopK::new(k, terms, 0.0);
        search(indexes, &windows, &mut top)?;
    }
    Ok(top.finish(indexes.len()))
}

/// Returns a score that about `k` chunks reach by one term alone.
fn estimate<C>(indexes: &mut [MaxScoreIndex<'_, C>], k: usize) -> f32 {
    let mut by_term: Vec<Vec<f32>> = Vec::new();
    for list in indexes.iter_mut().flat_map(|index| &mut index.lists) {
        let (term, mut reached) = list.take_reached();
        by_term.resize_with(by_term.len().max(term + 1), Vec::new);
        by_term[term].append(&mut reached);
    }
    by_term.into_iter().fold(0.0, |least, mut above| {
        above.retain(|score| *score > least);
        if above.len() < k { least } else { *above.select_nth_unstable_by(k - 1, |a, b| b.total_cmp(a)).1 }
    })
}

/// Searches the windows, which are in descending order of their bounds.
fn search<C: Collection>(
    indexes: &mut [MaxScoreIndex<'_, C>],
    windows: &[Window],
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
    for &Window { bound, index, number } in windows {
        if !top.may_enter(bound) {
            break;
        }
        let MaxScoreIndex { lists, collection, filter } = &mut indexes[index];
        scratch.number = number;
        scratch.lengths = collection.window_lengths(number)?;
        let allowed = AllowedOffsets::new(collection.tombstones(), *filter, number);
        top.index = index;
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
