//! Keeps the k best of a stream of scores, and all lower scores that might be among the best if there were no rounding
//! errors.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::chunk_id::{ChunkId, WINDOW};

/// The best chunks so far.
pub(super) struct TopK {
    k: usize,
    /// Bound on the relative difference between sums of the same terms in two orders, with a safety factor.
    slack: f32,
    /// Bits of the `k` best scores. Positive floats have the same order as their bits.
    scores: BinaryHeap<Reverse<u32>>,
    threshold: f32,
    /// Position of the index whose chunks are added.
    pub(super) index: usize,
    /// All chunks whose score may be among the best: the position of the index, the chunk, and its score.
    kept: Vec<(usize, u32, f32)>,
}

impl TopK {
    /// Creates a collector for scores that are sums of `terms` terms. The threshold begins at `estimate`.
    pub(super) fn new(k: usize, terms: usize, estimate: f32) -> Self {
        // The rounding error of n additions and of the few operations per posting is at most n + 16 half units in the
        // last place (2⁻²⁴ each).
        let slack = (terms as f32 + 16.0) * f32::EPSILON * 4.0;
        let threshold = if k == 0 { f32::INFINITY } else { (estimate * (1.0 - slack)).max(f32::MIN_POSITIVE) };
        Self { k, slack, scores: BinaryHeap::with_capacity(k + 1), threshold, index: 0, kept: Vec::new() }
    }

    /// Whether `k` chunks were found.
    pub(super) fn is_full(&self) -> bool {
        self.scores.len() == self.k
    }

    /// The lowest score that may be among the best: the score of the k-th best chunk so far or, while it is higher, the
    /// estimate. Both are lowered by the slack.
    #[inline]
    pub(super) fn threshold(&self) -> f32 {
        self.threshold
    }

    /// Whether a score of at most `bound` may be among the best.
    #[inline]
    pub(super) fn may_enter(&self, bound: f32) -> bool {
        bound >= self.threshold
    }

    /// Adds the score of a chunk.
    pub(super) fn push(&mut self, window: u32, offset: u16, score: f32) {
        if !self.may_enter(score) {
            return;
        }
        self.kept.push((self.index, window * WINDOW + u32::from(offset), score));
        self.scores.push(Reverse(score.to_bits()));
        if self.scores.len() > self.k {
            self.scores.pop();
        }
        if self.scores.len() == self.k
            && let Some(&Reverse(last)) = self.scores.peek()
        {
            self.threshold = (f32::from_bits(last) * (1.0 - self.slack)).max(self.threshold);
        }
    }

    /// Returns the chunks that may be among the best: for each of `indexes` indexes, the chunks in ascending order with
    /// their scores.
    pub(super) fn finish(mut self, indexes: usize) -> Vec<Vec<(ChunkId, f32)>> {
        let threshold = self.threshold;
        self.kept.retain(|(_, _, score)| *score >= threshold);
        self.kept.sort_unstable_by_key(|(index, chunk, _)| (*index, *chunk));
        let mut found = vec![Vec::new(); indexes];
        self.kept.into_iter().for_each(|(index, chunk, score)| found[index].push((ChunkId(chunk), score)));
        found
    }
}
