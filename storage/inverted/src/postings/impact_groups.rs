//! Divides the postings of a window into groups of similar postings. An impact bound made of the highest frequencies
//! and shortest lengths of a group is then close to the impact of its best posting.
//!
//! Postings are compared by their weights, which depend on the weights of the fields. Each search may use different
//! field weights, but grouping always uses those in [`GROUPING`], a constant of the format. The groups, and therefore
//! the bytes of the impacts, depend only on the postings, so verification can recompute them. A bound holds for the
//! field weights of every search, but is tightest if they are close to those in [`GROUPING`].

use std::ops::Range;

use super::tf_vector::TfVector;
use crate::field::{FIELDS, Field};
use crate::lengths::{LengthCodes, length_from_code};

const BODY: usize = Field::Body.index();

/// BM25F parameters and average field lengths used to group postings and to order the dictionary of tf vectors.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Grouping {
    /// Weight of each field, in the order of [`Field`].
    pub weights: [f32; FIELDS],
    /// Average length of each field in terms.
    pub average_lengths: [f32; FIELDS],
    /// Length normalisation.
    pub b: f32,
}

/// The grouping of this format. Field weights and `b` were the search defaults when the format was fixed; the average
/// lengths are typical of source code chunks. Changing a value changes the format.
pub const GROUPING: Grouping = Grouping {
    weights: [3.0, 2.0, 2.5, 2.0, 1.0, 1.0, 1.0],
    average_lengths: [4.0, 8.0, 9.0, 15.0, 12.0, 4.0, 86.0],
    b: 0.75,
};

/// Maximum number of groups in a window.
const MAX_GROUPS: usize = 5;
/// A group is not divided further if the weight of its bound is at most this factor times the weight of the window's
/// best posting.
const TIGHT_FACTOR: f32 = 1.05;

/// A posting with the weight that each field contributes.
#[derive(Debug, Clone)]
pub(super) struct WeightedPosting {
    pub(super) frequencies: TfVector,
    pub(super) lengths: LengthCodes,
    by_field: [f32; FIELDS],
}

impl WeightedPosting {
    pub(super) fn new(frequencies: &TfVector, lengths: &LengthCodes) -> Self {
        let by_field = std::array::from_fn(|field| weight(field, frequencies[field], lengths[field]));
        Self { frequencies: *frequencies, lengths: *lengths, by_field }
    }
}

/// Returns the weight of a posting with this tf vector whose fields have the average lengths.
pub(super) fn usual_weight(frequencies: &TfVector) -> f32 {
    frequencies.iter().zip(GROUPING.weights).map(|(count, weight)| f32::from(*count) * weight).sum()
}

fn weight(field: usize, frequency: u16, length: u8) -> f32 {
    let Grouping { weights, average_lengths, b } = GROUPING;
    let length = length_from_code(length) as f32;
    f32::from(frequency) * weights[field] / (1.0 - b + b / average_lengths[field] * length)
}

/// Divides postings into groups and reorders them so that each group is a range. Halves the group with the highest
/// bound until every bound is tight or there are [`MAX_GROUPS`] groups.
pub(super) fn divide(postings: &mut [WeightedPosting]) -> Vec<Range<usize>> {
    let best = postings.iter().map(|posting| posting.by_field.iter().sum()).fold(0.0, f32::max);
    let mut groups = vec![(bound(postings), 0..postings.len())];
    while groups.len() < MAX_GROUPS {
        let highest = groups.iter_mut().max_by(|a, b| a.0.total_cmp(&b.0));
        let Some((bound_of, range)) = highest.filter(|(bound, _)| *bound > best * TIGHT_FACTOR) else { break };
        let Some(middle) = halve(&mut postings[range.clone()]).map(|middle| range.start + middle) else { break };
        let upper = middle..range.end;
        range.end = middle;
        *bound_of = bound(&postings[range.clone()]);
        groups.push((bound(&postings[upper.clone()]), upper));
    }
    groups.into_iter().map(|(_, range)| range).collect()
}

/// Returns the weight of a group's bound, which is computed from its highest frequencies and shortest lengths.
fn bound(postings: &[WeightedPosting]) -> f32 {
    let other_fields = (0..BODY).map(|field| {
        let holding = postings.iter().filter(|posting| posting.frequencies[field] > 0);
        let pairs = holding.map(|posting| (posting.frequencies[field], posting.lengths[field]));
        let pair = pairs.reduce(|a, b| (a.0.max(b.0), a.1.min(b.1)));
        pair.map_or(0.0, |(frequency, length)| weight(field, frequency, length))
    });
    let body = postings.iter().map(|posting| posting.by_field[BODY]).fold(0.0, f32::max);
    other_fields.sum::<f32>() + body
}

/// Partitions postings by their weights in the field where the weights differ most. Returns the number of postings in
/// the lower half; `None` if the weights do not differ.
fn halve(postings: &mut [WeightedPosting]) -> Option<usize> {
    let ends = |field: usize| {
        let weights = postings.iter().map(|posting| posting.by_field[field]);
        weights.fold((f32::MAX, 0f32), |(least, most), weight| (least.min(weight), most.max(weight)))
    };
    let widest =
        (0..FIELDS).map(|field| (ends(field), field)).max_by(|((a, b), _), ((c, d), _)| (b - a).total_cmp(&(d - c)));
    let ((least, most), field) = widest?;
    let middle = least + (most - least) / 2.0;
    let mut below = 0;
    for at in 0..postings.len() {
        if postings[at].by_field[field] <= middle {
            postings.swap(below, at);
            below += 1;
        }
    }
    (below < postings.len()).then_some(below)
}
