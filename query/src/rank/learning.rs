//! Learning from judgements: what users and agents said of a chunk moves its activation.

use aurora_storage::{Judgements, Verdict};

use crate::config::LearningConfig;

impl LearningConfig {
    /// What one verdict is worth.
    pub fn worth(&self, verdict: Verdict) -> f32 {
        match verdict {
            Verdict::Good => self.good,
            Verdict::Helpful => self.helpful,
            Verdict::Unhelpful => self.unhelpful,
            Verdict::Bad => self.bad,
        }
    }

    /// What all verdicts on a chunk are worth together, within `−most..=most`.
    ///
    /// ```
    /// use aurora_query::SearchConfig;
    /// use aurora_storage::Judgements;
    /// let learning = SearchConfig::default().activation.learning;
    /// assert_eq!(learning.learned(&Judgements::default()), 0.0);
    /// ```
    pub fn learned(&self, judgements: &Judgements) -> f32 {
        let sum: f32 = Verdict::ALL.iter().map(|&verdict| self.worth(verdict) * judgements.count(verdict) as f32).sum();
        sum.clamp(-self.most, self.most)
    }
}

/// Adds what was learned to activations that are normalised to 0..1, and brings them back within 0..1 where they leave
/// it. Without anything learned the activations stay as they are, bit by bit.
pub(crate) fn apply(activations: &mut [f32], learned: &[f32]) {
    if learned.iter().all(|&learned| learned == 0.0) {
        return;
    }
    activations.iter_mut().zip(learned).for_each(|(activation, learned)| *activation += learned);
    let (low, high) = activations.iter().fold((0.0f32, 1.0f32), |(low, high), &v| (low.min(v), high.max(v)));
    activations.iter_mut().for_each(|activation| *activation = (*activation - low) / (high - low));
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn nothing_learned_changes_nothing() {
        let before = [0.0, 0.1, 1.0];
        let mut after = before;
        apply(&mut after, &[0.0; 3]);
        assert_eq!(before, after);
        // Above 1 all are scaled, and none changes its side.
        apply(&mut after, &[0.0, 0.0, 0.25]);
        assert_eq!(after, [0.0, 0.08, 1.0]);
    }

    proptest! {
        #[test]
        fn praise_never_lowers_a_rank(
            activations in prop::collection::vec(0.0f32..=1.0, 2..20), at in 0usize..20, learned in -1.0f32..=1.0,
        ) {
            let at = at % activations.len();
            let mut after = activations.clone();
            let mut by = vec![0.0; activations.len()];
            by[at] = learned;
            apply(&mut after, &by);
            for other in 0..after.len() {
                prop_assert!((0.0..=1.0).contains(&after[other]));
                if learned >= 0.0 && activations[at] >= activations[other] {
                    prop_assert!(after[at] >= after[other]);
                }
                if learned <= 0.0 && activations[at] <= activations[other] {
                    prop_assert!(after[at] <= after[other]);
                }
            }
        }
    }
}
