//! Searching a project: the request, and the answer in the form that every interface returns.

use std::sync::Arc;

use aurora_query::{
    Context, IndexInfo, Mode, Phases, Query, RootInfo, SearchConfig, SearchResults, Searcher, StageCounts,
};
use aurora_storage::{AccessLog, Snapshot};
use serde::Serialize;

use crate::advice::chain;
use crate::annotations::annotations;
use crate::embedder::{EmbedderNotice, IndexEmbedder};
use crate::error::ProjectError;
use crate::project::Project;
use crate::{programs, rerankers, user};

/// Default number of results.
const DEFAULT_LIMIT: usize = 10;
/// Default number of results that are considered for an answer with a token budget.
const BUDGET_LIMIT: usize = 100;
/// Number of lines in a snippet for programs.
const SNIPPET_LINES: usize = 3;

/// A search request for programs: a query, and the form of its results.
#[derive(Debug, Clone)]
pub struct SearchRequest {
    /// The query.
    pub query: Query,
    /// Maximum number of lines in a snippet; 0 for no snippets.
    pub snippet_lines: usize,
    /// Whether the lines of snippets contain their tokens, for syntax highlighting.
    pub highlight: bool,
}

impl SearchRequest {
    /// Creates a request with the defaults for programs.
    pub fn new(query: Query) -> Self {
        Self { query, snippet_lines: SNIPPET_LINES, highlight: false }
    }

    /// Returns the default number of results. It is higher for a request with a token budget.
    pub fn default_limit(budget: Option<usize>) -> usize {
        if budget.is_some() { BUDGET_LIMIT } else { DEFAULT_LIMIT }
    }
}

/// A searcher with the embedder of its queries.
pub struct OpenedSearcher {
    /// The generation, ready to be searched by any number of threads.
    pub searcher: Searcher,
    /// The embedder of queries. If it runs a program, the caller must stop the program before this process ends.
    pub embedder: Option<IndexEmbedder>,
    /// The notice for the user about the embedder.
    pub notice: Option<EmbedderNotice>,
}

impl Project {
    /// Opens a generation for searches in `mode` with `config`. `name` is the name of the project in answers. If the
    /// embedder of the vectors cannot be used, hybrid searches rank by keywords only, and the notice contains the
    /// reason. If the access history or the tags cannot be used, searches ignore them, and every answer has a note with
    /// the reason.
    ///
    /// # Errors
    /// Fails in mode `dense` if the embedder cannot be used.
    pub fn searcher(
        &self,
        name: &str,
        snapshot: Snapshot,
        config: SearchConfig,
        mode: Mode,
    ) -> Result<OpenedSearcher, ProjectError> {
        let (embedder, notice) = IndexEmbedder::for_index(self, &snapshot, mode)?;
        let access = AccessLog::open(&self.directory(), &user::trust().known);
        let reranker = rerankers::reranker(&config, mode);
        let mut searcher = Searcher::new(snapshot, embedder.as_ref().map(IndexEmbedder::embedder), config)
            .with_name(name)
            .with_root(self.root())
            .with_access(access.map(Arc::new).map_err(|error| chain(&error)));
        if let Some(reranker) = reranker {
            searcher = searcher.with_reranker(reranker);
        }
        let manifest = searcher.snapshot().manifest();
        tracing::info!(
            root = %self.root().display(),
            generation = manifest.generation,
            files = manifest.file_count,
            chunks = manifest.chunk_count,
            has_embedder = embedder.is_some(),
            "opened the index"
        );
        match annotations(self) {
            Ok(annotations) => searcher.annotations = annotations.map(Arc::new),
            Err(error) => searcher.notes.push(format!("Searched without tags: {}", chain(&error))),
        }
        Ok(OpenedSearcher { searcher, embedder, notice })
    }

    /// Checks the programs of stages and adds the results to a searcher. An answer that depends on a column has a note
    /// if the program that computed the column has changed since, or if the index was imported and the program is not
    /// allowed.
    #[must_use]
    pub fn with_program_changes(&self, mut searcher: Searcher) -> Searcher {
        let snapshot = searcher.snapshot();
        if snapshot.manifest().columns.is_empty() {
            return searcher;
        }
        // Ignore errors of the pipeline here: index runs report them.
        let options = self.options_without_programs().ok();
        let changed = options.as_ref().and_then(|options| programs::changed_since(snapshot, options).ok());
        // The next run marks the columns of these programs as stale.
        let imported = options.filter(|_| snapshot.manifest().imported);
        let refused = imported.and_then(|options| programs::untrusted(&options).ok());
        searcher.changed_stages = changed.unwrap_or_default();
        searcher.refused_stages = refused.unwrap_or_default();
        searcher
    }
}

/// The answer to a query with a token budget, for programs.
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[derive(Debug, Serialize)]
pub struct PackedAnswer<'a> {
    /// The query, as given.
    pub query: &'a str,
    /// The requested mode.
    pub mode: Mode,
    /// See [`SearchResults::confidence`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub confidence: Option<f32>,
    /// See [`SearchResults::close`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub close: Option<bool>,
    /// The packed texts of the results.
    #[serde(flatten)]
    pub context: &'a Context,
    /// Description of the way in which tokens are counted.
    pub token_count: &'static str,
    /// Notes about the answer for the user.
    pub notes: &'a [String],
    /// Number of chunks that each search stage considered.
    pub stages: StageCounts,
    /// The searched generation; `None` if several roots were searched.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub index: Option<&'a IndexInfo>,
    /// The searched roots, if there are several.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    pub roots: &'a [RootInfo],
    /// Duration of the search, in milliseconds.
    pub took_ms: f64,
    /// Durations of the phases of the search; empty for a list of chunks without a query.
    #[serde(skip_serializing_if = "Phases::is_empty")]
    pub phases: Phases,
}

impl<'a> PackedAnswer<'a> {
    /// The value of `token_count`.
    const ESTIMATE: &'static str =
        "estimate: letters/8, digits/3, marks/3, other bytes/2, rounded up by run, and 1 a line";

    /// Creates an answer from the texts of results.
    pub fn new(found: &'a SearchResults, context: &'a Context) -> Self {
        Self {
            query: &found.query,
            mode: found.mode,
            confidence: found.confidence,
            close: found.close,
            context,
            token_count: Self::ESTIMATE,
            notes: &found.notes,
            stages: found.stages,
            index: found.index.as_ref(),
            roots: &found.roots,
            took_ms: found.took.as_secs_f64() * 1e3,
            phases: found.phases,
        }
    }
}
