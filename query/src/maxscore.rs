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
use crate::maxscore::sums::Sums;

mod best;
mod list;
mod places;
mod sums;

/// Chunks that a filter leaves in a window are asked for one by one if postings are this many times as many.
const FEW: u32 = 8;

/// One window, and room for what is done in it.
pub(crate) struct Desk<'s> {
    fields: &'s FieldScorer,
    lengths: LengthColumns<'s>,
    number: u32,
    postings: WindowPostings,
}

/// Chunks among which the best `k` are, by scores as the factors give them, and all that equal the last of
/// them; ascending. Only chunks in `filter`, which holds live ones.
pub(crate) fn candidates(
    mut lists: Vec<List<'_>>,
    fields: &FieldScorer,
    snapshot: &Snapshot,
    k: usize,
    filter: Option<&RoaringBitmap>,
) -> Result<Vec<ChunkId>, StorageError> {
    let windows = snapshot.manifest().next_chunk_id.div_ceil(WINDOW);
    let total = |window: u32| lists.iter().map(|list| list.reach(window).bound).sum::<f32>();
    let mut windows: Vec<(f32, u32)> = (0..windows).map(|window| (total(window), window)).collect();
    windows.retain(|(total, _)| *total > 0.0);
    windows.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    let mut best = Best::new(k, lists.len());
    let mut sums = Sums::default();
    let mut desk = Desk { fields, lengths: LengthColumns::NONE, number: 0, postings: WindowPostings::default() };
    let mut found = Vec::new();
    for (total, number) in windows {
        if k == 0 || !best.admits(total) {
            break;
        }
        desk.number = number;
        desk.lengths = snapshot.window_lengths(number)?;
        let allowed = Places::allowed(snapshot, filter, number);
        search(&mut lists, &mut desk, allowed.as_ref(), (&mut sums, &mut found), &mut best);
    }
    Ok(best.finish())
}

/// Looks for the best chunks of a window.
fn search(
    lists: &mut [List<'_>],
    desk: &mut Desk<'_>,
    allowed: Option<&Places>,
    (sums, found): (&mut Sums, &mut Vec<(u16, f32)>),
    best: &mut Best,
) {
    let number = desk.number;
    lists.sort_unstable_by(|a, b| a.reach(number).bound.total_cmp(&b.reach(number).bound));
    // What a list and all below it can add
    let reach = lists.iter().scan(0.0f32, |sum, list| {
        *sum += list.reach(number).bound;
        Some(*sum)
    });
    let reach: Vec<f32> = reach.collect();
    let silent = reach.iter().take_while(|&&reach| !best.admits(reach)).count();
    let rest = |asked: usize| asked.checked_sub(1).map_or(0.0, |last| reach[last]);
    let is_allowed = |place: u16| allowed.is_none_or(|allowed| allowed.contains(place));
    let postings: u32 = lists[silent..].iter().map(|list| list.reach(number).count).sum();
    found.clear();
    let asked = match (allowed, &mut lists[silent..]) {
        (Some(allowed), _) if allowed.count() * FEW < postings => {
            found.extend(allowed.iter().map(|place| (place, 0.0)));
            reach.len()
        }
        (_, [only]) => {
            let rest = rest(silent);
            only.each(desk, |place, score| {
                if best.admits(score + rest) && is_allowed(place) {
                    match silent {
                        0 => best.push(number, place, score),
                        _ => found.push((place, score)),
                    }
                }
            });
            silent
        }
        (_, several) => {
            sums.begin(postings);
            several.iter_mut().for_each(|list| list.each(desk, |place, score| sums.add(place, score)));
            let rest = rest(silent);
            sums.take(best.bar() - rest, |place, sum| {
                if is_allowed(place) {
                    found.push((place, sum));
                }
            });
            silent
        }
    };
    for at in (0..asked).rev() {
        if found.is_empty() {
            return;
        }
        lists[at].add_to(desk, found);
        found.retain(|(_, sum)| best.admits(sum + rest(at)));
    }
    found.iter().for_each(|&(place, score)| best.push(number, place, score));
}
