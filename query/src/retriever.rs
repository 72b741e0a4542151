//! One search from query to hits: candidates, their components, fusion, rules, order.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;

use aurora_analysis::{Analyzer, Embedder, LateInteraction, StaticModel};
use aurora_storage::{AccessRecord, ChunkId, ChunkType, Snapshot, StorageError};

use crate::activation::{self, ActivationParts};
use crate::bm25::Bm25;
use crate::candidates::{self, Candidate, named};
use crate::config::{FoldingConfig, Fusion, SearchConfig};
use crate::dense::QueryVector;
use crate::expansion;
use crate::explain::{self, Explanation};
use crate::folding::{self, Foldable, FoldedGroup};
use crate::forgetting::conversation_decay;
use crate::fusion::{Weights, min_max, ranks, reciprocal_rank};
use crate::kind::QueryKind;
use crate::likeness::Likeness;
use crate::listing;
use crate::points::{self, ComponentColumns};
use crate::query::{Mode, ParsedQuery, Query, QueryError};
use crate::results::{Copies, Hit, RawScores, Scores, SearchResults, StageCounts};
use crate::rules::{self, AppliedRule, RuleChunk, RuleQuery};
use crate::spelling;
use crate::spreading::{LabelGraph, spread};

/// Answers queries over one generation of an index. Open it once, search many times.
pub struct Retriever {
    snapshot: Snapshot,
    embedder: Option<Arc<dyn Embedder>>,
    /// The model whose tokens the index holds, to compare queries with them word by word.
    tokens: Option<StaticModel>,
    config: SearchConfig,
    analyzer: Analyzer,
}

/// Components of every candidate, in the candidates' order.
struct Components {
    weights: Weights,
    bm25: Vec<Option<f32>>,
    semantic: Vec<Option<f32>>,
    activation: Vec<Option<f32>>,
}

impl Components {
    fn of(&self, at: usize) -> (Option<f32>, Option<f32>, Option<f32>) {
        (self.bm25[at], self.semantic[at], self.activation[at])
    }
}

impl Retriever {
    /// A retriever over `snapshot`. Without an embedder, or with one of another model than the index's, searches use
    /// keywords only and say so.
    pub fn new(snapshot: Snapshot, embedder: Option<Arc<dyn Embedder>>, config: SearchConfig) -> Self {
        let tokens = embedder.as_ref().and_then(|_| StaticModel::built_in().ok());
        let indexed = snapshot.manifest().model.as_ref().map(|model| model.tokens.clone());
        let tokens = tokens.filter(|tokens| indexed.is_some_and(|id| id == tokens.id()));
        Self { snapshot, embedder, tokens, config, analyzer: Analyzer }
    }

    /// The generation that is searched.
    pub fn snapshot(&self) -> &Snapshot {
        &self.snapshot
    }

    /// The configuration in use.
    pub fn config(&self) -> &SearchConfig {
        &self.config
    }

    /// Answers one query.
    ///
    /// # Errors
    /// [`QueryError`] for a query or filter that cannot be understood, for mode `dense` without vectors, and when the
    /// index cannot be read.
    pub fn search(&self, query: &Query<'_>) -> Result<SearchResults, QueryError> {
        let start = Instant::now();
        QueryError::check_length(&query.text)?;
        if query.text.trim().is_empty() && query.filter.has_text() {
            return listing::list(&self.snapshot, query, start);
        }
        let (parsed, text, mut notes) = self.understand(&query.text)?;
        let selection = query.filter.resolve()?.select(&self.snapshot)?;
        let filter = selection.chunks.map(|chunks| chunks & self.snapshot.live());
        notes.extend(selection.notes);

        let bm25 = Bm25::new(&self.snapshot, &self.config.bm25, &parsed)?;
        let semantics = self.semantics(query.mode, &text)?;
        let most = candidates::CandidateLimits {
            by_keywords: self.config.hybrid.stage1_top_k.max(query.limit),
            by_vectors: self.config.hybrid.dense_top_k.max(query.limit),
        };
        let found = candidates::collect(
            &self.snapshot,
            &bm25,
            &semantics,
            self.tokens.as_ref().filter(|_| query.mode != Mode::Sparse).map(|model| LateInteraction::new(model, &text)),
            (&text, &parsed),
            (query.mode, most),
            filter.as_ref(),
        )?;
        self.note_missing(query.mode, &semantics, found.from_keywords, &mut notes);
        let mut stages = StageCounts {
            indexed: self.snapshot.live().len(),
            eligible: filter.as_ref().map_or_else(|| self.snapshot.live().len(), |filter| filter.len()),
            from_keywords: found.from_keywords,
            from_vectors: found.from_vectors,
            ranked: found.list.len(),
            shown: 0,
        };

        let rule_query = RuleQuery::new(&parsed, &bm25.term_idfs());
        let kind = QueryKind::of(&text, &parsed);
        let keys = found.list.iter().map(|candidate| candidate.chunk.key.as_str());
        let accesses = query.accesses(keys, &mut notes);
        let hits = self.rank(query, (&parsed, kind), &bm25, &rule_query, &found.list, &accesses)?;
        stages.shown = hits.len();
        Ok(SearchResults {
            query: query.text.clone(),
            kind: Some(kind),
            mode: query.mode,
            hits,
            notes,
            stages,
            index: None,
            term_weights: BTreeMap::new(),
            took: start.elapsed(),
        })
    }

    /// The query with its misspelt words read as the index has them and its further terms, its text as it is searched for,
    /// and what the user should know of that.
    fn understand(&self, text: &str) -> Result<(ParsedQuery, String, Vec<String>), QueryError> {
        let config = &self.config.expansion;
        let mut parsed = ParsedQuery::parse(&self.analyzer, text)?;
        let (mut text, mut notes) = (text.to_owned(), Vec::new());
        if config.spelling > 0.0
            && let Some(corrected) = spelling::correct(&self.snapshot, &self.analyzer, &text)?
        {
            let given = std::mem::replace(&mut parsed, ParsedQuery::parse(&self.analyzer, &corrected.text)?);
            parsed.weigh_guesses(&given, config.spelling);
            notes.extend(corrected.notes());
            text = corrected.text;
        }
        parsed.weigh_function_words(self.config.kinds.function_words);
        parsed.extras = expansion::expand(&self.snapshot, &parsed, config)?;
        Ok((parsed, text, notes))
    }

    fn semantics(&self, mode: Mode, text: &str) -> Result<QueryVector, QueryError> {
        if mode == Mode::Sparse {
            return Ok(QueryVector::Unavailable("mode `sparse` uses keywords only".to_owned()));
        }
        match QueryVector::of(&self.snapshot, self.embedder.as_deref(), text) {
            QueryVector::Unavailable(reason) if mode == Mode::Dense => Err(QueryError::NoVectors(reason)),
            semantics => Ok(semantics),
        }
    }

    fn note_missing(&self, mode: Mode, semantics: &QueryVector, from_keywords: usize, notes: &mut Vec<String>) {
        let no_keywords = mode != Mode::Dense && from_keywords == 0;
        match semantics {
            QueryVector::Available(_) if no_keywords => {
                notes.push("No keyword matches found, falling back to semantic search".to_owned())
            }
            QueryVector::Unavailable(_) if no_keywords => notes.push("No keyword matches found".to_owned()),
            _ => {}
        }
        if let (Mode::Hybrid, QueryVector::Unavailable(reason)) = (mode, semantics) {
            notes.push(format!("Ranked without semantic scores: {reason}"));
        }
    }

    fn rank(
        &self,
        query: &Query<'_>,
        (parsed, kind): (&ParsedQuery, QueryKind),
        bm25: &Bm25<'_>,
        rule_query: &RuleQuery<'_>,
        list: &[Candidate<'_>],
        accesses: &[Option<AccessRecord>],
    ) -> Result<Vec<Hit>, QueryError> {
        let doc_words = min_max(&list.iter().map(|candidate| candidate.doc_words).collect::<Vec<_>>());
        let read = list.iter().zip(doc_words).map(|(Candidate { chunk, .. }, doc_words)| {
            let lines = chunk.line_end.to_native() - chunk.line_start.to_native() + 1;
            (named(chunk), lines, doc_words.unwrap_or(0.0))
        });
        let chunks = rule_query.read(&self.analyzer, read);
        let mut components = Components {
            weights: self.weights(kind, query.mode),
            bm25: min_max(
                &list.iter().map(|candidate| (query.mode != Mode::Dense).then_some(candidate.bm25)).collect::<Vec<_>>(),
            ),
            semantic: semantic(self.config.hybrid.word_share, list),
            activation: vec![None; list.len()],
        };
        let parts = self.activations(query, list, &chunks, accesses, &components)?;
        let neutral;
        (components.activation, neutral) = activation::normalised(&parts);

        let fused = self.fuse(query, list, &components);
        let columns = ComponentColumns {
            raw_bm25: &list.iter().map(|candidate| candidate.bm25).collect::<Vec<_>>(),
            cosine: &list.iter().map(|candidate| candidate.cosine).collect::<Vec<_>>(),
            bm25: &components.bm25,
            semantic: &components.semantic,
            activation: &components.activation,
        };
        let shares = points::shares(&self.config.hybrid, components.weights, &columns);
        let mut scores = fused.clone();
        let mut applied = rules::apply(&self.config.rules, rule_query, &chunks, &mut scores);
        let order = order(list, &mut scores, &mut applied);
        let places = folded(&self.config.folding, list, &order, query.limit);

        let hits = places.into_iter().enumerate().map(|(rank, place)| {
            let at = order[place.at];
            let candidate = &list[at];
            let (keywords, semantic, activation) = components.of(at);
            let (weighted, rules) = points::settle(shares[at], fused[at], &applied[at], &candidate.chunk.path);
            let scores = Scores {
                bm25: keywords.unwrap_or(0.0),
                semantic,
                activation: activation.unwrap_or(0.0),
                weighted,
                fused: weighted.sum(),
                final_: scores[at],
                raw: RawScores {
                    bm25: candidate.bm25,
                    cosine: candidate.cosine,
                    words: candidate.words,
                    activation: parts[at].total(neutral),
                },
            };
            let chunk = candidate.chunk.to_chunk();
            let keywords = explain::keyword_match(parsed, &bm25.matched(candidate.id), &candidate.chunk.name);
            let explanation = Explanation {
                matched_terms: keywords.matched_terms,
                exact_term: keywords.exact_term,
                exact_identifier: candidate.exact.is_some(),
                bm25: keywords.reason,
                semantic: if query.mode == Mode::Sparse {
                    "not used in mode sparse".to_owned()
                } else {
                    explain::semantic_reason(semantic).to_owned()
                },
                activation: explain::activation_reason(&chunk.git, accesses[at].as_ref(), query.now),
                activation_parts: parts[at],
                rules,
            };
            let copies = Copies::of(place.copies.into_iter().map(|copy| list[order[copy]].chunk));
            let hit =
                Hit::of((rank + 1, candidate.id), chunk, query.content, scores, accesses[at].clone(), explanation);
            Hit { copies, ..hit }
        });
        Ok(hits.collect())
    }

    /// Activation of every candidate, spread from the candidates that keywords and vectors put first.
    fn activations(
        &self,
        query: &Query<'_>,
        list: &[Candidate<'_>],
        chunks: &[RuleChunk<'_>],
        accesses: &[Option<AccessRecord>],
        components: &Components,
    ) -> Result<Vec<ActivationParts>, StorageError> {
        let config = &self.config.activation;
        let mut parts: Vec<ActivationParts> = list
            .iter()
            .zip(accesses)
            .zip(chunks)
            .map(|((candidate, access), chunk)| ActivationParts {
                context: activation::context_boost(config, chunk.context_share()),
                ..activation::of_chunk(config, candidate.chunk, access.as_ref(), query.now)
            })
            .collect();
        if self.config.hybrid.activation_weight > 0.0 && self.config.hybrid.fusion == Fusion::Weighted {
            let mut best = self.fuse(query, list, components).into_iter().enumerate().collect::<Vec<_>>();
            best.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
            let sources: Vec<ChunkId> = best.iter().take(config.sources).map(|&(at, _)| list[at].id).collect();
            let arrived = spread(config, &sources, &LabelGraph::new(&self.snapshot))?;
            for (parts, candidate) in parts.iter_mut().zip(list) {
                parts.spreading = arrived.get(&candidate.id).copied().unwrap_or(0.0);
            }
        }
        Ok(parts)
    }

    /// Weights of the components for a query of this kind. Without semantic scores their share is the keywords'.
    fn weights(&self, kind: QueryKind, mode: Mode) -> Weights {
        let weights = kind.weights(&self.config.hybrid, &self.config.kinds);
        match mode {
            Mode::Sparse => Weights { bm25: weights.bm25 + weights.semantic, semantic: 0.0, ..weights },
            Mode::Hybrid | Mode::Dense => weights,
        }
    }

    /// One score per candidate from its components.
    fn fuse(&self, query: &Query<'_>, list: &[Candidate<'_>], components: &Components) -> Vec<f32> {
        let config = &self.config.hybrid;
        let mut fused: Vec<f32> = match config.fusion {
            Fusion::Weighted => {
                let weighted = |(bm25, semantic, activation)| components.weights.combine(bm25, semantic, activation);
                (0..list.len()).map(|at| components.of(at)).map(weighted).collect()
            }
            Fusion::Rrf => {
                let sparse = ranks(
                    &list.iter().map(|candidate| Some(candidate.bm25).filter(|&score| score > 0.0)).collect::<Vec<_>>(),
                );
                let dense = ranks(&list.iter().map(|candidate| candidate.cosine).collect::<Vec<_>>());
                sparse.into_iter().zip(dense).map(|(sparse, dense)| reciprocal_rank(config, sparse, dense)).collect()
            }
        };
        if self.config.activation.conversation_decay > 0.0 {
            let lambda = f64::from(self.config.activation.conversation_decay);
            for (score, candidate) in fused.iter_mut().zip(list) {
                let date = candidate.chunk.date.as_ref().map(|date| date.to_native());
                if let (ChunkType::Knowledge, Some(date)) = (candidate.chunk.chunk_type.to_native(), date) {
                    *score *= conversation_decay(lambda, date, query.now) as f32;
                }
            }
        }
        fused
    }
}

/// Cosine and late interaction, each min-max normalised within the candidates, as one component; where one is missing,
/// the other counts alone.
fn semantic(word_share: f32, list: &[Candidate<'_>]) -> Vec<Option<f32>> {
    let cosines = min_max(&list.iter().map(|candidate| candidate.cosine).collect::<Vec<_>>());
    let words = min_max(&list.iter().map(|candidate| candidate.words).collect::<Vec<_>>());
    let both = |(cosine, words): (Option<f32>, Option<f32>)| match (cosine, words) {
        (Some(cosine), Some(words)) => Some((1.0 - word_share) * cosine + word_share * words),
        (cosine, words) => cosine.or(words),
    };
    cosines.into_iter().zip(words).map(both).collect()
}

/// The best `limit` without pieces and copies of what stands above them; places are those in `order`.
fn folded(config: &FoldingConfig, list: &[Candidate<'_>], order: &[usize], limit: usize) -> Vec<FoldedGroup> {
    let foldable = |&at: &usize| {
        let Candidate { chunk, exact, .. } = &list[at];
        let tokens = chunk.tokens.code.iter().map(|token| token.to_native());
        Foldable {
            key: &chunk.key,
            path: &chunk.path,
            lines: (chunk.line_start.to_native(), chunk.line_end.to_native()),
            content_hash: chunk.content_hash,
            same_only: exact.is_some() || !config.near_copies,
            likeness: Likeness::new(&chunk.text, &chunk.doc, tokens),
        }
    };
    folding::fold(order.iter().map(foldable), limit)
}

/// Best first: exact names in their own order, then by score, equal scores by key. The scores of exact names are raised
/// where they have to be, so that scores never grow down the list.
fn order(list: &[Candidate<'_>], scores: &mut [f32], applied: &mut [Vec<AppliedRule>]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..list.len()).collect();
    order.sort_by(|&a, &b| match (&list[a].exact, &list[b].exact) {
        (Some(a), Some(b)) => a.cmp(b),
        (Some(_), None) => Ordering::Less,
        (None, Some(_)) => Ordering::Greater,
        (None, None) => scores[b].total_cmp(&scores[a]).then(a.cmp(&b)),
    });
    let exact = order.iter().take_while(|&&at| list[at].exact.is_some()).count();
    for place in (0..exact).rev() {
        let at = order[place];
        let below = order.get(place + 1).map_or(0.0, |&next| scores[next]);
        if below > scores[at] {
            applied[at].push(AppliedRule { rule: "exact_identifier", effect: below - scores[at] });
            scores[at] = below;
        }
    }
    order
}
