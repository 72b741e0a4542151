//! Sums of scores by place in a window.

use aurora_storage::{WINDOW, reaching};

use super::by_place;

/// Places that are looked at together.
const GROUP: usize = 64;

/// Sums, 0 where nothing was added.
#[derive(Default)]
pub(super) struct Sums(Option<Box<[f32; WINDOW as usize]>>);

impl Sums {
    /// The sums of a window that nothing was added to.
    pub(super) fn begin(&mut self) -> WindowSums<'_> {
        let sums = self.0.get_or_insert_with(by_place);
        sums.fill(0.0);
        WindowSums(sums)
    }
}

/// Sums in one window.
pub(super) struct WindowSums<'s>(&'s mut [f32; WINDOW as usize]);

impl WindowSums<'_> {
    /// Adds positive scores to places.
    pub(super) fn add(&mut self, places: impl Iterator<Item = u16>, scores: &[f32]) {
        for (place, score) in places.zip(scores) {
            self.0[usize::from(place) % WINDOW as usize] += score;
        }
    }

    /// Gives the places with positive sums of at least `bar`, ascending, with these.
    pub(super) fn each_above(&self, bar: f32, mut each: impl FnMut(u16, f32)) {
        each_above(&self.0[..], bar, |at| each(at as u16, self.0[at]));
    }
}

/// Gives the indexes of scores that are positive and at least `bar`, ascending.
#[inline]
pub(super) fn each_above(scores: &[f32], bar: f32, mut each: impl FnMut(usize)) {
    let bar = bar.max(f32::MIN_POSITIVE);
    let mut words = [0; WINDOW as usize / GROUP];
    let (groups, rest) = scores.as_chunks();
    reaching(groups, bar, &mut words);
    for (group, word) in words.iter().take(groups.len()).enumerate() {
        let mut left = *word;
        while left != 0 {
            each(group * GROUP + left.trailing_zeros() as usize);
            left &= left - 1;
        }
    }
    let above = rest.iter().enumerate().filter(|(_, score)| **score >= bar);
    above.for_each(|(at, _)| each(groups.len() * GROUP + at));
}
