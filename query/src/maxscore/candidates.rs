//! Chunks of a window that may be among the best.

use aurora_storage::WINDOW;

/// Places, ascending, and what is known of their scores.
pub(super) struct Candidates(Vec<(u16, f32)>);

impl Candidates {
    /// None, with room for all of a window, of which only what is needed is ever touched.
    pub(super) fn new() -> Self {
        Self(Vec::with_capacity(WINDOW as usize))
    }

    /// Forgets everything.
    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    /// Adds a place above all others.
    #[inline]
    pub(super) fn push(&mut self, place: u16, sum: f32) {
        self.0.push((place, sum));
    }

    /// Number of places.
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// Adds a score to the sum of a place, by its index.
    #[inline]
    pub(super) fn add(&mut self, index: usize, score: f32) {
        self.0[index].1 += score;
    }

    /// The index of a place.
    pub(super) fn find(&self, place: u16) -> Option<usize> {
        self.0.binary_search_by_key(&place, |(place, _)| *place).ok()
    }

    /// Keeps those with sums of at least `bar`: without a branch, since nobody can guess them.
    pub(super) fn keep(&mut self, bar: f32) {
        let mut kept = 0;
        for at in 0..self.0.len() {
            let candidate = self.0[at];
            self.0[kept] = candidate;
            kept += usize::from(candidate.1 >= bar);
        }
        self.0.truncate(kept);
    }

    /// Places and sums.
    pub(super) fn as_slice(&self) -> &[(u16, f32)] {
        &self.0
    }
}
