//! A model's second look at the best candidates: it reads the query together with each of them.
//!
//! What the model sees is what the index holds of a candidate, and only of those that it reads. Its score is no part of the fused
//! score: it adds a lift to what the rules have made of that, which the explanation shows and a weight bounds.

use std::cmp::Ordering;

use aurora_analysis::{Passage, Reranker};
use aurora_storage::{ChunkRecord, ChunkText, StorageError};

use crate::query::QueryError;
use crate::rank::RankingContext;
use crate::rank::candidate::RankedCandidate;
use crate::rank::fusion::min_max;
use crate::retrieve::{Candidate, SearchedRoot};

/// The lift in an explanation.
const RULE: &str = "rerank";
/// Maximum number of passages that the model reads at a time; in between, a cancelled search ends.
const MAX_PASSAGES: usize = 16;
/// A smaller difference between scores is one of rounding: what is in a batch with a pair may change the last bits.
const LEAST_DIFFERENCE: f32 = 1.0 / 4096.0;

/// The model that reads the best candidates of a query.
pub(crate) struct Reranking<'r> {
    /// The model, or why it cannot be used.
    pub(crate) reranker: Result<&'r dyn Reranker, &'r str>,
    /// The query as the model reads it.
    pub(crate) text: &'r str,
    /// Most candidates that are read.
    pub(crate) most: usize,
    /// What the best of them gains, in units of the best fused score.
    pub(crate) weight: f32,
}

impl Reranking<'_> {
    /// Has the model read the first of `ranked`, in the order that `order` gives, and lifts each by its score, min-max
    /// normalised within those that were read. Says why in place of that where the model fails; no candidate is then changed.
    ///
    /// # Errors
    /// When the index cannot be read.
    pub(crate) fn apply<'s>(
        &self,
        context: &RankingContext<'_, 's>,
        ranked: &mut [RankedCandidate<'s>],
        order: impl Fn(&RankedCandidate<'s>, &RankedCandidate<'s>) -> Ordering,
    ) -> Result<Result<(), String>, QueryError> {
        let mut first: Vec<usize> = (0..ranked.len()).collect();
        first.sort_by(|&a, &b| order(&ranked[a], &ranked[b])); // stable: what is equal stays in the order of the keys
        first.truncate(self.most);
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

    /// The score that the model gives each candidate, and the score min-max normalised within them; why there is none where the
    /// model fails.
    ///
    /// # Errors
    /// When the index cannot be read.
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
            candidates.map(|candidate| ReadText::of(context.roots, candidate)).collect::<Result<Vec<_>, _>>()?;
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

    /// Each score, rounded, with its share of the lift.
    fn shares(reranker: &dyn Reranker, scores: &[f32]) -> Result<Vec<(f32, f32)>, String> {
        let rounded: Vec<Option<f32>> =
            scores.iter().map(|score| Some((score / LEAST_DIFFERENCE).round() * LEAST_DIFFERENCE)).collect();
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

/// What a model reads of a candidate.
struct ReadText<'s> {
    chunk: ChunkRecord<'s>,
    texts: Option<ChunkText>,
}

impl<'s> ReadText<'s> {
    fn of(roots: &[SearchedRoot<'s>], candidate: &Candidate<'s>) -> Result<Self, StorageError> {
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
