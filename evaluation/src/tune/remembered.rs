//! A cache of the scores of a reranker.

use std::hash::{BuildHasher, RandomState};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use aurora_analysis::{InferenceError, Passage, Reranker};
use rustc_hash::FxHashMap;

/// A reranker that caches its scores. Changing a weight usually moves few of a question's top results, so tuning asks
/// for the same scores many times.
pub struct RememberedScores {
    reranker: Arc<dyn Reranker>,
    /// Scores, indexed by a keyed hash of query and passage. The hash key is secret, so that a repository cannot
    /// provoke collisions.
    scores: Mutex<FxHashMap<u64, f32>>,
    hasher: RandomState,
}

impl RememberedScores {
    /// Wraps a reranker, with an empty cache.
    pub fn new(reranker: Arc<dyn Reranker>) -> Self {
        Self { reranker, scores: Mutex::default(), hasher: RandomState::new() }
    }

    fn lock(&self) -> MutexGuard<'_, FxHashMap<u64, f32>> {
        self.scores.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Reranker for RememberedScores {
    fn id(&self) -> &str {
        self.reranker.id()
    }

    fn scores(&self, query: &str, passages: &[Passage<'_>]) -> Result<Vec<f32>, InferenceError> {
        let keys: Vec<u64> = passages.iter().map(|passage| self.hasher.hash_one((query, passage))).collect();
        let mut scores: Vec<Option<f32>> = {
            let known = self.lock();
            keys.iter().map(|key| known.get(key).copied()).collect()
        };
        let missing: Vec<usize> = (0..scores.len()).filter(|&at| scores[at].is_none()).collect();
        let unread: Vec<Passage<'_>> = missing.iter().map(|&at| passages[at]).collect();
        let read = if unread.is_empty() { Vec::new() } else { self.reranker.scores(query, &unread)? };
        let mut known = self.lock();
        for (at, score) in missing.into_iter().zip(read) {
            scores[at] = Some(score);
            known.insert(keys[at], score);
        }
        Ok(scores.into_iter().flatten().collect())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    /// A reranker whose scores are lengths. It counts the passages that it has scored.
    #[derive(Default)]
    struct Lengths(AtomicUsize);

    impl Reranker for Lengths {
        fn id(&self) -> &str {
            "lengths@1"
        }

        fn scores(&self, query: &str, passages: &[Passage<'_>]) -> Result<Vec<f32>, InferenceError> {
            self.0.fetch_add(passages.len(), Ordering::Relaxed);
            Ok(passages.iter().map(|passage| (query.len() + passage.body.len()) as f32).collect())
        }
    }

    #[test]
    fn scores_equal_those_of_the_reranker_and_are_computed_once() {
        let lengths = Arc::new(Lengths::default());
        let remembered = RememberedScores::new(lengths.clone());
        let passage = |body| Passage { body, ..Passage::default() };
        let ask = |query: &str, bodies: &[&'static str]| {
            let passages: Vec<_> = bodies.iter().map(|body| passage(body)).collect();
            let expected: Vec<f32> = bodies.iter().map(|body| (query.len() + body.len()) as f32).collect();
            assert_eq!(remembered.scores(query, &passages).expect("scores"), expected);
            lengths.0.load(Ordering::Relaxed)
        };
        assert_eq!(ask("query", &["a", "bb", "ccc"]), 3);
        assert_eq!(ask("query", &["bb", "dddd", "a"]), 4);
        assert_eq!(ask("other", &["a"]), 5);
        assert_eq!((ask("other", &[]), remembered.id()), (5, "lengths@1"));
    }
}
