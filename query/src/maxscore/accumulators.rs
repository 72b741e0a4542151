//! Accumulators of scores by offset in a window.

use aurora_storage::{WINDOW, at_least};

use super::by_offset;

/// AllowedOffsets that are looked at together.
const GROUP: usize = 64;

/// Accumulators, 0 where nothing was added.
#[derive(Default)]
pub(super) struct Accumulators(Option<Box<[f32; WINDOW as usize]>>);

impl Accumulators {
    /// The accumulators of a window that nothing was added to.
    pub(super) fn begin(&mut self) -> WindowAccumulators<'_> {
        let accumulators = self.0.get_or_insert_with(by_offset);
        accumulators.fill(0.0);
        WindowAccumulators(accumulators)
    }
}

/// Accumulators in one window.
pub(super) struct WindowAccumulators<'s>(&'s mut [f32; WINDOW as usize]);

impl WindowAccumulators<'_> {
    /// Adds positive scores to offsets.
    pub(super) fn add(&mut self, offsets: impl Iterator<Item = u16>, scores: &[f32]) {
        for (offset, score) in offsets.zip(scores) {
            self.0[usize::from(offset) % WINDOW as usize] += score;
        }
    }

    /// Gives the offsets with positive accumulators of at least `threshold`, ascending, with these.
    pub(super) fn for_each_above(&self, threshold: f32, mut each: impl FnMut(u16, f32)) {
        for_each_above(&self.0[..], threshold, |at| each(at as u16, self.0[at]));
    }
}

/// Gives the indexes of scores that are positive and at least `threshold`, ascending.
#[inline]
pub(super) fn for_each_above(scores: &[f32], threshold: f32, mut each: impl FnMut(usize)) {
    let threshold = threshold.max(f32::MIN_POSITIVE);
    let mut words = [0; WINDOW as usize / GROUP];
    let (groups, rest) = scores.as_chunks();
    at_least(groups, threshold, &mut words);
    for (group, word) in words.iter().take(groups.len()).enumerate() {
        let mut left = *word;
        while left != 0 {
            each(group * GROUP + left.trailing_zeros() as usize);
            left &= left - 1;
        }
    }
    let above = rest.iter().enumerate().filter(|(_, score)| **score >= threshold);
    above.for_each(|(at, _)| each(groups.len() * GROUP + at));
}
