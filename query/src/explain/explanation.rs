//! The explanation of a hit, which `--show-scores` and the JSON output show.

use aurora_analysis::Analyzer;
use aurora_storage::{Chunk, MetaValue};
use serde::Serialize;

use crate::explain::points::{self, Boost, Points};
use crate::explain::reasons::{activation_reason, keyword_match, semantic_reason};
use crate::query::Mode;
use crate::rank::activation::ActivationParts;
use crate::rank::{AGE, RankedCandidate, RankingContext};
use crate::retrieve::bm25::MatchedTerms;
use crate::retrieve::{Candidate, DirectMatch};

/// The reasons for the scores of a hit.
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Explanation {
    /// Terms of the query that the chunk contains, in the order of the query.
    pub matched_terms: Vec<String>,
    /// Custom columns of the chunk whose text contains at least one of the matched terms.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub matched_columns: Vec<String>,
    /// A word of the query that the chunk contains exactly.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exact_term: Option<String>,
    /// Whether the name of the chunk equals the query.
    pub exact_identifier: bool,
    /// The reason for the keyword score.
    pub bm25: String,
    /// The reason for the semantic score.
    pub semantic: String,
    /// The reason for the activation.
    pub activation: String,
    /// Parts of the activation.
    pub activation_parts: ActivationParts,
    /// Ranking rules that changed the score.
    pub rules: Vec<Boost>,
}

/// Explains a ranked candidate, and divides its score between the components. `matched` contains the terms of the query
/// that occur in the chunk, and `stored` is the chunk as the index stores it.
pub(crate) fn explain(
    context: &RankingContext<'_, '_>,
    candidate: &RankedCandidate<'_>,
    matched: &MatchedTerms,
    stored: &Chunk,
) -> (Points, Explanation) {
    let chunk = candidate.retrieved.chunk;
    let shares = points::shares(&context.config.hybrid, context.weights(), candidate.components, candidate.ranks);
    let (weighted, mut rules) =
        points::divide(shares, candidate.fused, &candidate.applied, (chunk.path(), chunk.chunk_type()));
    if let Some(aging) = &candidate.aging {
        for rule in rules.iter_mut().filter(|rule| rule.rule == AGE) {
            rule.reason.clone_from(&aging.reason);
        }
    }
    let keywords = keyword_match(context.parsed, &matched.positions, chunk.name());
    let columns = matched_columns(context, &candidate.retrieved, &stored.metadata, &matched.in_columns);
    let semantic = if context.mode == Mode::Sparse {
        "not used in mode sparse"
    } else {
        semantic_reason(candidate.retrieved.cosine, candidate.retrieved.words)
    };
    let explanation = Explanation {
        matched_terms: keywords.matched_terms,
        bm25: if columns.is_empty() {
            keywords.reason
        } else {
            format!("{}, found in {}", keywords.reason, columns.join(", "))
        },
        matched_columns: columns,
        exact_term: keywords.exact_term,
        exact_identifier: candidate.retrieved.direct.as_ref().is_some_and(DirectMatch::is_name),
        semantic: semantic.to_owned(),
        activation: activation_reason(chunk.chunk_type(), &stored.git, candidate.access.as_ref(), context.now),
        activation_parts: candidate.activation,
        rules,
    };
    (weighted, explanation)
}

/// Returns the custom columns of a chunk whose text contains at least one of the query's terms at the positions
/// `positions`.
fn matched_columns(
    context: &RankingContext<'_, '_>,
    candidate: &Candidate<'_>,
    metadata: &[(String, MetaValue)],
    positions: &[usize],
) -> Vec<String> {
    if positions.is_empty() {
        return Vec::new();
    }
    let terms: Vec<&str> = positions.iter().filter_map(|&position| context.parsed.term_at(position)).collect();
    let holds_term = |text: &str| {
        let mut holds = false;
        Analyzer.terms(text, &mut |term| holds |= terms.contains(&term));
        holds
    };
    let columns = &context.root(candidate).snapshot.manifest().columns;
    let has_terms = |name: &str| columns.iter().any(|column| column.name == name && column.terms.is_some());
    let matches = |value: &MetaValue| match value {
        MetaValue::String(text) => holds_term(text),
        MetaValue::Strings(texts) => texts.iter().any(|text| holds_term(text)),
        _ => false,
    };
    let found = metadata.iter().filter(|(name, value)| has_terms(name) && matches(value));
    found.map(|(name, _)| name.clone()).collect()
}
