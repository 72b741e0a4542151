//! Searches in a session, and the results of a search.

use std::collections::HashMap;
use std::time::Instant;

use aurora_project::{IndexEmbedder, Project};
use aurora_query::{Mode, Passage, Searcher, WorkBudget};
use aurora_storage::{ChunkId, MetaValue, Snapshot, StorageError};
use serde::{Deserialize, Serialize};

use crate::error::ArticleError;
use crate::source::{self, TITLE, URL};

/// Weight of the word-by-word comparison in the dense score. The weight is higher than for code, because prose repeats
/// the words of a query more often. Measured with 800 OpenJDK javadoc comments: the first sentence of a comment is the
/// query, and the rest of the same comment must be found among 5,000 texts. MRR@10 was .602 with this weight, and .553
/// with .3, the weight for code.
const WORD_SHARE: f32 = 0.7;
/// Number of candidates from the keyword ranking. Code searches use more candidates: 200 from the keyword ranking and
/// 100 from the vector ranking. More candidates are not better here: with the numbers for code, MRR@10 was .600 instead
/// of .602 on the queries described at [`WORD_SHARE`].
const KEYWORD_CANDIDATES: usize = 60;
/// Number of candidates from the vector ranking.
const VECTOR_CANDIDATES: usize = 40;

/// A search in a session.
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = KnowledgeBody))]
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ArticleRequest {
    /// The words to search for.
    #[cfg_attr(feature = "schema", schema(min_length = 1, max_length = 1000))]
    pub query: String,
    /// Maximum number of results; 10 by default.
    #[cfg_attr(feature = "schema", schema(minimum = 1, maximum = 50, default = 10))]
    #[serde(default = "default_top_k")]
    pub top_k: usize,
    /// Whether results include the texts of chunks.
    #[cfg_attr(feature = "schema", schema(default = true))]
    #[serde(default = "yes")]
    pub include_content: bool,
    /// The rankings to use: by keywords, by meaning, or both.
    #[serde(default, rename = "search_mode")]
    pub mode: Mode,
    /// Whether a reranker reorders the best results. Applies to queries of five or more words.
    #[serde(default)]
    pub rerank: bool,
}

fn default_top_k() -> usize {
    10
}

fn yes() -> bool {
    true
}

/// The results of a search in a session.
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = KnowledgeAnswer))]
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ArticleAnswer {
    /// The query of the request, unchanged.
    pub query: String,
    /// The results, best first.
    pub results: Vec<ArticleHit>,
    /// Number of chunks in the session.
    pub total_chunks_searched: u64,
    /// The rankings that were used.
    pub search_mode: Mode,
    /// Duration of the search, in whole milliseconds.
    pub timing_ms: u64,
}

/// A chunk of an article that matches a query.
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = KnowledgeHit))]
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ArticleHit {
    /// Id of the chunk: `doc_{article}:chunk_{position}`. The position is the zero-based index of the chunk in the
    /// article.
    pub chunk_id: String,
    /// Number of the article.
    pub article_id: u64,
    /// The text of the chunk, if requested.
    pub content: Option<String>,
    /// Score of the chunk. In mode hybrid it is `Σ weight / (k + rank)`, in mode sparse the BM25F score, and in mode
    /// dense the similarity of the query and the chunk, from 0 to 1.
    pub score: f32,
    /// Address of the source of the article.
    pub source_url: Option<String>,
    /// Title of the article.
    pub source_title: Option<String>,
    /// Rank in the ranking by meaning, from 1; `None` if the chunk is not in this ranking.
    pub dense_rank: Option<usize>,
    /// Rank in the ranking by keywords, from 1; `None` if the chunk is not in this ranking.
    pub sparse_rank: Option<usize>,
}

/// Statistics of a session.
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SessionStats {
    /// Number of the session.
    pub session_id: u64,
    /// Whether the session has an index.
    pub bm25_index_exists: bool,
    /// Number of chunks in the session.
    pub total_chunks: u64,
    /// The modes in which the session can be searched.
    pub search_modes_available: Vec<Mode>,
}

impl ArticleAnswer {
    /// Creates the answer of a session without chunks.
    pub fn empty(request: &ArticleRequest) -> Self {
        Self {
            query: request.query.clone(),
            results: Vec::new(),
            total_chunks_searched: 0,
            search_mode: request.mode,
            timing_ms: 0,
        }
    }
}

impl SessionStats {
    /// Creates the statistics of a session that does not exist: no index, no chunks and no search modes.
    pub fn missing(session_id: u64) -> Self {
        Self { session_id, bm25_index_exists: false, total_chunks: 0, search_modes_available: Vec::new() }
    }
}

/// A searcher for one generation of a session's index.
pub(crate) struct Generation(Searcher);

impl Generation {
    pub(crate) fn open(project: &Project) -> Result<Self, ArticleError> {
        let snapshot = project.snapshot()?;
        let (embedder, _) = IndexEmbedder::for_index(project, &snapshot, Mode::Hybrid)?;
        let embedder = embedder.as_ref().map(IndexEmbedder::embedder);
        let mut config = project.settings(Vec::new())?;
        config.hybrid.word_share = WORD_SHARE;
        (config.hybrid.stage1_top_k, config.hybrid.dense_top_k) = (KEYWORD_CANDIDATES, VECTOR_CANDIDATES);
        Ok(Self(Searcher::new(snapshot, embedder, config)))
    }

    pub(crate) fn snapshot(&self) -> &Snapshot {
        self.0.snapshot()
    }

    /// Returns the numbers of the indexed articles in ascending order.
    pub(crate) fn articles(&self) -> Result<Vec<u64>, ArticleError> {
        let mut ids = Vec::new();
        for file in self.snapshot().files() {
            ids.extend(source::article_of(&file?.path));
        }
        ids.sort_unstable();
        Ok(ids)
    }

    /// Returns the ids of an article's chunks, in the order of the text.
    pub(crate) fn chunks(&self, article: u64) -> Result<Vec<ChunkId>, ArticleError> {
        Ok(self.snapshot().file(&source::path_of(article))?.map(|file| file.chunks).unwrap_or_default())
    }

    pub(crate) fn answer(&self, request: &ArticleRequest, work: &WorkBudget) -> Result<ArticleAnswer, ArticleError> {
        let begun = Instant::now();
        let passages = self.0.passages(&request.query, request.mode, request.top_k, request.rerank, work)?;
        let mut orders = HashMap::new();
        let mut results = Vec::with_capacity(passages.len());
        for passage in &passages {
            results.extend(self.hit(passage, request.include_content, &mut orders)?);
        }
        Ok(ArticleAnswer {
            results,
            total_chunks_searched: self.snapshot().manifest().chunk_count,
            timing_ms: u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX),
            ..ArticleAnswer::empty(request)
        })
    }

    fn hit(
        &self,
        passage: &Passage,
        with_content: bool,
        orders: &mut HashMap<u64, Vec<ChunkId>>,
    ) -> Result<Option<ArticleHit>, ArticleError> {
        let Some(chunk) = self.snapshot().chunk(passage.id)? else { return Ok(None) };
        let Some(article_id) = source::article_of(chunk.path()) else { return Ok(None) };
        if let std::collections::hash_map::Entry::Vacant(entry) = orders.entry(article_id) {
            entry.insert(self.chunks(article_id)?);
        }
        let position = orders[&article_id].iter().position(|id| *id == passage.id).unwrap_or(0);
        let text = if with_content { self.snapshot().text(passage.id)?.map(|texts| texts.text) } else { None };
        let text_in = |column: &str| {
            let value = self.snapshot().custom_value(passage.id, column)?;
            Ok::<_, StorageError>(match value {
                Some(MetaValue::String(text)) => Some(text),
                _ => None,
            })
        };
        Ok(Some(ArticleHit {
            chunk_id: format!("doc_{article_id}:chunk_{position}"),
            article_id,
            content: text,
            score: passage.score,
            source_url: text_in(URL)?,
            source_title: text_in(TITLE)?,
            dense_rank: passage.dense_rank,
            sparse_rank: passage.sparse_rank,
        }))
    }
}
