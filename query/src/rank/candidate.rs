//! A candidate on its way through the ranking.

use std::borrow::Cow;

use aurora_storage::AccessRecord;
use serde::Serialize;

use crate::memory::Aging;
use crate::rank::activation::ActivationParts;
use crate::rank::boosts::ColumnBoost;
use crate::rank::features::Features;
use crate::rank::fusion::{Components, RankPair};
use crate::retrieve::Candidate;

/// A candidate with everything that the ranking has found out about it. The rules read features only, so they work with any
/// `C`.
pub(crate) struct RankedCandidate<'s, C = Candidate<'s>> {
    /// The candidate as it was retrieved.
    pub(crate) retrieved: C,
    /// What was noted of the chunk in earlier searches.
    pub(crate) access: Option<AccessRecord>,
    /// What the rules look at.
    pub(crate) features: Features<'s>,
    /// What custom columns add.
    pub(crate) boosts: Vec<ColumnBoost>,
    /// Scores of the components, each normalised within the candidates.
    pub(crate) components: Components,
    /// Ranks by keywords and by cosine; set where reciprocal rank fusion is in use.
    pub(crate) ranks: RankPair,
    /// Parts of the activation.
    pub(crate) activation: ActivationParts,
    /// The activation before it was normalised.
    pub(crate) raw_activation: f32,
    /// The fused score, before the rules.
    pub(crate) fused: f32,
    /// The score so far; at the end the final one.
    pub(crate) score: f32,
    /// The reranker's score; `None` where it has not read the candidate.
    pub(crate) reranked: Option<f32>,
    /// The rules that changed the score, in the order in which they were applied.
    pub(crate) applied: Vec<AppliedRule>,
    /// How it has aged, in an index of memories.
    pub(crate) aging: Option<Aging>,
}

/// A rule that changed a score, and by how much.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct AppliedRule {
    /// Its name, as in the configuration below `search.rules`, or `boost.` and the name of a custom column.
    pub rule: Cow<'static, str>,
    /// What it added to the score; negative where it took some away.
    pub effect: f32,
}

impl<'s, C> RankedCandidate<'s, C> {
    /// A candidate that nothing is known about but its features.
    pub(crate) fn new(retrieved: C, access: Option<AccessRecord>, features: Features<'s>) -> Self {
        Self {
            retrieved,
            access,
            features,
            boosts: Vec::new(),
            components: Components::default(),
            ranks: RankPair::default(),
            activation: ActivationParts::default(),
            raw_activation: 0.0,
            fused: 0.0,
            score: 0.0,
            reranked: None,
            applied: Vec::new(),
            aging: None,
        }
    }

    /// Adds `effect` to the score and records the rule, unless there is no effect.
    pub(crate) fn change(&mut self, rule: impl Into<Cow<'static, str>>, effect: f32) {
        if effect != 0.0 {
            self.score += effect;
            self.applied.push(AppliedRule { rule: rule.into(), effect });
        }
    }
}
