//! Combines the components of a score: a weighted sum of min-max normalised values, or reciprocal rank fusion.

use crate::config::{HybridConfig, KindsConfig, Weights};
use crate::understand::QueryKind;

/// Scales the present values to 0..1, the minimum to 0 and the maximum to 1.
///
/// If all values are equal, positive values become 1 and other values 0.
///
/// ```
/// use aurora_query::min_max;
/// assert_eq!(min_max(&[Some(2.0), None, Some(6.0), Some(4.0)]), [Some(0.0), None, Some(1.0), Some(0.5)]);
/// assert_eq!(min_max(&[Some(3.0)]), [Some(1.0)]);
/// ```
pub fn min_max(values: &[Option<f32>]) -> Vec<Option<f32>> {
    let (low, high) =
        values.iter().flatten().fold((f32::INFINITY, f32::NEG_INFINITY), |(low, high), &v| (low.min(v), high.max(v)));
    let scale = |value: f32| {
        if high > low { (value - low) / (high - low) } else { f32::from(u8::from(value > 0.0)) }
    };
    values.iter().map(|value| value.map(scale)).collect()
}

/// Scores of the components of one candidate, normalised to 0..1; `None` for a missing component.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Components {
    /// Keywords.
    pub(crate) bm25: Option<f32>,
    /// Similarity of meaning: cosine and late interaction.
    pub(crate) semantic: Option<f32>,
    /// Activation.
    pub(crate) activation: Option<f32>,
}

/// Ranks of one candidate, from 1; `None` if the candidate is not in the order.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct RankPair {
    /// By keyword score.
    pub(crate) sparse: Option<usize>,
    /// By cosine.
    pub(crate) dense: Option<usize>,
}

impl Copy for Weights {}

impl Weights {
    /// Returns the weights for a kind of query. If the keyword weight increases, the other weights are scaled down, so
    /// that the sum remains 1.
    pub(crate) fn for_kind(kind: &QueryKind, hybrid: &HybridConfig, kinds: &KindsConfig) -> Self {
        let base = hybrid.weights;
        let toward = |share: f32, keywords: f32| share * (keywords - base.bm25).max(0.0);
        let bm25 = base.bm25
            + toward(kind.identifier, kinds.identifier)
            + toward(kind.path, kinds.path)
            + toward(kind.error, kinds.error);
        let rest = (base.semantic + base.activation).max(f32::MIN_POSITIVE);
        let scale = (1.0 - bm25) / rest;
        Self { bm25, semantic: base.semantic * scale, activation: base.activation * scale }
    }

    /// Returns the weighted sum of normalised components. The weight of a missing component is distributed to the other
    /// components in proportion to their weights. If all weights are zero, the components count equally.
    ///
    /// ```
    /// use aurora_query::Weights;
    /// let weights = Weights { bm25: 0.3, semantic: 0.4, activation: 0.3 };
    /// assert_eq!(weights.combine(Some(1.0), Some(0.5), Some(0.0)), 0.5);
    /// assert_eq!(weights.combine(Some(1.0), None, Some(0.0)), 0.5);
    /// ```
    pub fn combine(self, bm25: Option<f32>, semantic: Option<f32>, activation: Option<f32>) -> f32 {
        let parts = [(self.bm25, bm25), (self.semantic, semantic), (self.activation, activation)];
        let present = || parts.iter().filter_map(|&(weight, value)| Some((weight, value?)));
        let total: f32 = present().map(|(weight, _)| weight).sum();
        if total > 0.0 {
            return present().map(|(weight, value)| weight * value).sum::<f32>() / total;
        }
        let count = present().count();
        if count == 0 { 0.0 } else { present().map(|(_, value)| value).sum::<f32>() / count as f32 }
    }
}

/// Reciprocal rank fusion: each order contributes `weight / (k + rank)`. The sum is scaled so that a candidate that is
/// first in both orders scores 1.
///
/// `sparse` and `dense` are ranks from 1, `None` if a candidate is not in that order.
pub fn reciprocal_rank(config: &HybridConfig, sparse: Option<usize>, dense: Option<usize>) -> f32 {
    let part = |share: f32, rank: Option<usize>| rank.map_or(0.0, |rank| share / (config.rrf_k + rank as f32));
    let weights = &config.rrf_weights;
    let best = (weights.sparse + weights.dense) / (config.rrf_k + 1.0);
    (part(weights.sparse, sparse) + part(weights.dense, dense)) / best
}

/// Returns ranks from 1 by descending value; equal values keep the given order. `None` has no rank.
pub fn ranks(values: &[Option<f32>]) -> Vec<Option<usize>> {
    let mut order: Vec<(usize, f32)> =
        values.iter().enumerate().filter_map(|(at, value)| Some((at, (*value)?))).collect();
    order.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    let mut ranks = vec![None; values.len()];
    for (rank, (at, _)) in order.into_iter().enumerate() {
        ranks[at] = Some(rank + 1);
    }
    ranks
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::config::SearchConfig;

    fn values() -> impl Strategy<Value = Vec<Option<f32>>> {
        prop::collection::vec(prop::option::weighted(0.8, -1000.0f32..1000.0), 0..40)
    }

    proptest! {
        #[test]
        fn min_max_keeps_order_and_bounds(values in values()) {
            let scaled = min_max(&values);
            for (a, x) in values.iter().zip(&scaled) {
                prop_assert_eq!(a.is_some(), x.is_some());
                prop_assert!(x.is_none_or(|x| (0.0..=1.0).contains(&x)));
                for (b, y) in values.iter().zip(&scaled) {
                    if let (Some(a), Some(b), Some(x), Some(y)) = (a, b, x, y) {
                        prop_assert!((a > b) <= (x >= y));
                    }
                }
            }
        }

        #[test]
        fn min_max_ignores_shift_and_scale(values in prop::collection::vec(-100i16..100, 2..30), shift in -50i16..50, factor in 1i16..5) {
            let plain: Vec<_> = values.iter().map(|&v| Some(f32::from(v))).collect();
            let moved: Vec<_> = values.iter().map(|&v| Some(f32::from(v * factor + shift))).collect();
            prop_assume!(values.iter().min() != values.iter().max());
            for (a, b) in min_max(&plain).iter().zip(min_max(&moved)) {
                prop_assert!((a.unwrap_or(9.0) - b.unwrap_or(-9.0)).abs() < 1e-5);
            }
        }

        #[test]
        fn combination_lies_between_its_parts(a in 0.0f32..=1.0, b in prop::option::of(0.0f32..=1.0), c in 0.0f32..=1.0, w in prop::array::uniform3(0.0f32..1.0)) {
            let weights = Weights { bm25: w[0], semantic: w[1], activation: w[2] };
            let sum = weights.combine(Some(a), b, Some(c));
            let low = a.min(c).min(b.unwrap_or(1.0));
            let high = a.max(c).max(b.unwrap_or(0.0));
            prop_assert!(sum >= low - 1e-5 && sum <= high + 1e-5);
        }

        #[test]
        fn reciprocal_rank_falls_with_either_rank(sparse in 1usize..200, dense in 1usize..200) {
            let config = SearchConfig::default().hybrid;
            let score = reciprocal_rank(&config, Some(sparse), Some(dense));
            prop_assert!(score <= 1.0);
            prop_assert!(score > reciprocal_rank(&config, Some(sparse + 1), Some(dense)));
            prop_assert!(score > reciprocal_rank(&config, Some(sparse), Some(dense + 1)));
            prop_assert!(score > reciprocal_rank(&config, None, Some(dense)));
            prop_assert!(score > reciprocal_rank(&config, Some(sparse), None));
        }
    }

    #[test]
    fn reciprocal_rank_by_hand() {
        let config = SearchConfig::default().hybrid;
        let expected = (0.3 / 62.0 + 0.7 / 61.0) / (1.0 / 61.0);
        assert!((reciprocal_rank(&config, Some(2), Some(1)) - expected).abs() < 1e-6);
        assert_eq!(reciprocal_rank(&config, Some(1), Some(1)), 1.0);
    }

    #[test]
    fn equal_values_rank_in_the_order_given() {
        assert_eq!(ranks(&[Some(1.0), Some(3.0), None, Some(1.0)]), [Some(2), Some(1), None, Some(3)]);
    }
}
