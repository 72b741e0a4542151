//! The explanation of one hit: data for the box of `--show-scores` and for JSON.

use aurora_storage::ChunkHistory;
use serde::Serialize;

use crate::explain::points::{self, Boost, Points};
use crate::explain::reasons::{activation_reason, keyword_match, semantic_reason};
use crate::query::Mode;
use crate::rank::activation::ActivationParts;
use crate::rank::{RankedCandidate, RankingContext};

/// The reasons behind one hit's scores.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Explanation {
    /// Terms of the query that the chunk holds, in the query's order.
    pub matched_terms: Vec<String>,
    /// The word that the chunk holds just as it was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exact_term: Option<String>,
    /// Whether the chunk's name is the query, which puts it before all others.
    pub exact_identifier: bool,
    /// The keyword score in words.
    pub bm25: String,
    /// The semantic score in words.
    pub semantic: String,
    /// The activation in words.
    pub activation: String,
    /// Parts of the activation.
    pub activation_parts: ActivationParts,
    /// Ranking rules that changed the score.
    pub rules: Vec<Boost>,
}

/// Explains a ranked candidate, and divides its score between the components. `matched` are the places in the query of the
/// terms that the chunk holds.
pub(crate) fn explain(
    context: &RankingContext<'_, '_>,
    candidate: &RankedCandidate<'_>,
    matched: &[usize],
    git: &ChunkHistory,
) -> (Points, Explanation) {
    let chunk = candidate.retrieved.chunk;
    let shares = points::shares(&context.config.hybrid, context.weights(), candidate.components, candidate.ranks);
    let (weighted, rules) = points::settle(shares, candidate.fused, &candidate.applied, chunk.path());
    let keywords = keyword_match(context.parsed, matched, chunk.name());
    let semantic = if context.mode == Mode::Sparse {
        "not used in mode sparse"
    } else {
        semantic_reason(candidate.components.semantic)
    };
    let explanation = Explanation {
        matched_terms: keywords.matched_terms,
        exact_term: keywords.exact_term,
        exact_identifier: candidate.retrieved.exact.is_some(),
        bm25: keywords.reason,
        semantic: semantic.to_owned(),
        activation: activation_reason(git, candidate.access.as_ref(), context.now),
        activation_parts: candidate.activation,
        rules,
    };
    (weighted, explanation)
}
