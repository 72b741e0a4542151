//! The k best of a stream of scores, and all scores that rounding may have put below them.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::chunk_id::{ChunkId, WINDOW};

/// The best chunks so far.
pub(super) struct TopK {
    k: usize,
    /// Relative bound on the rounding error between two orders of summation, several times over.
    slack: f32,
    /// Bits of the `k` best scores: positive floats are ordered as their bits.
    scores: BinaryHeap<Reverse<u32>>,
    threshold: f32,
    kept: Vec<(u32, f32)>,
}

impl TopK {
    /// For scores that are sums of so many terms; `estimate` is where the threshold begins.
    pub(super) fn new(k: usize, terms: usize, estimate: f32) -> Self {
        // n additions and the few operations of a posting err by at most n + 16 half units in the last place (2⁻²⁴ each).
        let slack = (terms as f32 + 16.0) * f32::EPSILON * 4.0;
        let threshold = if k == 0 { f32::INFINITY } else { (estimate * (1.0 - slack)).max(f32::MIN_POSITIVE) };
        Self { k, slack, scores: BinaryHeap::with_capacity(k + 1), threshold, kept: Vec::new() }
    }

    /// Whether `k` chunks were found.
    pub(super) fn is_full(&self) -> bool {
        self.scores.len() == self.k
    }

    /// The lowest score that may be among the best: that of the k-th best chunk so far, less the slack.
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
        self.kept.push((window * WINDOW + u32::from(offset), score));
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

    /// The chunks that may be among the best, ascending, with their scores.
    pub(super) fn finish(mut self) -> Vec<(ChunkId, f32)> {
        let threshold = self.threshold;
        self.kept.retain(|(_, score)| *score >= threshold);
        self.kept.sort_unstable_by_key(|(chunk, _)| *chunk);
        self.kept.into_iter().map(|(chunk, score)| (ChunkId(chunk), score)).collect()
    }
}
