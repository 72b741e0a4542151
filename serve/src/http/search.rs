//! Answers single searches and batches of searches.

use std::sync::Arc;

use aurora_mcp::AgentSearch;
use aurora_memory::DATA_NOTICE;
use aurora_project::{Interface, PackedAnswer, SearchRequest};
use aurora_query::{Context, FilterSpec, Group, Mode, Query, QueryError, SearchResults, WorkBudget};
use axum::extract::State as Shared;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::answer::{Answer, JsonBuffer};
use crate::http::batch;
use crate::http::extract::{Body, one_or_more};
use crate::options::Limits;
use crate::problem::Problem;
use crate::state::{RequestWork, State};

/// Maximum token budget of a search.
pub(crate) const MAX_TOKENS: usize = 1_000_000;
/// Maximum number of lines in a snippet.
const MAX_SNIPPET_LINES: usize = 100;

/// A search.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SearchBody {
    /// Words or an identifier to search for. Optional if a filter is given: `type`,
    /// `lang`, `path`, `where`, `grep` or `fixed`.
    #[serde(default)]
    #[schema(example = "where is the cache written", max_length = 16384)]
    query: String,
    /// Maximum number of results; by default 10, or 100 with a budget.
    #[schema(minimum = 1)]
    limit: Option<usize>,
    /// The scores to use; `hybrid` by default.
    mode: Option<Mode>,
    /// The unit of results; `chunk` by default.
    group: Option<Group>,
    /// Types of chunks; `code` means every type of source code.
    #[serde(default, rename = "type", deserialize_with = "one_or_more")]
    types: Vec<String>,
    /// Languages, by name, by file extension or by another name such as `golang`.
    #[serde(default, deserialize_with = "one_or_more")]
    lang: Vec<String>,
    /// Paths below the root, or glob patterns for paths. An absolute path must be below the root.
    #[serde(default, deserialize_with = "one_or_more")]
    path: Vec<String>,
    /// Conditions on columns; all must be met. Examples: `owner=payments`, `owner!=payments`, `owner in
    /// payments,billing`, `owner=none` (no value), `churn>5`, `churn in 1..5`.
    #[serde(default, rename = "where", deserialize_with = "one_or_more")]
    where_: Vec<String>,
    /// Regular expressions that must all match the text.
    #[serde(default, deserialize_with = "one_or_more")]
    grep: Vec<String>,
    /// Strings that the text must all contain.
    #[serde(default, deserialize_with = "one_or_more")]
    fixed: Vec<String>,
    /// Maximum number of tokens. With this budget, the answer contains texts instead of a list of results.
    #[schema(minimum = 1, maximum = 1_000_000)]
    budget: Option<usize>,
    /// Whether results include the full texts of chunks.
    #[serde(default)]
    content: bool,
    /// Maximum number of lines in a snippet; 3 by default.
    #[schema(maximum = 100)]
    snippets: Option<usize>,
    /// Whether snippet lines include tokens, for syntax highlighting.
    #[serde(default)]
    highlight: bool,
    /// Whether the answer includes the number of matching chunks by type, language and directory.
    #[serde(default)]
    facets: bool,
    /// Names of the roots to search; all by default. The name of a group or an owner of a catalogue selects its roots.
    /// The results of several roots are ranked together.
    #[serde(default, deserialize_with = "one_or_more")]
    root: Vec<String>,
    /// Groups of a catalogue; only roots of one of the groups are searched.
    #[serde(default, deserialize_with = "one_or_more")]
    groups: Vec<String>,
    /// Owners of a catalogue; only roots of one of the owners are searched.
    #[serde(default, deserialize_with = "one_or_more")]
    owners: Vec<String>,
    /// Whether to search memory as well: the shared entries and the entries of `session`. Memory requires the token of
    /// the server. The answer contains the `source` of each result.
    #[serde(default)]
    memory: bool,
    /// Id of a session whose private entries are found as well; requires `memory`.
    session: Option<String>,
    /// Whether the results are recorded as accessed, which raises their rank in later searches; true by default.
    #[serde(default = "yes")]
    record: bool,
}

fn yes() -> bool {
    true
}

/// The results of a search, or their texts if the search has a budget.
#[derive(Serialize, ToSchema)]
#[serde(untagged)]
#[allow(dead_code, clippy::large_enum_variant, reason = "it is only the schema of the answer of `search`")]
enum SearchAnswer<'a> {
    Results(SearchResults),
    Texts(PackedAnswer<'a>),
}

/// Several searches in one request.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct BatchBody {
    /// The searches.
    #[schema(min_items = 1)]
    queries: Vec<SearchBody>,
}

/// The answers to several searches.
#[derive(Serialize, ToSchema)]
#[allow(dead_code, reason = "it is only the schema of the answer of `batch`")]
struct BatchAnswer<'a> {
    /// One answer for each search, in the order of the searches.
    answers: Vec<BatchItem<'a>>,
}

/// The answer to one search of a batch, or its error.
#[derive(Serialize, ToSchema)]
#[serde(untagged)]
#[allow(dead_code, reason = "it is only the schema of the answer of `batch`")]
enum BatchItem<'a> {
    Answer(Box<SearchAnswer<'a>>),
    Problem(Problem),
}

/// Searches the index.
#[utoipa::path(
    post,
    path = "/api/v1/search",
    tag = "search",
    request_body = SearchBody,
    responses(
        (status = 200, description = "The results, best first", body = SearchAnswer<'static>),
        (status = 400, description = "The body is not JSON", body = Problem),
        (status = 403, description = "The search includes memory, and the server has no token", body = Problem),
        (status = 404, description = "There is no such root or session", body = Problem),
        (status = 422, description = "The search is invalid, or its answer is too large", body = Problem),
        (status = 503, description = "There is no index, or too many requests are waiting", body = Problem),
    )
)]
pub(crate) async fn search(Shared(state): Shared<Arc<State>>, body: Body<SearchBody>) -> Result<Answer, Problem> {
    let search = move |state: &State, request: &RequestWork| {
        let (body, options) = (body.parse()?, &state.options);
        let search = search_request(&body, &options.limits, request.budget.clone())?;
        let mut answer = JsonBuffer::new(options.limits.answer);
        let found = Found::new(&search, &body, state)?;
        found.write(body.record && !options.read_only, &mut answer)?;
        Ok(answer.into_bytes())
    };
    state.send(state.work(search).await?)
}

/// Performs several searches. If a search fails, the others are not affected.
#[utoipa::path(
    post,
    path = "/api/v1/search/batch",
    tag = "search",
    request_body = BatchBody,
    responses(
        (status = 200, description = "One answer for each search", body = BatchAnswer<'static>),
        (status = 400, description = "The body is not JSON", body = Problem),
        (status = 422, description = "There are no searches, or too many", body = Problem),
        (status = 503, description = "Too many requests are waiting", body = Problem),
    )
)]
pub(crate) async fn batch(Shared(state): Shared<Arc<State>>, body: Body<BatchBody>) -> Result<Answer, Problem> {
    let search = move |state: &State, request: &RequestWork| {
        let (queries, options) = (body.parse()?.queries, &state.options);
        let find = |query: &SearchBody| {
            request.budget.check()?;
            let search = search_request(query, &options.limits, request.budget.clone())?;
            Found::new(&search, query, state)
        };
        let write = |query: &SearchBody, found: Found<'_>, answers: &mut JsonBuffer| {
            found.write(query.record && !options.read_only, answers)
        };
        batch::answers(&queries, (&options.limits, request), find, write)
    };
    state.send(state.work(search).await?)
}

/// Checks the values of a search.
fn search_request(body: &SearchBody, limits: &Limits, work: WorkBudget) -> Result<SearchRequest, Problem> {
    let mut filter = FilterSpec {
        types: body.types.clone(),
        languages: body.lang.clone(),
        paths: body.path.clone(),
        grep: body.grep.clone(),
        fixed: body.fixed.clone(),
        ..FilterSpec::default()
    };
    for condition in &body.where_ {
        filter.add_condition(condition).map_err(QueryError::Filter)?;
    }
    if body.query.trim().is_empty() && filter.is_empty() {
        return Err(QueryError::Empty.into());
    }
    QueryError::check_length(&body.query)?;
    let within = |name: &str, value: Option<usize>, range: std::ops::RangeInclusive<usize>| match value {
        Some(value) if !range.contains(&value) => {
            Err(Problem::invalid(format!("`{name}` must be a number from {} to {}", range.start(), range.end())))
        }
        _ => Ok(value),
    };
    if body.session.is_some() && !body.memory {
        return Err(Problem::invalid("`session` requires `memory`"));
    }
    let budget = within("budget", body.budget, 1..=MAX_TOKENS)?;
    let limit = within("limit", body.limit, 1..=limits.results)?;
    let snippets = within("snippets", body.snippets, 0..=MAX_SNIPPET_LINES)?;
    let query = Query {
        limit: limit.unwrap_or_else(|| SearchRequest::default_limit(budget)),
        mode: body.mode.unwrap_or_default(),
        group: body.group.unwrap_or_default(),
        filter,
        content: body.content,
        facets: body.facets,
        work,
        ..Query::new(body.query.clone(), aurora_clock::now_seconds())
    };
    let defaults = SearchRequest::new(query);
    Ok(SearchRequest {
        highlight: body.highlight,
        snippet_lines: if budget.is_some() { 0 } else { snippets.unwrap_or(defaults.snippet_lines) },
        ..defaults
    })
}

/// The results of a search, or their texts if the search has a budget.
struct Found<'a> {
    search: AgentSearch<'a>,
    results: SearchResults,
    packed: Option<Context>,
    now: i64,
}

impl<'a> Found<'a> {
    fn new(request: &SearchRequest, body: &SearchBody, state: &'a State) -> Result<Self, Problem> {
        let roots = state.options.roots.select(&body.root)?.with_labels(&body.groups, &body.owners)?;
        let memory = if body.memory { Some(state.agent_memory()?) } else { None };
        let mut search = AgentSearch::open(&roots, memory, body.session.as_deref())?;
        let mut results = search.search(request)?;
        results.notes.splice(0..0, search.root_notes().iter().chain(search.memory_notes()).cloned());
        if memory.is_some() {
            results.notes.push(format!("Memory was searched as well. {DATA_NOTICE}"));
        }
        let pack = |budget| search.searchers().packed(&results, budget, &request.query.work);
        let packed = body.budget.map(pack).transpose()?;
        Ok(Self { search, results, packed, now: request.query.now })
    }

    /// Appends the answer to `out`, and records the results as accessed if `records` is true.
    fn write(&self, records: bool, out: &mut JsonBuffer) -> Result<(), Problem> {
        let Self { search, results, packed, now } = self;
        match packed {
            None => out.push(results)?,
            Some(packed) => out.push(&PackedAnswer::new(results, packed))?,
        }
        match packed {
            _ if !records => {}
            None => search.record(&results.query, results.shown(), *now),
            Some(packed) => search.record(&results.query, packed.shown(), *now),
        }
        search.roots().searched(Interface::Http, results, records, *now);
        Ok(())
    }
}
