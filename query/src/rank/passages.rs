//! Ranks passages of prose: reciprocal rank fusion of the orders by keywords and by meaning.

use std::cmp::Ordering;

use aurora_storage::ChunkId;

use crate::query::{Mode, QueryError};
use crate::rank::fusion::ranks;
use crate::rank::{RankingContext, semantic};
use crate::retrieve::Candidate;

/// A passage that answers a query.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Passage {
    /// The chunk.
    pub id: ChunkId,
    /// In mode hybrid, `Σ weight / (k + rank)` over both orders, with the weights and `k` of `search.hybrid`. In mode
    /// sparse, BM25F. In mode dense, the similarity of query and passage, 0..1 within the candidates.
    pub score: f32,
    /// Rank by keywords, from 1.
    pub sparse_rank: Option<usize>,
    /// Rank by meaning, from 1.
    pub dense_rank: Option<usize>,
}

/// Returns the best `limit` of the candidates, which must be in the order of their keys. Passages with equal scores
/// stay in this order.
///
/// # Errors
/// Fails if the index cannot be read, or the request is cancelled.
pub(crate) fn rank_passages(
    context: &RankingContext<'_, '_>,
    candidates: Vec<Candidate<'_>>,
    limit: usize,
) -> Result<Vec<Passage>, QueryError> {
    let mut ranked = in_both_orders(context, candidates);
    ranked.retain(|(passage, _)| passage.sparse_rank.is_some() || passage.dense_rank.is_some());
    ranked.sort_by(best_first); // stable
    if let Some(reranking) = &context.reranking {
        let most = reranking.max_results.min(ranked.len());
        // If the model cannot be used, the order does not change.
        if let Ok(scores) = reranking.read(context, ranked[..most].iter().map(|(_, candidate)| candidate))? {
            let unit = ranked.first().map_or(0.0, |(best, _)| best.score);
            for ((passage, _), (_, share)) in ranked.iter_mut().zip(scores) {
                passage.score += unit * reranking.weight * share;
            }
            ranked.sort_by(best_first);
        }
    }
    ranked.truncate(limit);
    Ok(ranked.into_iter().map(|(passage, _)| Passage { score: passage.score.max(0.0), ..passage }).collect())
}

/// Ranks and scores the candidates according to the mode.
fn in_both_orders<'s>(
    context: &RankingContext<'_, 's>,
    candidates: Vec<Candidate<'s>>,
) -> Vec<(Passage, Candidate<'s>)> {
    let (hybrid, is_sparse) = (&context.config.hybrid, context.mode != Mode::Dense);
    let keyword = |candidate: &Candidate<'_>| Some(candidate.bm25).filter(|&score| is_sparse && score > 0.0);
    let keywords: Vec<Option<f32>> = candidates.iter().map(keyword).collect();
    let meaning = semantic(hybrid.word_share, candidates.iter());
    let (sparse, dense) = (ranks(&keywords), ranks(&meaning));
    let part = |weight: f32, rank: Option<usize>| rank.map_or(0.0, |rank| weight / (hybrid.rrf_k + rank as f32));
    let ranked = candidates.into_iter().enumerate().map(|(at, candidate)| {
        let (sparse_rank, dense_rank) = (sparse[at], dense[at]);
        let score = match context.mode {
            Mode::Hybrid => part(hybrid.rrf_weights.dense, dense_rank) + part(hybrid.rrf_weights.sparse, sparse_rank),
            Mode::Sparse => keywords[at].unwrap_or(0.0),
            Mode::Dense => meaning[at].unwrap_or(0.0),
        };
        (Passage { id: candidate.id, score, sparse_rank, dense_rank }, candidate)
    });
    ranked.collect()
}

fn best_first((a, _): &(Passage, Candidate<'_>), (b, _): &(Passage, Candidate<'_>)) -> Ordering {
    b.score.total_cmp(&a.score)
}
