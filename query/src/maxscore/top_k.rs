//! The best of a stream of scores, and all that may be as good.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use aurora_storage::{ChunkId, WINDOW};

/// The best so far.
pub(super) struct TopK {
    k: usize,
    /// Share by which two accumulators of the same numbers may differ, several times over.
    slack: f32,
    /// Bits of the `k` best scores; positive floats are ordered as their bits.
    scores: BinaryHeap<Reverse<u32>>,
    threshold: f32,
    kept: Vec<(u32, f32)>,
}

impl TopK {
    /// Of accumulators of so many terms, none below `least`.
    pub(super) fn new(k: usize, terms: usize, least: f32) -> Self {
        // n additions and the few operations of a posting err by at most n + 16 halves of the last place (2⁻²⁴ each)
        let slack = (terms as f32 + 16.0) * f32::EPSILON * 4.0;
        let threshold = if k == 0 { f32::INFINITY } else { (least * (1.0 - slack)).max(f32::MIN_POSITIVE) };
        Self { k, slack, scores: BinaryHeap::with_capacity(k + 1), threshold, kept: Vec::new() }
    }

    /// Whether there are as many as were wanted.
    pub(super) fn is_full(&self) -> bool {
        self.scores.len() == self.k
    }

    /// The lowest score that may be among the best.
    #[inline]
    pub(super) fn threshold(&self) -> f32 {
        self.threshold
    }

    /// Whether a score of at most `bound` may be among the best.
    #[inline]
    pub(super) fn may_enter(&self, bound: f32) -> bool {
        bound >= self.threshold
    }

    /// Takes the score of a chunk.
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

    /// The best with their scores, ascending by chunk.
    pub(super) fn finish(mut self) -> Vec<(ChunkId, f32)> {
        let threshold = self.threshold;
        self.kept.retain(|(_, score)| *score >= threshold);
        self.kept.sort_unstable_by_key(|(chunk, _)| *chunk);
        self.kept.into_iter().map(|(chunk, score)| (ChunkId(chunk), score)).collect()
    }
}
