//! Chunks of a window that may be among the best chunks.

use crate::chunk_id::WINDOW;

/// The candidates: offsets in the window, in ascending order, with their partial scores.
pub(super) struct WindowCandidates(Vec<(u16, f32)>);

impl WindowCandidates {
    /// Creates an empty set with capacity for a whole window. Memory that is never written to is never mapped.
    pub(super) fn new() -> Self {
        Self(Vec::with_capacity(WINDOW as usize))
    }

    /// Removes all candidates.
    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    /// Adds an offset, which must be above all offsets in the set.
    #[inline]
    pub(super) fn push(&mut self, offset: u16, score: f32) {
        self.0.push((offset, score));
    }

    /// Number of candidates.
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// Adds to the partial score of the candidate at an index.
    #[inline]
    pub(super) fn add(&mut self, index: usize, score: f32) {
        self.0[index].1 += score;
    }

    /// Returns the index of an offset.
    pub(super) fn find(&self, offset: u16) -> Option<usize> {
        self.0.binary_search_by_key(&offset, |(offset, _)| *offset).ok()
    }

    /// Keeps the candidates whose partial score is at least `threshold`. The loop has no branch, because the processor
    /// could not predict it.
    pub(super) fn retain(&mut self, threshold: f32) {
        let mut kept = 0;
        for at in 0..self.0.len() {
            let candidate = self.0[at];
            self.0[kept] = candidate;
            kept += usize::from(candidate.1 >= threshold);
        }
        self.0.truncate(kept);
    }

    /// Offsets and partial scores.
    pub(super) fn as_slice(&self) -> &[(u16, f32)] {
        &self.0
    }
}
