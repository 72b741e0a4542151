//! Reranking: a model reads the query together with each of the best candidates.
//!
//! The model reads the indexed texts of these candidates. The texts of other candidates are not loaded. The model's
//! score is not part of the fused score. Instead, it raises the score of a candidate after the rules are applied. This
//! lift has a bounded weight and appears in the explanation.

use std::cmp::Ordering;

use aurora_analysis::{Passage, Reranker};
use aurora_storage::{ChunkRecord, ChunkText, StorageError};

use crate::query::QueryError;
use crate::rank::RankingContext;
use crate::rank::candidate::RankedCandidate;
use crate::rank::fusion::min_max;
use crate::retrieve::{Candidate, PreparedQuery};

/// Name of the lift in explanations.
const RULE: &str = "rerank";
/// Maximum number of passages that the model reads at once. A search can be cancelled between batches.
const MAX_PASSAGES: usize = 16;
/// Resolution of scores. Smaller differences are rounding errors, because the last bits of a score depend on the other
/// pairs in the batch.
const SCORE_STEP: f32 = 1.0 / 4096.0;

/// The model that reads the best candidates of a query.
pub(crate) struct Reranking<'r> {
    /// The model, or the reason why it is unavailable.
    pub(crate) reranker: Result<&'r dyn Reranker, &'r str>,
    /// The query in the form that the model reads.
    pub(crate) text: &'r str,
    /// Maximum number of candidates to read.
    pub(crate) max_results: usize,
    /// Lift of the best candidate, in units of the best fused score.
    pub(crate) weight: f32,
}

impl Reranking<'_> {
    /// Reranks the first candidates in `order`. Each candidate is lifted by its score, min-max normalised within the
    /// reranked candidates. If the model fails, returns the reason and changes no candidate.
    ///
    /// # Errors
    /// Fails if an index cannot be read, or the request is cancelled.
    pub(crate) fn apply<'s>(
        &self,
        context: &RankingContext<'_, 's>,
        ranked: &mut [RankedCandidate<'s>],
        order: impl Fn(&RankedCandidate<'s>, &RankedCandidate<'s>) -> Ordering,
    ) -> Result<Result<(), String>, QueryError> {
        let mut first: Vec<usize> = (0..ranked.len()).collect();
        first.sort_by(|&a, &b| order(&ranked[a], &ranked[b])); // stable: equal candidates stay in the order of their keys
        first.truncate(self.max_results);
        let scores = match self.read(context, first.iter().map(|&at| &ranked[at].retrieved))? {
            Ok(scores) => scores,
            Err(reason) => return Ok(Err(reason)),
        };
        let unit = ranked.iter().map(|candidate| candidate.fused).fold(0.0, f32::max);
        for (at, (score, share)) in first.into_iter().zip(scores) {
            ranked[at].reranked = Some(score);
            ranked[at].change(RULE, unit * self.weight * share);
        }
        Ok(Ok(()))
    }

    /// Returns the model's score of each candidate, and the score min-max normalised within the candidates. If the
    /// model fails, returns the reason.
    ///
    /// # Errors
    /// Fails if an index cannot be read, or the request is cancelled.
    pub(crate) fn read<'c, 's: 'c>(
        &self,
        context: &RankingContext<'_, 's>,
        candidates: impl Iterator<Item = &'c Candidate<'s>>,
    ) -> Result<Result<Vec<(f32, f32)>, String>, QueryError> {
        let reranker = match self.reranker {
            Ok(reranker) => reranker,
            Err(reason) => return Ok(Err(reason.to_owned())),
        };
        let texts =
            candidates.map(|candidate| ReadText::load(context.roots, candidate)).collect::<Result<Vec<_>, _>>()?;
        let passages: Vec<Passage<'_>> = texts.iter().map(ReadText::passage).collect();
        let mut scores = Vec::with_capacity(passages.len());
        for some in passages.chunks(MAX_PASSAGES) {
            context.work.check()?;
            match reranker.scores(self.text, some) {
                Ok(more) if more.len() == some.len() => scores.extend(more),
                Ok(_) => return Ok(Err(Self::incomplete(reranker))),
                Err(error) => return Ok(Err(error.to_string())),
            }
        }
        Ok(Self::shares(reranker, &scores))
    }

    /// Rounds each score, and pairs it with its share of the lift.
    fn shares(reranker: &dyn Reranker, scores: &[f32]) -> Result<Vec<(f32, f32)>, String> {
        let rounded: Vec<Option<f32>> =
            scores.iter().map(|score| Some((score / SCORE_STEP).round() * SCORE_STEP)).collect();
        let pairs: Vec<(f32, f32)> =
            rounded.iter().zip(min_max(&rounded)).filter_map(|(score, share)| Some((*score)?).zip(share)).collect();
        let is_finite = |(score, share): &(f32, f32)| score.is_finite() && share.is_finite();
        if pairs.len() == scores.len() && pairs.iter().all(is_finite) {
            Ok(pairs)
        } else {
            Err(Self::incomplete(reranker))
        }
    }

    fn incomplete(reranker: &dyn Reranker) -> String {
        format!("{} gave no score for some results", reranker.id())
    }
}

/// The text that the model reads for one candidate.
struct ReadText<'s> {
    chunk: ChunkRecord<'s>,
    texts: Option<ChunkText>,
}

impl<'s> ReadText<'s> {
    fn load(roots: &[PreparedQuery<'s>], candidate: &Candidate<'s>) -> Result<Self, StorageError> {
        Ok(Self { chunk: candidate.chunk, texts: roots[candidate.root].snapshot.text(candidate.id)? })
    }

    fn passage(&self) -> Passage<'_> {
        let text = |of: fn(&ChunkText) -> &str| self.texts.as_ref().map_or("", of);
        Passage {
            kind: self.chunk.chunk_type().as_str(),
            path: self.chunk.path(),
            name: self.chunk.name(),
            qualified_name: self.chunk.qualified_name(),
            signature: text(|texts| &texts.signature),
            doc: text(|texts| &texts.doc),
            body: text(|texts| &texts.text),
        }
    }
}
