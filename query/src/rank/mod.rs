//! Step 3: scores and orders the candidates.
//!
//! Ranks candidates, which are given in the order of their keys. Each result has its components, activation, fused
//! score and applied rules. Every step works on one list of [`RankedCandidate`]s:
//!
//! 1. normalise the keyword and semantic scores within the candidates ([`fusion`]);
//! 2. compute the activation, which spreads from the best candidates so far ([`activation`], [`spreading`]);
//! 3. fuse the components into one score ([`fusion`]);
//! 4. apply the ranking rules ([`rules`] over [`features`]);
//! 5. rerank the best candidates with a model, if one is configured ([`reranking`]);
//! 6. sort, direct matches first.
//!
//! [`folding`] then combines copies and pieces of one definition into one entry of the list.

pub mod activation;
mod boosts;
mod candidate;
mod conversation;
mod features;
mod folding;
pub mod forgetting;
mod fusion;
mod label_graph;
mod learning;
mod likeness;
mod overlap;
mod passages;
mod reranking;
mod rules;
mod spreading;
mod uses;

use std::cmp::Ordering;

use aurora_storage::{AccessRecord, ChunkType, StorageError};

use crate::config::{Fusion, SearchConfig, Weights};
use crate::phases::{Phases, Stopwatch};
use crate::query::{Group, Mode, QueryError};
use crate::rank::activation::ActivationParts;
use crate::rank::features::{Facts, FileShares, RuleQuery};
use crate::rank::folding::Foldable;
use crate::rank::label_graph::LabelGraph;
use crate::rank::likeness::Likeness;
use crate::rank::spreading::{Node, spread};
use crate::retrieve::{Candidate, ChunkName, DirectMatch, FileEvidence, PreparedQuery};
use crate::understand::{ParsedQuery, QueryKind};
use crate::work::WorkBudget;

pub(crate) use boosts::Boosts;
pub(crate) use candidate::{AppliedRule, RankedCandidate};
pub(crate) use folding::FoldedGroup;
pub use folding::first_piece;
pub(crate) use fusion::{Components, RankPair};
pub use fusion::{min_max, ranks, reciprocal_rank};
pub(crate) use label_graph::LabelCache;
pub use passages::Passage;
pub(crate) use passages::rank_passages;
pub(crate) use reranking::Reranking;
pub(crate) use rules::{AGE, SCALE, reason};

/// The input of the ranking of one query, except for the candidates.
pub(crate) struct RankingContext<'r, 's> {
    /// The searched indexes.
    pub(crate) roots: &'r [PreparedQuery<'s>],
    /// Boosted columns of each index.
    pub(crate) boosts: &'r [&'r Boosts],
    /// Label cache of each index.
    pub(crate) label_caches: &'r [&'r LabelCache],
    /// Weights and parameters.
    pub(crate) config: &'r SearchConfig,
    /// The scores to use.
    pub(crate) mode: Mode,
    /// The current time, in Unix seconds. Recency is relative to this time.
    pub(crate) now: i64,
    /// The query.
    pub(crate) parsed: &'r ParsedQuery,
    /// Share of each kind in the query.
    pub(crate) kind: QueryKind,
    /// The reranking of the best candidates, if it is enabled.
    pub(crate) reranking: Option<Reranking<'r>>,
    /// Cancellation of the search and limits on its work.
    pub(crate) work: &'r WorkBudget,
}

impl<'s> RankingContext<'_, 's> {
    /// Returns the searched index that contains a candidate.
    pub(crate) fn root(&self, candidate: &Candidate<'_>) -> &PreparedQuery<'s> {
        &self.roots[candidate.root]
    }

    /// Returns the inverse document frequencies of the query's terms; `None` for a term that no chunk contains.
    pub(crate) fn term_idfs(&self) -> &[Option<f32>] {
        self.roots.first().map_or(&[], |root| root.bm25.term_idfs())
    }

    /// Returns the weights of the components for this query. In mode `sparse`, the keyword score also gets the semantic
    /// weight.
    pub(crate) fn weights(&self) -> Weights {
        let weights = Weights::for_kind(&self.kind, &self.config.hybrid, &self.config.kinds);
        if self.mode == Mode::Sparse {
            Weights { bm25: weights.bm25 + weights.semantic, semantic: 0.0, ..weights }
        } else {
            weights
        }
    }
}

/// Ranks candidates, which must be in the order of their keys, and returns them best first. `accesses` contains the
/// access record of each candidate. If the reranker cannot be used, adds a note with the reason. Sets the duration of
/// the reranking in `phases`.
///
/// # Errors
/// Fails if an index cannot be read, or the request is cancelled.
pub(crate) fn rank<'s>(
    context: &RankingContext<'_, 's>,
    candidates: Vec<Candidate<'s>>,
    accesses: Vec<Option<AccessRecord>>,
    notes: &mut Vec<String>,
    phases: &mut Phases,
) -> Result<Vec<RankedCandidate<'s>>, QueryError> {
    let rule_query = RuleQuery::new(context.parsed, context.term_idfs());
    let mut ranked = with_features(context, &rule_query, candidates, accesses)?;
    normalise_relevance(context, &mut ranked);
    if context.config.hybrid.fusion == Fusion::Rrf {
        assign_ranks(&mut ranked);
    }
    activate(context, &mut ranked)?;
    fuse(context, &mut ranked);
    context.work.check()?;
    rules::apply(&context.config.rules, &rule_query, &mut ranked);
    if context.mode != Mode::Dense {
        conversation::reorder(context.config.rules.conversation, context.parsed, context.roots, &mut ranked)?;
    }
    if let (Some(reranking), Some(name)) = (&context.reranking, &context.config.rerank) {
        let mut watch = Stopwatch::start();
        if let Err(reason) = reranking.apply(context, &mut ranked, in_order)? {
            notes.push(format!("Ranked without the reranker `{name}`: {reason}"));
        }
        phases.rerank = watch.lap();
    }
    lower_by_age(&mut ranked);
    rules::scale_to_one(&mut ranked);
    sort(&mut ranked);
    Ok(ranked)
}

/// Lowers the scores of entries of memory by age.
fn lower_by_age(ranked: &mut [RankedCandidate<'_>]) {
    for candidate in ranked {
        if let Some(aging) = &candidate.aging {
            let loss = candidate.score * (1.0 - aging.weight);
            candidate.change(AGE, -loss);
        }
    }
}

fn with_features<'s>(
    context: &RankingContext<'_, 's>,
    query: &RuleQuery<'_>,
    candidates: Vec<Candidate<'s>>,
    accesses: Vec<Option<AccessRecord>>,
) -> Result<Vec<RankedCandidate<'s>>, QueryError> {
    let doc_words = min_max(&candidates.iter().map(|candidate| candidate.doc_words).collect::<Vec<_>>());
    let files = file_shares(&candidates);
    let read =
        candidates.iter().zip(doc_words).zip(files).map(|((Candidate { root, chunk, .. }, doc_words), file)| Facts {
            root: *root,
            named: ChunkName::from_chunk(*chunk),
            lines: chunk.line_end() - chunk.line_start() + 1,
            defines_inside: query.mentions(chunk.definitions()),
            doc_words: doc_words.unwrap_or(0.0),
            file,
        });
    let features = query.read(read.take_while(|_| !context.work.is_cancelled()));
    context.work.check()?;
    let parts = candidates.into_iter().zip(accesses).zip(features);
    let ranked = parts.map(|((candidate, access), features)| {
        let boosts = context.boosts[candidate.root].for_chunk(context.root(&candidate).snapshot, candidate.id)?;
        let memory = context.roots[candidate.root].memory;
        let aging = memory.map(|memory| memory.aging(candidate.chunk, access.as_ref(), context.now));
        Ok(RankedCandidate { boosts, aging, ..RankedCandidate::new(candidate, access, features) })
    });
    let is_archived = |candidate: &RankedCandidate<'_>| candidate.aging.as_ref().is_some_and(|aging| aging.is_expired);
    ranked
        .filter(|ranked| !ranked.as_ref().is_ok_and(is_archived))
        .collect::<Result<_, StorageError>>()
        .map_err(QueryError::from)
}

/// Returns the evidence of each candidate's file, normalised within the files of the candidates.
fn file_shares(candidates: &[Candidate<'_>]) -> Vec<FileShares> {
    let normalised = |value: fn(&FileEvidence) -> Option<f32>| {
        min_max(&candidates.iter().map(|candidate| value(&candidate.file)).collect::<Vec<_>>())
    };
    let (keywords, meaning) = (normalised(|file| file.bm25), normalised(|file| file.cosine));
    let doc_words = normalised(|file| file.doc_words);
    let shares = candidates.iter().enumerate().map(|(at, candidate)| FileShares {
        keywords: keywords[at].unwrap_or(0.0),
        coverage: candidate.file.bm25_share.unwrap_or(0.0),
        meaning: meaning[at].unwrap_or(0.0),
        doc_words: doc_words[at].unwrap_or(0.0),
    });
    shares.collect()
}

/// Sets the keyword and the semantic component: raw scores, min-max normalised within the candidates.
fn normalise_relevance(context: &RankingContext<'_, '_>, ranked: &mut [RankedCandidate<'_>]) {
    let is_used = context.mode != Mode::Dense;
    let bm25 = min_max(&column(ranked, |candidate| is_used.then_some(candidate.bm25)));
    let semantic = semantic(context.config.hybrid.word_share, ranked.iter().map(|candidate| &candidate.retrieved));
    for (candidate, (bm25, semantic)) in ranked.iter_mut().zip(bm25.into_iter().zip(semantic)) {
        (candidate.components.bm25, candidate.components.semantic) = (bm25, semantic);
    }
}

/// Combines cosine and late interaction, each min-max normalised within the candidates, into one component. If one of
/// the two is missing, only the other counts.
fn semantic<'c, 's: 'c>(word_share: f32, candidates: impl Iterator<Item = &'c Candidate<'s>>) -> Vec<Option<f32>> {
    let (cosines, words): (Vec<_>, Vec<_>) = candidates.map(|candidate| (candidate.cosine, candidate.words)).unzip();
    let (cosines, words) = (min_max(&cosines), min_max(&words));
    let both = |(cosine, words): (Option<f32>, Option<f32>)| match (cosine, words) {
        (Some(cosine), Some(words)) => Some((1.0 - word_share) * cosine + word_share * words),
        (cosine, words) => cosine.or(words),
    };
    cosines.into_iter().zip(words).map(both).collect()
}

/// Sets the ranks by keywords and by cosine.
fn assign_ranks(ranked: &mut [RankedCandidate<'_>]) {
    let sparse = ranks(&column(ranked, |candidate| Some(candidate.bm25).filter(|&score| score > 0.0)));
    let dense = ranks(&column(ranked, |candidate| candidate.cosine));
    for (candidate, (sparse, dense)) in ranked.iter_mut().zip(sparse.into_iter().zip(dense)) {
        candidate.ranks = RankPair { sparse, dense };
    }
}

/// Sets the activation of every candidate: the activation from the chunk's history, and the activation that spreads
/// from the best candidates by keywords and meaning.
fn activate(context: &RankingContext<'_, '_>, ranked: &mut [RankedCandidate<'_>]) -> Result<(), StorageError> {
    let config = &context.config.activation;
    for candidate in ranked.iter_mut() {
        candidate.activation = ActivationParts {
            context: activation::context_boost(config, candidate.features.context_share()),
            ..activation::for_chunk(
                config,
                candidate.retrieved.chunk,
                candidate.access.as_ref(),
                candidate.aging.as_ref().map(|aging| aging.forgetting),
                context.now,
            )
        };
    }
    if context.config.hybrid.weights.activation > 0.0 && context.config.hybrid.fusion == Fusion::Weighted {
        fuse(context, ranked);
        let mut best: Vec<&RankedCandidate<'_>> = ranked.iter().collect();
        best.sort_by(|a, b| b.fused.total_cmp(&a.fused)); // stable: equal scores stay in the order of their keys
        best.truncate(config.sources);
        let graph = LabelGraph { roots: context.roots, caches: context.label_caches };
        let of_root = |at: usize| {
            let sources = best.iter().filter(|candidate| candidate.retrieved.root == at);
            let sources: Vec<Node> = sources.map(|candidate| (at, candidate.retrieved.id)).collect();
            spread(config, &sources, &graph)
        };
        let arrived = (0..context.roots.len()).map(of_root).collect::<Result<Vec<_>, _>>()?;
        for candidate in ranked.iter_mut() {
            let Candidate { root, id, .. } = &candidate.retrieved;
            let from_each = arrived.iter().filter_map(|arrived| arrived.get(&(*root, *id)));
            // The sum of an empty iterator would be negative zero.
            candidate.activation.spreading = from_each.fold(0.0, |sum, energy| sum + energy);
        }
    }
    let parts: Vec<ActivationParts> = ranked.iter().map(|candidate| candidate.activation).collect();
    let (normalised, neutral) = activation::normalised(&parts);
    for (candidate, normalised) in ranked.iter_mut().zip(normalised) {
        candidate.components.activation = normalised;
        candidate.raw_activation = candidate.activation.total(neutral);
    }
    Ok(())
}

/// Sets the fused score from the components that are known so far.
fn fuse(context: &RankingContext<'_, '_>, ranked: &mut [RankedCandidate<'_>]) {
    let (hybrid, weights) = (&context.config.hybrid, context.weights());
    let lambda = f64::from(context.config.activation.conversation_decay);
    for candidate in ranked {
        let Components { bm25, semantic, activation } = candidate.components;
        candidate.fused = match hybrid.fusion {
            Fusion::Weighted => weights.combine(bm25, semantic, activation),
            Fusion::Rrf => reciprocal_rank(hybrid, candidate.ranks.sparse, candidate.ranks.dense),
        };
        let chunk = candidate.retrieved.chunk;
        if lambda > 0.0
            && let (ChunkType::Knowledge, Some(date)) = (chunk.chunk_type(), chunk.date())
        {
            candidate.fused *= forgetting::conversation_decay(lambda, date, context.now) as f32;
        }
        candidate.score = candidate.fused;
    }
}

/// Compares candidates. Direct matches come first, ordered by reason. Otherwise, the candidate with the higher score
/// comes first.
fn in_order(a: &RankedCandidate<'_>, b: &RankedCandidate<'_>) -> Ordering {
    let by_reason = match (&a.retrieved.direct, &b.retrieved.direct) {
        (Some(a), Some(b)) => a.cmp(b),
        (a, b) => b.is_some().cmp(&a.is_some()),
    };
    by_reason.then(b.score.total_cmp(&a.score))
}

/// Sorts candidates; equal candidates stay in the order of their keys. Raises the scores of direct matches where
/// necessary, so that scores never increase down the list.
fn sort(ranked: &mut [RankedCandidate<'_>]) {
    ranked.sort_by(in_order);
    for at in (0..ranked.len()).rev() {
        let below = ranked.get(at + 1).map_or(0.0, |next| next.score);
        let candidate = &mut ranked[at];
        if let Some(direct) = &candidate.retrieved.direct
            && below > candidate.score
        {
            candidate.applied.push(AppliedRule { rule: direct.rule().into(), effect: below - candidate.score });
            candidate.score = below;
        }
    }
}

/// Collects one raw value of every candidate.
fn column<'s>(ranked: &[RankedCandidate<'s>], value: impl Fn(&Candidate<'s>) -> Option<f32>) -> Vec<Option<f32>> {
    ranked.iter().map(|candidate| value(&candidate.retrieved)).collect()
}

/// Returns the best `limit` chunks or files of a ranked list, with pieces and copies folded into better results.
///
/// # Errors
/// Fails if an index cannot be read, or the request is cancelled.
pub(crate) fn fold(
    context: &RankingContext<'_, '_>,
    ranked: &[RankedCandidate<'_>],
    limit: usize,
    group: Group,
) -> Result<Vec<FoldedGroup>, QueryError> {
    folding::fold(ranked.iter().map(|candidate| foldable(context, &candidate.retrieved)), limit, group)
}

fn foldable<'c>(context: &RankingContext<'_, '_>, candidate: &'c Candidate<'_>) -> Result<Foldable<'c>, QueryError> {
    context.work.check()?;
    let chunk = candidate.chunk;
    let texts =
        context.root(candidate).snapshot.text(candidate.id)?.map(|texts| (texts.content_hash(), texts.text, texts.doc));
    let (content_hash, text, doc) = texts.unwrap_or_default();
    Ok(Foldable {
        root: candidate.root,
        key: &candidate.key,
        path: chunk.path(),
        lines: (chunk.line_start(), chunk.line_end()),
        content_hash,
        same_only: candidate.direct.as_ref().is_some_and(DirectMatch::is_name) || !context.config.folding.near_copies,
        likeness: Likeness::new(text, doc, chunk.code_tokens()),
    })
}
