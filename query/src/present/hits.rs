//! Builds hits from ranked candidates.

use crate::confidence::{Evidence, Measures};
use crate::explain::explain;
use crate::present::results::{Copies, FileRow, Hit, RawScores, Scores};
use crate::query::QueryError;
use crate::rank::{FoldedGroup, RankedCandidate};

/// Minimum score of another chunk of a hit's file, as a share of the score of the file's best chunk.
const MIN_SHARE: f32 = 0.5;

/// Builds the hits of `groups`, whose members are indexes into `ranked`. If `content` is true, hits contain the full
/// texts of their chunks. `evidence` is the evidence of the answer.
pub(crate) fn hits(
    measures: &Measures<'_, '_, '_>,
    evidence: &Evidence,
    content: bool,
    ranked: &[RankedCandidate<'_>],
    groups: Vec<FoldedGroup>,
) -> Result<Vec<Hit>, QueryError> {
    let (context, mut hits) = (measures.context(), Vec::with_capacity(groups.len()));
    for (at, group) in groups.into_iter().enumerate() {
        context.work.check()?;
        let candidate = &ranked[group.best];
        let (id, root) = (candidate.retrieved.id, context.root(&candidate.retrieved));
        let Some(chunk) = root.snapshot.chunk_with_text(id)? else { continue };
        let matched = root.bm25.matched(id);
        let (weighted, explanation) = explain(context, candidate, &matched, &chunk);
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
        let is_close = evidence.is_hit_close(&measures.candidate(candidate, &matched));
        hits.push(Hit { root_place: place, root: name, is_close, copies, rows, ..hit });
    }
    Ok(hits)
}
