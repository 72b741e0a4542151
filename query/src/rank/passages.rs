//! Ranking of passages that are no code: reciprocal rank fusion of the order by keywords and the order by meaning.

use std::cmp::Ordering;

use aurora_storage::{ChunkId, StorageError};

use crate::query::Mode;
use crate::rank::features::RuleQuery;
use crate::rank::fusion::{RankPair, ranks};
use crate::rank::{RankedCandidate, RankingContext, column, normalise_relevance, with_features};
use crate::retrieve::Candidate;

/// A passage that answers a query.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Passage {
    /// The chunk.
    pub id: ChunkId,
    /// In mode hybrid `Σ weight / (k + rank)` over both orders, with the weights and `k` of `search.hybrid`; in mode sparse BM25F;
    /// in mode dense the likeness of query and passage, 0..1 within the candidates.
    pub score: f32,
    /// Place in the order by keywords, from 1.
    pub sparse_rank: Option<usize>,
    /// Place in the order by meaning, from 1.
    pub dense_rank: Option<usize>,
}

/// The best `limit` of the candidates, which are given in the order of their keys; equal scores stay in that order.
///
/// # Errors
/// When the index cannot be read.
pub(crate) fn rank_passages(
    context: &RankingContext<'_, '_>,
    candidates: Vec<Candidate<'_>>,
    limit: usize,
) -> Result<Vec<Passage>, StorageError> {
    let nothing_noted = vec![None; candidates.len()];
    let rule_query = RuleQuery::new(context.parsed, context.term_idfs());
    let mut ranked = with_features(context, &rule_query, candidates, nothing_noted);
    normalise_relevance(context, &mut ranked);
    score(context, &mut ranked);
    ranked.retain(|candidate| candidate.ranks.sparse.is_some() || candidate.ranks.dense.is_some());
    if let Some(reranking) = &context.reranking {
        // Where the model cannot be used, the order stays as it is.
        let _ = reranking.apply(context.roots, &mut ranked, by_score)?;
    }
    ranked.sort_by(by_score); // stable
    ranked.truncate(limit);
    let passage = |candidate: &RankedCandidate<'_>| Passage {
        id: candidate.retrieved.id,
        score: candidate.score.max(0.0),
        sparse_rank: candidate.ranks.sparse,
        dense_rank: candidate.ranks.dense,
    };
    Ok(ranked.iter().map(passage).collect())
}

/// Sets ranks and scores as the mode asks.
fn score(context: &RankingContext<'_, '_>, ranked: &mut [RankedCandidate<'_>]) {
    let is_sparse = context.mode != Mode::Dense;
    let keywords = column(ranked, |candidate| Some(candidate.bm25).filter(|&score| is_sparse && score > 0.0));
    let meaning: Vec<Option<f32>> = ranked.iter().map(|candidate| candidate.components.semantic).collect();
    let (sparse, dense) = (ranks(&keywords), ranks(&meaning));
    let hybrid = &context.config.hybrid;
    let part = |weight: f32, rank: Option<usize>| rank.map_or(0.0, |rank| weight / (hybrid.rrf_k + rank as f32));
    for (at, candidate) in ranked.iter_mut().enumerate() {
        candidate.ranks = RankPair { sparse: sparse[at], dense: dense[at] };
        candidate.fused = match context.mode {
            Mode::Hybrid => part(hybrid.rrf_dense, dense[at]) + part(hybrid.rrf_sparse, sparse[at]),
            Mode::Sparse => keywords[at].unwrap_or(0.0),
            Mode::Dense => meaning[at].unwrap_or(0.0),
        };
        candidate.score = candidate.fused;
    }
}

fn by_score(a: &RankedCandidate<'_>, b: &RankedCandidate<'_>) -> Ordering {
    b.score.total_cmp(&a.score)
}
