//! Divides a final score between the components and the rules. All parts have the unit of the score, and their sum is
//! the score.

use std::borrow::Cow;

use aurora_storage::ChunkType;
use serde::Serialize;

use crate::config::{Fusion, HybridConfig, Weights};
use crate::rank::{AppliedRule, Components, RankPair, SCALE, reason, reciprocal_rank};

/// Contributions of the components to a final score.
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Points {
    /// Contribution of the keyword score.
    pub bm25: f32,
    /// Contribution of the semantic score.
    pub semantic: f32,
    /// Contribution of the activation.
    pub activation: f32,
}

/// A rule that changed a score.
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Boost {
    /// Name of the rule: its key below `search.rules`, or `boost.` and the name of a custom column.
    #[cfg_attr(feature = "schema", schema(value_type = String))]
    pub rule: Cow<'static, str>,
    /// Amount that the rule added to the final score; negative if it lowered the score.
    pub effect: f32,
    /// The reason why the rule applies, in words.
    pub reason: String,
}

/// Returns how much each component contributes to a candidate's fused score. Only the proportions are meaningful.
pub(crate) fn shares(config: &HybridConfig, weights: Weights, components: Components, ranks: RankPair) -> [f32; 3] {
    if config.fusion == Fusion::Rrf {
        return [reciprocal_rank(config, ranks.sparse, None), reciprocal_rank(config, None, ranks.dense), 0.0];
    }
    let weights = [weights.bm25, weights.semantic, weights.activation];
    let values = [components.bm25, components.semantic, components.activation];
    let total: f32 = (0..3).filter(|&n| values[n].is_some()).map(|n| weights[n]).sum();
    [0, 1, 2].map(|n| values[n].unwrap_or(0.0) * if total > 0.0 { weights[n] } else { 1.0 })
}

/// Divides a hit's score between components and rules. The result omits the rule that scales all scores. Instead, the
/// points of the components and rules before that rule are scaled.
pub(crate) fn divide(
    shares: [f32; 3],
    fused: f32,
    applied: &[AppliedRule],
    (path, chunk_type): (&str, ChunkType),
) -> (Points, Vec<Boost>) {
    let scaled_at = applied.iter().rposition(|rule| rule.rule == SCALE);
    let factor = scaled_at.map_or(1.0, |at| {
        let before = applied[..at].iter().fold(fused, |sum, rule| sum + rule.effect);
        if before > 0.0 { (before + applied[at].effect) / before } else { 1.0 }
    });
    let total: f32 = shares.iter().sum();
    let unit = if total > 0.0 { fused * factor / total } else { 0.0 };
    let [bm25, semantic, activation] = shares.map(|share| share * unit);
    let boosts = applied.iter().enumerate().filter(|(_, rule)| rule.rule != SCALE).map(|(at, rule)| {
        let is_scaled = scaled_at.is_some_and(|scaled| at < scaled);
        let effect = if is_scaled { rule.effect * factor } else { rule.effect };
        Boost { rule: rule.rule.clone(), effect, reason: reason(&rule.rule, effect, path, chunk_type) }
    });
    (Points { bm25, semantic, activation }, boosts.collect())
}

impl Points {
    /// Returns the sum of all contributions.
    pub fn sum(&self) -> f32 {
        self.bm25 + self.semantic + self.activation
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::config::SearchConfig;

    #[test]
    fn scaling_is_folded_into_the_points() {
        let rule = |rule: &'static str, effect| AppliedRule { rule: rule.into(), effect };
        let applied = [rule("name_words", 0.6), rule("scale", -0.5), rule("exact_identifier", 0.25)];
        let (points, boosts) = divide([3.0, 1.0, 0.0], 0.4, &applied, ("a.py", ChunkType::Function));
        assert_eq!((points.bm25, points.semantic, points.activation), (0.15, 0.05, 0.0));
        let effects: Vec<_> = boosts.iter().map(|boost| (&*boost.rule, boost.effect)).collect();
        assert_eq!(effects, [("name_words", 0.3), ("exact_identifier", 0.25)]);
    }

    proptest! {
        #[test]
        fn points_and_boosts_add_up_to_the_score(
            shares in prop::array::uniform3(0.01_f32..1.0), fused in 0.0_f32..=1.0, effects in prop::collection::vec(0.0_f32..0.5, 0..5), scale in prop::bool::ANY, raise in 0.0_f32..0.3,
        ) {
            let mut applied: Vec<AppliedRule> = effects.iter().map(|&effect| AppliedRule { rule: "tests".into(), effect }).collect();
            let mut score = effects.iter().fold(fused, |sum, effect| sum + effect);
            if scale {
                applied.push(AppliedRule { rule: "scale".into(), effect: -score * 0.4 });
                score *= 0.6;
            }
            applied.push(AppliedRule { rule: "exact_identifier".into(), effect: raise });
            score += raise;
            let (points, boosts) = divide(shares, fused, &applied, ("a.py", ChunkType::Function));
            let sum = points.sum() + boosts.iter().map(|boost| boost.effect).sum::<f32>();
            prop_assert!((sum - score).abs() < 1e-4, "{} {}", sum, score);
        }

        #[test]
        fn shares_match_the_fused_score(
            bm25 in prop::collection::vec(0.0_f32..=1.0, 1..6), semantic in prop::option::of(0.0_f32..=1.0), w in prop::array::uniform3(0.0_f32..1.0),
        ) {
            let weights = Weights { bm25: w[0], semantic: w[1], activation: w[2] };
            let config = SearchConfig::default().hybrid;
            for &bm25 in &bm25 {
                let components = Components { bm25: Some(bm25), semantic, activation: Some(0.5) };
                let shares = shares(&config, weights, components, RankPair::default());
                let fused = weights.combine(Some(bm25), semantic, Some(0.5));
                let (points, _) = divide(shares, fused, &[], ("a.py", ChunkType::Function));
                prop_assert!((points.sum() - fused).abs() < 1e-5);
                if w[0] > 0.0 && w[2] > 0.0 {
                    prop_assert!((points.bm25 * w[2] * 0.5 - points.activation * w[0] * bm25).abs() < 1e-5);
                }
            }
        }
    }
}
