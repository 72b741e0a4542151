//! Score accumulators: an array with the partial score of every chunk of one window.

use aurora_kernels::threshold_words;

use crate::chunk_id::WINDOW;

/// Number of scores that are compared with the threshold at once.
const GROUP: usize = 64;

/// The array of scores by offset in the window, allocated at first use.
#[derive(Default)]
pub(super) struct Accumulators(Option<Box<[f32; WINDOW as usize]>>);

impl Accumulators {
    /// Clears the accumulators for a new window.
    pub(super) fn begin(&mut self) -> WindowAccumulators<'_> {
        let scores = self.0.get_or_insert_with(by_offset);
        scores.fill(0.0);
        WindowAccumulators(scores)
    }
}

/// The accumulators of the current window.
pub(super) struct WindowAccumulators<'s>(&'s mut [f32; WINDOW as usize]);

impl WindowAccumulators<'_> {
    /// Adds scores, which must be positive, to the accumulators at `offsets`.
    #[inline]
    pub(super) fn add(&mut self, offsets: impl Iterator<Item = u16>, scores: &[f32]) {
        for (offset, score) in offsets.zip(scores) {
            self.0[usize::from(offset) % WINDOW as usize] += score;
        }
    }

    /// Calls `each` with the offset and score of every accumulator that is positive and at least `threshold`, in
    /// ascending order of offsets.
    #[inline]
    pub(super) fn for_each_above(&self, threshold: f32, mut each: impl FnMut(u16, f32)) {
        for_each_above(&self.0[..], threshold, |at| each(at as u16, self.0[at]));
    }
}

/// Calls `each` with the indexes of scores that are positive and at least `threshold`, in ascending order.
#[inline]
pub(super) fn for_each_above(scores: &[f32], threshold: f32, mut each: impl FnMut(usize)) {
    let threshold = threshold.max(f32::MIN_POSITIVE);
    let mut words = [0; WINDOW as usize / GROUP];
    let (groups, rest) = scores.as_chunks();
    threshold_words(groups, threshold, &mut words);
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

/// Allocates an array of default values, one per offset of a window, directly on the heap.
pub(super) fn by_offset<T: Copy + Default>() -> Box<[T; WINDOW as usize]> {
    match vec![T::default(); WINDOW as usize].into_boxed_slice().try_into() {
        Ok(values) => values,
        Err(_) => unreachable!("the vector has one element per offset of a window"),
    }
}
