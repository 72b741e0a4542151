//! Searching a project: what a request asks for, and the answer in the form that every interface gives.

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

/// Results by default, and those that are considered for a token budget.
const DEFAULT_LIMIT: usize = 10;
const BUDGET_LIMIT: usize = 100;
/// Lines of a snippet for programs.
const SNIPPET_LINES: usize = 3;

/// What is asked of a project.
#[derive(Debug, Clone)]
pub struct SearchRequest {
    /// The query.
    pub text: String,
    /// Most results.
    pub limit: usize,
    /// Which scores to use.
    pub mode: Mode,
    /// What takes a place in the list.
    pub group: Group,
    /// Which chunks may be found.
    pub filter: FilterSpec,
    /// Whether results carry the chunks' full text.
    pub content: bool,
    /// Most lines of a snippet; 0 for none.
    pub snippet_lines: usize,
    /// Whether the lines of snippets carry their tokens, for syntax highlighting.
    pub highlight: bool,
    /// Whether matching chunks are counted by type, language and directory.
    pub facets: bool,
    /// The work that the request may cause.
    pub work: WorkBudget,
}

impl SearchRequest {
    /// A request with the defaults for programs.
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

    /// The limit of a request that does not give one. For a token budget many results are considered.
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
    /// The access history, or the reason why it cannot be used. Without it, results are ranked as if nothing
    /// had been shown before.
    access: Result<Arc<AccessLog>, String>,
}

impl Searcher {
    /// Makes a generation ready for searches in `mode` with `config`. Without the embedder of its vectors, hybrid
    /// searches rank by keywords, and [`Self::notice`] gives the reason. An access history or tags that cannot be used
    /// are left out, and every answer has a note with the reason.
    ///
    /// # Errors
    /// In mode `dense`, when the embedder cannot be used.
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

    /// The same with a look at the programs of stages: an answer that depends on a column has a note if the program that made its
    /// values has changed since, or if the index was imported and the program is not allowed.
    #[must_use]
    pub fn with_program_changes(self) -> Self {
        if self.snapshot().manifest().columns.is_empty() {
            return self;
        }
        // A pipeline that is wrong is reported by whoever updates the index.
        let options = self.project.options_without_programs().ok();
        let changed = options.as_ref().and_then(|options| programs::changed_since(self.snapshot(), options).ok());
        // The next run marks the columns of such programs as stale.
        let imported = options.filter(|_| self.snapshot().manifest().imported);
        let refused = imported.and_then(|options| programs::untrusted(&options).ok());
        let retriever = self.retriever.with_changed_stages(changed.unwrap_or_default());
        Self { retriever: retriever.with_refused_stages(refused.unwrap_or_default()), ..self }
    }

    /// What the user should know about the embedder.
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
    /// The reason why it cannot be used, and a remedy.
    pub fn access(&self) -> Result<&AccessLog, &str> {
        self.access.as_deref().map_err(String::as_str)
    }

    /// What names of chunks and paths below the root mean.
    pub fn names(&self) -> Names<'_> {
        Names { snapshot: self.snapshot(), root: self.project.root(), from: None, work: None }
    }

    /// What answers questions about this generation alone.
    pub(crate) fn retriever(&self) -> &Retriever {
        &self.retriever
    }

    /// Remembers what was shown, at `now`. A search never fails because of it: a read-only index can be searched nevertheless.
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
    /// The query as it was given.
    pub query: &'a str,
    /// The mode that was asked for.
    pub mode: Mode,
    /// The texts.
    #[serde(flatten)]
    pub context: &'a Context,
    /// How tokens are counted.
    pub token_count: &'static str,
    /// What a user should know about the answer.
    pub notes: &'a [String],
    /// How many chunks each stage looked at.
    pub stages: StageCounts,
    /// The generation that answered; `None` where several roots were searched.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub index: Option<&'a IndexInfo>,
    /// The roots that were searched, where there are several.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    pub roots: &'a [RootInfo],
    /// How long the search took, in milliseconds.
    pub took_ms: f64,
}

impl<'a> PackedAnswer<'a> {
    /// The value of `token_count`.
    const ESTIMATE: &'static str =
        "estimate: letters/8, digits/3, marks/3, other bytes/2, rounded up by run, and 1 a line";

    /// The texts of results as an answer.
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
