//! Divides postings into groups of alike ones, so that the highest frequencies and shortest fields of a group come close to
//! those of its best posting.
//!
//! What a field counts for in here is about what it counts for in a search with the default weights. Bounds hold whatever
//! the weights are; only how close they come depends on these.

use std::ops::Range;

use super::window::Row;
use crate::field::{FIELDS, Field};
use crate::lengths::{LengthCodes, length_of};

const BODY: usize = Field::Body.index();
/// What a field counts for, and its average length, in [`Field`]'s order.
const WEIGHTS: [f32; FIELDS] = [3.0, 2.0, 2.5, 2.0, 1.0, 1.0];
const AVERAGES: [f32; FIELDS] = [4.0, 8.0, 9.0, 15.0, 12.0, 86.0];
/// Share of the length that counts.
const B: f32 = 0.75;
/// Groups of a window at most.
const GROUPS: usize = 5;
/// A bound is close enough to the best posting if it is at most so many times as much.
const CLOSE: f32 = 1.05;

/// A posting, and what each field adds to its weight.
#[derive(Debug, Clone)]
pub(super) struct Point {
    pub(super) frequencies: Row,
    pub(super) lengths: LengthCodes,
    parts: [f32; FIELDS],
}

impl Point {
    pub(super) fn new(frequencies: &Row, lengths: &LengthCodes) -> Self {
        let part = |field: usize| weight(field, frequencies[field], lengths[field]);
        Self { frequencies: *frequencies, lengths: *lengths, parts: std::array::from_fn(part) }
    }
}

/// What a posting in fields of average length weighs.
pub(super) fn usual_weight(frequencies: &Row) -> f32 {
    frequencies.iter().zip(WEIGHTS).map(|(count, weight)| f32::from(*count) * weight).sum()
}

fn weight(field: usize, frequency: u16, length: u8) -> f32 {
    let length = length_of(length) as f32;
    f32::from(frequency) * WEIGHTS[field] / (1.0 - B + B / AVERAGES[field] * length)
}

/// Divides the points, which change their order for it: gives the ranges of the groups.
pub(super) fn divide(points: &mut [Point]) -> Vec<Range<usize>> {
    let best = points.iter().map(|point| point.parts.iter().sum()).fold(0.0, f32::max);
    let mut groups = vec![(bound(points), 0..points.len())];
    while groups.len() < GROUPS {
        let highest = groups.iter_mut().max_by(|a, b| a.0.total_cmp(&b.0));
        let Some((bound_of, range)) = highest.filter(|(bound, _)| *bound > best * CLOSE) else { break };
        let Some(middle) = halve(&mut points[range.clone()]).map(|middle| range.start + middle) else { break };
        let upper = middle..range.end;
        range.end = middle;
        *bound_of = bound(&points[range.clone()]);
        groups.push((bound(&points[upper.clone()]), upper));
    }
    groups.into_iter().map(|(_, range)| range).collect()
}

/// What a posting would weigh with all that is highest and shortest in some.
fn bound(points: &[Point]) -> f32 {
    let most = |part: fn(&Point, usize) -> f32, field: usize| {
        points.iter().map(|point| part(point, field)).fold(0.0, f32::max)
    };
    let beside = (0..BODY).map(|field| {
        let holding = points.iter().filter(|point| point.frequencies[field] > 0);
        let corner = holding.map(|point| (point.frequencies[field], point.lengths[field]));
        corner
            .reduce(|a, b| (a.0.max(b.0), a.1.min(b.1)))
            .map_or(0.0, |(frequency, length)| weight(field, frequency, length))
    });
    beside.sum::<f32>() + most(|point, field| point.parts[field], BODY)
}

/// Puts the points that have less of the field in which they differ most before the others; tells how many they are.
fn halve(points: &mut [Point]) -> Option<usize> {
    let ends = |field: usize| {
        let parts = points.iter().map(|point| point.parts[field]);
        parts.fold((f32::MAX, 0f32), |(least, most), part| (least.min(part), most.max(part)))
    };
    let widest =
        (0..FIELDS).map(|field| (ends(field), field)).max_by(|((a, b), _), ((c, d), _)| (b - a).total_cmp(&(d - c)));
    let ((least, most), field) = widest?;
    let middle = least + (most - least) / 2.0;
    let mut below = 0;
    for at in 0..points.len() {
        if points[at].parts[field] <= middle {
            points.swap(below, at);
            below += 1;
        }
    }
    (below < points.len()).then_some(below)
}
