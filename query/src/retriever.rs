//! One search from query to hits: understand, retrieve, rank, explain, present.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};
use std::time::Instant;

use aurora_analysis::{AUTO, Analyzer, ContextualReranker, LateInteraction, QueryEmbedder, Reranker, StaticModel};
use aurora_storage::{Snapshot, StorageError};
use roaring::RoaringBitmap;

use crate::config::SearchConfig;
use crate::filter::FilterSpec;
use crate::present::{self, FacetIndex, SearchResults, StageCounts};
use crate::query::{Mode, Query, QueryError};
use crate::rank::{self, Boosts, Passage, RankingContext, Reranking};
use crate::retrieve::bm25::KeywordSearch;
use crate::retrieve::{self, CandidateLimits, Candidates, QueryVector};
use crate::understand::{ParsedQuery, Understood, understand};

/// The reranker that a configuration names, or why it cannot be used.
pub type LoadedReranker = Result<Arc<dyn Reranker>, String>;

/// Answers queries over one generation of an index. Open it once, search many times.
pub struct Retriever {
    snapshot: Snapshot,
    embedder: Option<Arc<dyn QueryEmbedder>>,
    /// The model whose tokens the index holds, to compare queries with them word by word.
    tokens: Option<Arc<StaticModel>>,
    /// The model that reads the best results, or why there is none; the one inside the program until another is given.
    reranker: OnceLock<LoadedReranker>,
    config: SearchConfig,
    boosts: Boosts,
    analyzer: Analyzer,
    /// Made at the first search that asks for facets.
    facets: OnceLock<FacetIndex>,
}

impl Retriever {
    /// A retriever over `snapshot`. Without an embedder, or with one of another model than the index's, searches use
    /// keywords only and say so.
    pub fn new(snapshot: Snapshot, embedder: Option<Arc<dyn QueryEmbedder>>, config: SearchConfig) -> Self {
        let tokens = embedder.as_ref().and_then(|_| StaticModel::built_in().ok());
        let indexed = snapshot.manifest().model.as_ref().map(|model| model.tokens.clone());
        let tokens = tokens.filter(|tokens| indexed.is_some_and(|id| id == tokens.id()));
        let boosts = Boosts::new(&snapshot.manifest().columns, &config.boost);
        let (reranker, facets) = (OnceLock::new(), OnceLock::new());
        Self { snapshot, embedder, tokens, reranker, config, boosts, analyzer: Analyzer, facets }
    }

    /// The same with the reranker that the configuration names; only [`AUTO`] need not be given. Without the one that is named,
    /// searches do without and say why.
    #[must_use]
    pub fn with_reranker(self, reranker: LoadedReranker) -> Self {
        Self { reranker: reranker.into(), ..self }
    }

    /// The generation that is searched.
    pub fn snapshot(&self) -> &Snapshot {
        &self.snapshot
    }

    /// The configuration in use.
    pub fn config(&self) -> &SearchConfig {
        &self.config
    }

    /// Checks a filter against the columns of the index, without a search.
    ///
    /// # Errors
    /// [`QueryError::Filter`] for the first condition that does not fit the column that it names, or what cannot be understood.
    pub fn check(&self, filter: &FilterSpec) -> Result<(), QueryError> {
        Ok(filter.resolve()?.check_columns(&self.snapshot)?)
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
            return present::list(&self.snapshot, query, self.facet_index(query.facets)?, start);
        }
        let understood = understand(&self.snapshot, &self.analyzer, &self.config, &query.text)?;
        let Understood { parsed, text, kind, mut notes } = understood;
        let selection = query.filter.resolve()?.select(&self.snapshot)?;
        let filter = selection.chunks.map(|chunks| chunks & self.snapshot.live());
        notes.extend(selection.notes);
        notes.extend(self.boosts.note().map(str::to_owned));

        let bm25 = KeywordSearch::new(&self.snapshot, &self.config.bm25, &parsed)?;
        let facets = match self.facet_index(query.facets)? {
            Some(index) => Some(index.count(&self.snapshot, &bm25.holding(filter.as_ref()))?),
            None => None,
        };
        let vector = self.query_vector(query.mode, &text)?;
        let found = self.candidates(&bm25, &vector, (&text, &parsed), (query.mode, query.limit), filter.as_ref())?;
        note_missing(query.mode, &vector, found.from_keywords, &mut notes);
        let mut stages = StageCounts {
            indexed: self.snapshot.live().len(),
            eligible: filter.as_ref().map_or_else(|| self.snapshot.live().len(), |filter| filter.len()),
            from_keywords: found.from_keywords,
            from_vectors: found.from_vectors,
            ranked: found.list.len(),
            shown: 0,
        };

        let keys = found.list.iter().map(|candidate| &*candidate.key);
        let accesses = query.accesses(keys, &mut notes);
        let context = RankingContext {
            snapshot: &self.snapshot,
            boosts: &self.boosts,
            analyzer: &self.analyzer,
            config: &self.config,
            mode: query.mode,
            now: query.now,
            parsed: &parsed,
            kind,
            term_idfs: &bm25.term_idfs(),
            reranking: self.reranking(query.mode, &text),
        };
        let ranked = rank::rank(&context, found.list, accesses, &mut notes)?;
        let groups = rank::fold(&context, &ranked, query.limit, query.group)?;
        let hits = present::hits(&context, &bm25, query.content, &ranked, groups)?;
        stages.shown = hits.len();
        Ok(SearchResults {
            query: query.text.clone(),
            kind: Some(kind),
            mode: query.mode,
            hits,
            notes,
            stages,
            facets,
            index: None,
            term_weights: BTreeMap::new(),
            took: start.elapsed(),
        })
    }

    /// The best passages for a query: chunks in the order of reciprocal rank fusion alone. History, rules, names and copies count
    /// nothing, and every chunk has a place of its own. `reranks` has the configured reranker read the best of them.
    ///
    /// # Errors
    /// As for [`Retriever::search`].
    pub fn passages(&self, text: &str, mode: Mode, limit: usize, reranks: bool) -> Result<Vec<Passage>, QueryError> {
        QueryError::check_length(text)?;
        let Understood { parsed, text, kind, .. } = understand(&self.snapshot, &self.analyzer, &self.config, text)?;
        let bm25 = KeywordSearch::new(&self.snapshot, &self.config.bm25, &parsed)?;
        let vector = self.query_vector(mode, &text)?;
        let found = self.candidates(&bm25, &vector, (&text, &parsed), (mode, limit), None)?;
        let context = RankingContext {
            snapshot: &self.snapshot,
            boosts: &self.boosts,
            analyzer: &self.analyzer,
            config: &self.config,
            mode,
            now: 0,
            parsed: &parsed,
            kind,
            term_idfs: &bm25.term_idfs(),
            reranking: if reranks { self.reranking(mode, &text) } else { None },
        };
        Ok(rank::rank_passages(&context, found.list, limit)?)
    }

    fn candidates<'s>(
        &'s self,
        bm25: &KeywordSearch<'s>,
        vector: &QueryVector,
        query: (&str, &ParsedQuery),
        (mode, limit): (Mode, usize),
        filter: Option<&RoaringBitmap>,
    ) -> Result<Candidates<'s>, QueryError> {
        let limits = CandidateLimits {
            by_keywords: self.config.hybrid.stage1_top_k.max(limit),
            by_vectors: self.config.hybrid.dense_top_k.max(limit),
        };
        let tokens = self.tokens.as_deref().filter(|_| mode != Mode::Sparse);
        let late = tokens.map(|model| LateInteraction::new(model, query.0));
        Ok(retrieve::collect(&self.snapshot, bm25, vector, late, query, (mode, limits), filter)?)
    }

    /// How the best results are read; `None` if the configuration or the mode asks for no reranker, or the query is too short.
    fn reranking<'r>(&'r self, mode: Mode, text: &'r str) -> Option<Reranking<'r>> {
        let name = self.config.reranker_for(mode)?;
        if text.split_whitespace().count() < self.config.rerank_words {
            return None;
        }
        let reranker = self.reranker.get_or_init(|| match name {
            AUTO => ContextualReranker::built_in()
                .map(|model| model as Arc<dyn Reranker>)
                .map_err(|error| error.to_string()),
            _ => Err("no model is loaded".to_owned()),
        });
        let reranker = reranker.as_deref().map_err(String::as_str);
        Some(Reranking { reranker, text, most: self.config.rerank_results, weight: self.config.rules.rerank })
    }

    /// What facets are counted with, if they are `wanted`.
    fn facet_index(&self, wanted: bool) -> Result<Option<&FacetIndex>, StorageError> {
        if wanted && self.facets.get().is_none() {
            // Another thread may do the same meanwhile; both find the same.
            let _ = self.facets.set(FacetIndex::new(&self.snapshot)?);
        }
        Ok(self.facets.get().filter(|_| wanted))
    }

    fn query_vector(&self, mode: Mode, text: &str) -> Result<QueryVector, QueryError> {
        if mode == Mode::Sparse {
            return Ok(QueryVector::Unavailable("mode `sparse` uses keywords only".to_owned()));
        }
        match QueryVector::of(&self.snapshot, self.embedder.as_deref(), text) {
            QueryVector::Unavailable(reason) if mode == Mode::Dense => Err(QueryError::NoVectors(reason)),
            vector => Ok(vector),
        }
    }
}

/// Notes that a component found nothing, and why.
fn note_missing(mode: Mode, vector: &QueryVector, from_keywords: usize, notes: &mut Vec<String>) {
    let no_keywords = mode != Mode::Dense && from_keywords == 0;
    match vector {
        QueryVector::Available(_) if no_keywords => {
            notes.push("No keyword matches found, falling back to semantic search".to_owned())
        }
        QueryVector::Unavailable(_) if no_keywords => notes.push("No keyword matches found".to_owned()),
        _ => {}
    }
    if let (Mode::Hybrid, QueryVector::Unavailable(reason)) = (mode, vector) {
        notes.push(format!("Ranked without semantic scores: {reason}"));
    }
}
