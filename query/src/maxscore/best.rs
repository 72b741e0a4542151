//! The best of a stream of scores, and all that may be as good.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use aurora_storage::{ChunkId, WINDOW};

/// The best so far.
pub(super) struct Best {
    k: usize,
    /// Share by which two sums of the same numbers may differ, several times over.
    slack: f32,
    /// Bits of the `k` best scores; positive floats are ordered as their bits.
    scores: BinaryHeap<Reverse<u32>>,
    bar: f32,
    kept: Vec<(u32, f32)>,
}

impl Best {
    /// Of sums of so many terms, none below `least`.
    pub(super) fn new(k: usize, terms: usize, least: f32) -> Self {
        // n additions and the few operations of a posting err by at most n + 16 halves of the last place (2⁻²⁴ each)
        let slack = (terms as f32 + 16.0) * f32::EPSILON * 4.0;
        let bar = if k == 0 { f32::INFINITY } else { (least * (1.0 - slack)).max(f32::MIN_POSITIVE) };
        Self { k, slack, scores: BinaryHeap::with_capacity(k + 1), bar, kept: Vec::new() }
    }

    /// Whether there are as many as were wanted.
    pub(super) fn is_full(&self) -> bool {
        self.scores.len() == self.k
    }

    /// The lowest score that may be among the best.
    #[inline]
    pub(super) fn bar(&self) -> f32 {
        self.bar
    }

    /// Whether a score of at most `bound` may be among the best.
    #[inline]
    pub(super) fn admits(&self, bound: f32) -> bool {
        bound >= self.bar
    }

    /// Takes the score of a chunk.
    pub(super) fn push(&mut self, window: u32, place: u16, score: f32) {
        if !self.admits(score) {
            return;
        }
        self.kept.push((window * WINDOW + u32::from(place), score));
        self.scores.push(Reverse(score.to_bits()));
        if self.scores.len() > self.k {
            self.scores.pop();
        }
        if self.scores.len() == self.k
            && let Some(&Reverse(last)) = self.scores.peek()
        {
            self.bar = (f32::from_bits(last) * (1.0 - self.slack)).max(self.bar);
        }
    }

    /// The best with their scores, ascending by chunk.
    pub(super) fn finish(mut self) -> Vec<(ChunkId, f32)> {
        let bar = self.bar;
        self.kept.retain(|(_, score)| *score >= bar);
        self.kept.sort_unstable_by_key(|(chunk, _)| *chunk);
        self.kept.into_iter().map(|(chunk, score)| (ChunkId(chunk), score)).collect()
    }
}
