//! Searching a project: the request, and the answer in the form that every interface returns.

use std::sync::Arc;

use aurora_query::{
    Context, FilterSpec, Group, IndexInfo, Mode, Retriever, RootInfo, SearchConfig, SearchResults, StageCounts,
    WorkBudget,
};
use aurora_storage::{AccessLog, Snapshot};
use serde::Serialize;

use crate::advice::chain;
use crate::annotations::annotations;
use crate::chunk_name::Names;
use crate::embedder::{EmbedderNotice, IndexEmbedder};
use crate::error::ProjectError;
use crate::project::Project;
use crate::{programs, rerankers, user};

/// Default number of results.
const DEFAULT_LIMIT: usize = 10;
const BUDGET_LIMIT: usize = 100;
/// Number of lines in a snippet for programs.
const SNIPPET_LINES: usize = 3;

/// A search request to a project.
#[derive(Debug, Clone)]
pub struct SearchRequest {
    /// The query.
    pub text: String,
    /// Maximum number of results.
    pub limit: usize,
    /// The scores to use.
    pub mode: Mode,
    /// The unit of the result list.
    pub group: Group,
    /// The filter for chunks.
    pub filter: FilterSpec,
    /// Whether results contain the full text of the chunks.
    pub content: bool,
    /// Maximum number of lines in a snippet; 0 for no snippets.
    pub snippet_lines: usize,
    /// Whether the lines of snippets contain their tokens, for syntax highlighting.
    pub highlight: bool,
    /// Whether matching chunks are counted by type, language and directory.
    pub facets: bool,
    /// The budget for the work of the request.
    pub work: WorkBudget,
}

impl SearchRequest {
    /// Creates a request with the defaults for programs.
    pub fn new(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            limit: DEFAULT_LIMIT,
            mode: Mode::default(),
            group: Group::default(),
            filter: FilterSpec::default(),
            content: false,
            snippet_lines: SNIPPET_LINES,
            highlight: false,
            facets: false,
            work: WorkBudget::default(),
        }
    }

    /// The default limit of a request. With a token budget, more results are considered.
    pub fn default_limit(budget: Option<usize>) -> usize {
        if budget.is_some() { BUDGET_LIMIT } else { DEFAULT_LIMIT }
    }
}

/// One generation of a project's index, ready to be searched by any number of threads.
pub struct Searcher {
    project: Project,
    retriever: Retriever,
    embedder: Option<IndexEmbedder>,
    notice: Option<EmbedderNotice>,
    /// The access history, or the reason why it cannot be used. Without the history, results are ranked as if nothing
    /// had been shown before.
    access: Result<Arc<AccessLog>, String>,
}

impl Searcher {
    /// Prepares a generation for searches in `mode` with `config`. Without the embedder of its vectors, hybrid searches
    /// rank by keywords, and [`Self::notice`] returns the reason. An access history or tags that cannot be used are
    /// left out, and every answer has a note with the reason.
    ///
    /// # Errors
    /// In mode `dense`, if the embedder cannot be used.
    pub fn open(project: &Project, snapshot: Snapshot, config: SearchConfig, mode: Mode) -> Result<Self, ProjectError> {
        let (embedder, notice) = IndexEmbedder::of_index(project, &snapshot, mode)?;
        let access = AccessLog::open(&project.directory(), &user::trust().known);
        let access = access.map(Arc::new).map_err(|error| chain(&error));
        let reranker = rerankers::reranker(&config, mode);
        let mut retriever = Retriever::new(snapshot, embedder.as_ref().map(IndexEmbedder::embedder), config);
        if let Some(reranker) = reranker {
            retriever = retriever.with_reranker(reranker);
        }
        retriever = match &access {
            Ok(access) => retriever.with_access(Arc::clone(access)),
            Err(error) => retriever.with_note(format!("Ranked without access history: {error}")),
        };
        retriever = match annotations(project) {
            Ok(Some(annotations)) => retriever.with_annotations(Arc::new(annotations)),
            Ok(None) => retriever,
            Err(error) => retriever.with_note(format!("Searched without tags: {}", chain(&error))),
        };
        Ok(Self { project: project.clone(), retriever, embedder, notice, access })
    }

    /// Adds a check of the programs of stages. An answer that depends on a column has a note if the program that made
    /// the values of the column has changed since, or if the index was imported and the program is not allowed.
    #[must_use]
    pub fn with_program_changes(self) -> Self {
        if self.snapshot().manifest().columns.is_empty() {
            return self;
        }
        // The code that updates the index reports errors of the pipeline.
        let options = self.project.options_without_programs().ok();
        let changed = options.as_ref().and_then(|options| programs::changed_since(self.snapshot(), options).ok());
        // The next run marks the columns of these programs as stale.
        let imported = options.filter(|_| self.snapshot().manifest().imported);
        let refused = imported.and_then(|options| programs::untrusted(&options).ok());
        let retriever = self.retriever.with_changed_stages(changed.unwrap_or_default());
        Self { retriever: retriever.with_refused_stages(refused.unwrap_or_default()), ..self }
    }

    /// The notice for the user about the embedder.
    pub fn notice(&self) -> Option<&EmbedderNotice> {
        self.notice.as_ref()
    }

    /// The embedder of queries.
    pub fn embedder(&self) -> Option<&IndexEmbedder> {
        self.embedder.as_ref()
    }

    /// The project.
    pub fn project(&self) -> &Project {
        &self.project
    }

    /// The generation that is searched.
    pub fn snapshot(&self) -> &Snapshot {
        self.retriever.snapshot()
    }

    /// The configuration in use.
    pub fn config(&self) -> &SearchConfig {
        self.retriever.config()
    }

    /// The access history: the results that were shown and judged before.
    ///
    /// # Errors
    /// Returns the reason why the history cannot be used, with a remedy.
    pub fn access(&self) -> Result<&AccessLog, &str> {
        self.access.as_deref().map_err(String::as_str)
    }

    /// The resolver for names of chunks and paths below the root.
    pub fn names(&self) -> Names<'_> {
        Names { snapshot: self.snapshot(), root: self.project.root(), from: None, work: None }
    }

    /// The retriever, which answers questions about this generation alone.
    pub(crate) fn retriever(&self) -> &Retriever {
        &self.retriever
    }

    /// Records the shown results, at the time `now`. A search never fails because of an error here, so that a read-only
    /// index can be searched.
    pub fn record<'k>(&self, keys: impl Iterator<Item = &'k str>, now: i64) {
        if let Ok(access) = &self.access {
            let shown: Vec<(&str, i64)> = keys.map(|key| (key, now)).collect();
            let _ = access.record(&shown);
        }
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
    /// The texts.
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
}

impl<'a> PackedAnswer<'a> {
    /// The value of `token_count`.
    const ESTIMATE: &'static str =
        "estimate: letters/8, digits/3, marks/3, other bytes/2, rounded up by run, and 1 a line";

    /// Makes an answer from the texts of results.
    pub fn new(found: &'a SearchResults, context: &'a Context) -> Self {
        Self {
            query: &found.query,
            mode: found.mode,
            context,
            token_count: Self::ESTIMATE,
            notes: &found.notes,
            stages: found.stages,
            index: found.index.as_ref(),
            roots: &found.roots,
            took_ms: found.took.as_secs_f64() * 1e3,
        }
    }
}
