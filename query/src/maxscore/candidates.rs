//! Chunks of a window that may be among the best.

use aurora_storage::WINDOW;

/// Offsets, ascending, and what is known of their scores.
pub(super) struct WindowCandidates(Vec<(u16, f32)>);

impl WindowCandidates {
    /// None, with buffers for all of a window, of which only what is needed is ever touched.
    pub(super) fn new() -> Self {
        Self(Vec::with_capacity(WINDOW as usize))
    }

    /// Forgets everything.
    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    /// Adds an offset above all others.
    #[inline]
    pub(super) fn push(&mut self, offset: u16, sum: f32) {
        self.0.push((offset, sum));
    }

    /// Number of offsets.
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// Adds a score to the sum of an offset, by its index.
    #[inline]
    pub(super) fn add(&mut self, index: usize, score: f32) {
        self.0[index].1 += score;
    }

    /// The index of an offset.
    pub(super) fn find(&self, offset: u16) -> Option<usize> {
        self.0.binary_search_by_key(&offset, |(offset, _)| *offset).ok()
    }

    /// Keeps those with accumulators of at least `threshold`: without a branch, since nobody can guess them.
    pub(super) fn keep(&mut self, threshold: f32) {
        let mut kept = 0;
        for at in 0..self.0.len() {
            let candidate = self.0[at];
            self.0[kept] = candidate;
            kept += usize::from(candidate.1 >= threshold);
        }
        self.0.truncate(kept);
    }

    /// Offsets and sums.
    pub(super) fn as_slice(&self) -> &[(u16, f32)] {
        &self.0
    }
}
