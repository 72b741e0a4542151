//! A candidate during the ranking.

use std::borrow::Cow;

use aurora_storage::AccessRecord;

use crate::memory::Aging;
use crate::rank::activation::ActivationParts;
use crate::rank::boosts::ColumnBoost;
use crate::rank::features::Features;
use crate::rank::fusion::{Components, RankPair};
use crate::retrieve::Candidate;

/// A candidate with the results of every ranking step. The rules read only features, so they work with any `C`.
pub(crate) struct RankedCandidate<'s, C = Candidate<'s>> {
    /// The candidate from the retrieval.
    pub(crate) retrieved: C,
    /// The chunk's record in the access log.
    pub(crate) access: Option<AccessRecord>,
    /// The input of the rules.
    pub(crate) features: Features<'s>,
    /// Contributions of custom columns.
    pub(crate) boosts: Vec<ColumnBoost>,
    /// Scores of the components, each normalised within the candidates.
    pub(crate) components: Components,
    /// Ranks by keywords and by cosine; set only for reciprocal rank fusion.
    pub(crate) ranks: RankPair,
    /// Parts of the activation.
    pub(crate) activation: ActivationParts,
    /// The activation before normalisation.
    pub(crate) raw_activation: f32,
    /// The fused score, before the rules.
    pub(crate) fused: f32,
    /// The current score; the final score after the last step.
    pub(crate) score: f32,
    /// The reranker's score; `None` if the reranker did not read the candidate.
    pub(crate) reranked: Option<f32>,
    /// The rules that changed the score, in the order in which they were applied.
    pub(crate) applied: Vec<AppliedRule>,
    /// The effects of the chunk's age, if the chunk belongs to the index of a memory.
    pub(crate) aging: Option<Aging>,
}

/// A rule that changed a score, and the amount.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct AppliedRule {
    /// Name of the rule: its key below `search.rules`, or `boost.` and the name of a custom column.
    pub(crate) rule: Cow<'static, str>,
    /// Amount that the rule added to the score; negative if it lowered the score.
    pub(crate) effect: f32,
}

impl<'s, C> RankedCandidate<'s, C> {
    /// Creates a candidate with features and no scores.
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
