//! The best chunks of a weighted sum of terms, without scoring every posting.
//!
//! MaxScore (Turtle and Flood, "Query evaluation: strategies and optimizations", 1995) by windows of chunk ids, those
//! with the highest bounds first, until the next can hold nothing better. In a window the lists with the lowest bounds,
//! as many as together cannot reach the bar, cannot bring in a chunk alone: they are only asked about chunks that the
//! others have brought in, and about those only as long as the bounds that are left could lift them over the bar.
//!
//! The sums in here run in another order than those that are shown, and so differ from them in the last bits. A slack
//! around the bar makes up for that: what comes out holds the exact best, and a few more, for the caller to score again.

use aurora_storage::{ChunkId, LengthColumns, Snapshot, StorageError, WINDOW, WindowPostings};
use roaring::RoaringBitmap;

use crate::bm25::FieldScorer;
use crate::maxscore::best::Best;
pub(crate) use crate::maxscore::list::List;
use crate::maxscore::places::Places;
use crate::maxscore::sums::{Sums, any_reaches};

mod best;
mod list;
mod places;
mod sums;
mod table;

/// Chunks that a filter leaves in a window are asked for one by one if postings are this many times as many.
const FEW: u32 = 8;
/// Scores that are looked at together.
const GROUP: usize = 64;

/// One window, and room for what is done in it.
struct Desk<'s> {
    fields: &'s FieldScorer,
    lengths: LengthColumns<'s>,
    number: u32,
    postings: WindowPostings,
    /// Places of postings that are scored already.
    places: Vec<u16>,
    /// What the postings get, in their order.
    scores: Vec<f32>,
    /// The lists by rising bound, and what each and all before it can add.
    order: Vec<(f32, usize)>,
    /// Places that may be among the best, ascending.
    found: Vec<u16>,
}

/// Chunks among which the best `k` are, by scores as the factors give them, and all that equal the last of
/// them; ascending, with their scores, which are exact where there is one list. Only chunks in `filter`, which holds live
/// ones.
pub(crate) fn candidates(
    mut lists: Vec<List<'_>>,
    fields: &FieldScorer,
    snapshot: &Snapshot,
    k: usize,
    filter: Option<&RoaringBitmap>,
) -> Result<Vec<(ChunkId, f32)>, StorageError> {
    let windows = snapshot.manifest().next_chunk_id.div_ceil(WINDOW);
    let total = |window: u32| lists.iter().map(|list| list.reach(window).bound).sum::<f32>();
    let mut windows: Vec<(f32, u32)> = (0..windows).map(|window| (total(window), window)).collect();
    windows.retain(|(total, _)| *total > 0.0);
    windows.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    let mut best = Best::new(k, lists.len());
    let mut sums = Sums::default();
    let mut desk = Desk {
        fields,
        lengths: LengthColumns::NONE,
        number: 0,
        postings: WindowPostings::default(),
        places: Vec::new(),
        scores: Vec::new(),
        order: Vec::with_capacity(lists.len()),
        found: Vec::new(),
    };
    for (total, number) in windows {
        if k == 0 || !best.admits(total) {
            break;
        }
        desk.number = number;
        desk.lengths = snapshot.window_lengths(number)?;
        let allowed = Places::allowed(snapshot, filter, number);
        search(&mut lists, &mut desk, &mut sums, allowed.as_ref(), &mut best);
    }
    Ok(best.finish())
}

/// Looks for the best chunks of a window.
fn search(lists: &mut [List<'_>], desk: &mut Desk<'_>, sums: &mut Sums, allowed: Option<&Places>, best: &mut Best) {
    let (number, mut order, mut found) =
        (desk.number, std::mem::take(&mut desk.order), std::mem::take(&mut desk.found));
    order.clear();
    found.clear();
    let held = lists.iter().enumerate().map(|(at, list)| (list.reach(number), at)).filter(|(reach, _)| reach.count > 0);
    order.extend(held.map(|(reach, at)| (reach.bound, at)));
    order.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
    let mut sum = 0.0;
    order.iter_mut().for_each(|(reach, _)| {
        sum += *reach;
        *reach = sum;
    });
    let (silent, loud) = order.split_at(order.iter().take_while(|(reach, _)| !best.admits(*reach)).count());
    let rest = silent.last().map_or(0.0, |(reach, _)| *reach);
    let is_allowed = |place: u16| allowed.is_none_or(|allowed| allowed.contains(place));
    let postings = loud.iter().map(|&(_, at)| lists[at].reach(number).count).sum();
    sums.begin(if loud.len() > 1 { postings } else { 0 });
    let asked = match (allowed, loud) {
        (Some(allowed), _) if allowed.count() * FEW < postings => {
            found.extend(allowed.iter());
            &order
        }
        (_, &[(_, only)]) => {
            lists[only].each(desk, |places, scores| {
                each_above(scores, (&mut *best, rest), |best, at| {
                    let (place, score) = (places[at], scores[at]);
                    match (is_allowed(place), silent.is_empty()) {
                        (true, true) => best.push(number, place, score),
                        (true, false) => {
                            sums.add_one(place, score);
                            found.push(place);
                        }
                        (false, _) => {}
                    }
                });
            });
            silent
        }
        _ => {
            loud.iter().for_each(|&(_, at)| lists[at].each(desk, |places, scores| sums.add(places, scores)));
            sums.each(best.bar() - rest, |place| {
                if is_allowed(place) {
                    found.push(place);
                }
            });
            silent
        }
    };
    for (at, &(_, list)) in asked.iter().enumerate().rev() {
        if found.is_empty() {
            break;
        }
        lists[list].add_to(desk, &found, sums);
        let rest = at.checked_sub(1).map_or(0.0, |below| asked[below].0);
        keep(&mut found, |place| best.admits(sums.at(place) + rest));
    }
    found.iter().for_each(|&place| best.push(number, place, sums.at(place)));
    (desk.found, desk.order) = (found, order);
}

/// Gives the indexes of scores that may be among the best, together with `rest`.
fn each_above(scores: &[f32], (best, rest): (&mut Best, f32), mut each: impl FnMut(&mut Best, usize)) {
    let mut kept = [0u8; GROUP];
    for (group, scores) in scores.chunks(GROUP).enumerate() {
        let bar = best.bar() - rest;
        if !any_reaches(scores, bar) {
            continue;
        }
        // Without a branch, since nobody can guess which are enough.
        let mut count = 0;
        for (at, score) in (0..).zip(scores) {
            kept[count] = at;
            count += usize::from(*score >= bar);
        }
        kept[..count].iter().for_each(|at| each(best, group * GROUP + usize::from(*at)));
    }
}

/// Keeps the places that are wanted, in their order: without a branch, since nobody can guess them.
fn keep(places: &mut Vec<u16>, mut is_wanted: impl FnMut(u16) -> bool) {
    let mut kept = 0;
    for at in 0..places.len() {
        let place = places[at];
        places[kept] = place;
        kept += usize::from(is_wanted(place));
    }
    places.truncate(kept);
}
