//! Builds hits from ranked candidates.

use crate::explain::explain;
use crate::present::results::{Copies, FileRow, Hit, RawScores, Scores};
use crate::query::QueryError;
use crate::rank::{FoldedGroup, RankedCandidate, RankingContext};

/// Minimum score of another chunk of a hit's file, as a share of the score of the file's best chunk.
const MIN_SHARE: f32 = 0.5;

/// Builds the hits of `groups`, whose members are indexes into `ranked`. If `content` is true, hits contain the full
/// texts of their chunks.
pub(crate) fn hits(
    context: &RankingContext<'_, '_>,
    content: bool,
    ranked: &[RankedCandidate<'_>],
    groups: Vec<FoldedGroup>,
) -> Result<Vec<Hit>, QueryError> {
    let mut hits = Vec::with_capacity(groups.len());
    for (at, group) in groups.into_iter().enumerate() {
        context.work.check()?;
        let candidate = &ranked[group.best];
        let (id, root) = (candidate.retrieved.id, context.root(&candidate.retrieved));
        let Some(chunk) = root.snapshot.chunk_with_text(id)? else { continue };
        let (weighted, explanation) = explain(context, candidate, &root.bm25.matched(id), &chunk);
        let components = candidate.components;
        let scores = Scores {
            bm25: components.bm25.unwrap_or(0.0),
            semantic: components.semantic,
            activation: components.activation.unwrap_or(0.0),
            weighted,
            fused: weighted.sum(),
            final_: candidate.score,
            raw: RawScores {
                bm25: candidate.retrieved.bm25,
                cosine: candidate.retrieved.cosine,
                words: candidate.retrieved.words,
                activation: candidate.raw_activation,
                rerank: candidate.reranked,
            },
        };
        let copies = group.copies.iter().map(|&copy| &ranked[copy].retrieved);
        let copies = Copies::from_chunks(copies.map(|copy| (context.root(copy).name, copy.chunk)));
        let rows = group.rows.iter().map(|&row| &ranked[row]);
        let rows = rows.filter(|row| row.score >= MIN_SHARE * candidate.score);
        let rows = rows.map(|row| FileRow::from_chunk(row.retrieved.chunk, row.score)).collect();
        let options = (content, root.memory.is_some());
        let hit = Hit::from_chunk((at + 1, id), chunk, options, scores, candidate.access.clone(), explanation);
        let (place, name) = (candidate.retrieved.root, root.name.map(str::to_owned));
        hits.push(Hit { root_place: place, root: name, copies, rows, ..hit });
    }
    Ok(hits)
}
