//! Learning from judgements: verdicts of users and agents on a chunk change its activation.

use aurora_storage::{Judgements, Verdict};

use crate::config::LearningConfig;

impl LearningConfig {
    /// Returns the value of all verdicts on a chunk together, within `−most..=most`.
    ///
    /// ```
    /// use aurora_query::SearchConfig;
    /// use aurora_storage::Judgements;
    /// let learning = SearchConfig::default().activation.learning;
    /// assert_eq!(learning.learned(&Judgements::default()), 0.0);
    /// ```
    pub fn learned(&self, judgements: &Judgements) -> f32 {
        let value = |verdict| match verdict {
            Verdict::Good => self.good,
            Verdict::Helpful => self.helpful,
            Verdict::Unhelpful => self.unhelpful,
            Verdict::Bad => self.bad,
        };
        let sum: f32 = Verdict::ALL.iter().map(|&verdict| value(verdict) * judgements.count(verdict) as f32).sum();
        sum.clamp(-self.most, self.most)
    }
}

/// Adds the value of verdicts to activations that are normalised to 0..1, and rescales the activations to 0..1 if a sum
/// is outside of this range. If all values are 0, the activations stay bit-equal.
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
    fn only_verdicts_change_activations() {
        let before = [0.0, 0.1, 1.0];
        let mut after = before;
        apply(&mut after, &[0.0; 3]);
        assert_eq!(before, after);
        // Values above 1 rescale all activations and keep their order.
        apply(&mut after, &[0.0, 0.0, 0.25]);
        assert_eq!(after, [0.0, 0.08, 1.0]);
    }

    proptest! {
        #[test]
        fn verdicts_change_ranks_in_their_direction(
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
