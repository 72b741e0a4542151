//! Searches, one by one or several at once.

use std::sync::Arc;

use aurora_live::{OpenedRoots, Roots};
use aurora_project::{PackedAnswer, SearchRequest};
use aurora_query::{FilterSpec, Group, Mode, QueryError, SearchResults};
use axum::extract::State as Shared;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::http::extract::{Body, one_or_more};
use crate::options::Limits;
use crate::problem::Problem;
use crate::state::State;

/// Most tokens of an answer, and most lines of a snippet.
const MOST_TOKENS: usize = 1_000_000;
const MOST_SNIPPET_LINES: usize = 100;

/// A search.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SearchBody {
    /// What is looked for, in words or as an identifier. May be left out where there is a filter: `type`,
    /// `lang`, `path`, `where`, `grep` or `fixed`.
    #[serde(default)]
    #[schema(example = "where is the cache written", max_length = 16384)]
    query: String,
    /// Most results; 10 unless given, 100 for a budget.
    #[schema(minimum = 1)]
    limit: Option<usize>,
    /// Which scores to use; `hybrid` unless given.
    mode: Option<SearchMode>,
    /// What takes a place in the list; `chunk` unless given.
    group: Option<SearchGroup>,
    /// Types of chunks; `code` stands for every type of source code.
    #[serde(default, rename = "type", deserialize_with = "one_or_more")]
    types: Vec<String>,
    /// Languages.
    #[serde(default, deserialize_with = "one_or_more")]
    lang: Vec<String>,
    /// Globs over paths below the root.
    #[serde(default, deserialize_with = "one_or_more")]
    path: Vec<String>,
    /// Conditions over columns, all required: `owner=payments`, `owner!=payments`, `owner in payments,billing`, `owner=none`
    /// (no value), `churn>5`, `churn in 1..5`.
    #[serde(default, rename = "where", deserialize_with = "one_or_more")]
    where_: Vec<String>,
    /// Regular expressions that the text must match, every one of them.
    #[serde(default, deserialize_with = "one_or_more")]
    grep: Vec<String>,
    /// Texts that the text must hold, every one of them.
    #[serde(default, deserialize_with = "one_or_more")]
    fixed: Vec<String>,
    /// Texts of the results in so many tokens, in place of a list.
    #[schema(minimum = 1, maximum = 1_000_000)]
    budget: Option<usize>,
    /// Whether results carry the chunks' full text.
    #[serde(default)]
    content: bool,
    /// Most lines of a snippet; 3 unless given.
    #[schema(maximum = 100)]
    snippets: Option<usize>,
    /// Whether the lines of snippets carry their tokens, for syntax highlighting.
    #[serde(default)]
    highlight: bool,
    /// Whether the answer counts the matching chunks by type, language and directory.
    #[serde(default)]
    facets: bool,
    /// Names of roots to search; all of them unless given. Several are searched as one.
    #[serde(default, deserialize_with = "one_or_more")]
    root: Vec<String>,
    /// Whether the results are recorded as shown, which raises them in later searches; true unless given.
    #[serde(default = "yes")]
    record: bool,
}

fn yes() -> bool {
    true
}

/// Which scores a search uses.
#[derive(Debug, Clone, Copy, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
enum SearchMode {
    Hybrid,
    Sparse,
    Dense,
}

/// What takes a place in the list of results.
#[derive(Debug, Clone, Copy, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
enum SearchGroup {
    Chunk,
    File,
}

/// The results of a search, or their texts where it has a budget.
#[derive(Serialize, ToSchema)]
#[serde(untagged)]
#[allow(dead_code, clippy::large_enum_variant, reason = "it is the schema of what `answer` writes")]
enum SearchAnswer<'a> {
    Results(SearchResults),
    Texts(PackedAnswer<'a>),
}

/// Several searches.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct BatchBody {
    /// The searches.
    #[schema(min_items = 1)]
    queries: Vec<SearchBody>,
}

/// The answers to several searches.
#[derive(Serialize, ToSchema)]
#[allow(dead_code, reason = "it is the schema of what `batch` writes")]
struct BatchAnswer<'a> {
    /// One answer for each search, in their order.
    answers: Vec<BatchItem<'a>>,
}

/// An answer, or why there is none.
#[derive(Serialize, ToSchema)]
#[serde(untagged)]
#[allow(dead_code, reason = "it is the schema of what `batch` writes")]
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
        (status = 200, description = "The results, the best first", body = SearchAnswer<'static>),
        (status = 400, description = "The body is no JSON", body = Problem),
        (status = 404, description = "There is no such root", body = Problem),
        (status = 422, description = "The search cannot be understood", body = Problem),
        (status = 503, description = "There is no index, or too many requests wait", body = Problem),
    )
)]
pub(crate) async fn search(
    Shared(state): Shared<Arc<State>>,
    Body(body): Body<SearchBody>,
) -> Result<Response, Problem> {
    let asked = Asked::new(&body, &state.options.limits)?;
    if state.options.log_queries {
        tracing::info!(query = body.query, "search");
    }
    let records = body.record && !state.options.read_only;
    let roots = state.options.roots.select(&body.root)?;
    let answer = state.work(move || asked.answer(&roots, records)).await?;
    Ok(json(answer))
}

/// Searches the index several times. A search that fails does not end the others.
#[utoipa::path(
    post,
    path = "/api/v1/search/batch",
    tag = "search",
    request_body = BatchBody,
    responses(
        (status = 200, description = "One answer for each search", body = BatchAnswer<'static>),
        (status = 400, description = "The body is no JSON", body = Problem),
        (status = 422, description = "There are no searches, or too many", body = Problem),
        (status = 503, description = "Too many requests wait", body = Problem),
    )
)]
pub(crate) async fn batch(Shared(state): Shared<Arc<State>>, Body(body): Body<BatchBody>) -> Result<Response, Problem> {
    let limits = state.options.limits;
    if body.queries.is_empty() || body.queries.len() > limits.batch {
        return Err(Problem::invalid(format!("a batch has 1 to {} searches", limits.batch)));
    }
    let shared = Arc::clone(&state);
    let answers = state
        .work(move || {
            let mut answers = b"{\"answers\":[".to_vec();
            for (at, query) in body.queries.iter().enumerate() {
                if at > 0 {
                    answers.push(b',');
                }
                let records = query.record && !shared.options.read_only;
                let answer = Asked::new(query, &limits)
                    .and_then(|asked| asked.answer(&shared.options.roots.select(&query.root)?, records));
                answers.extend(answer.or_else(|problem| written(&problem))?);
            }
            answers.extend(b"]}");
            Ok(answers)
        })
        .await?;
    Ok(json(answers))
}

/// A search that is known to be well formed.
struct Asked {
    request: SearchRequest,
    budget: Option<usize>,
}

impl Asked {
    fn new(body: &SearchBody, limits: &Limits) -> Result<Self, Problem> {
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
        filter.check().map_err(QueryError::Filter)?;
        if body.query.trim().is_empty() && filter.is_empty() {
            return Err(Problem::of_query(&QueryError::Empty));
        }
        QueryError::check_length(&body.query)?;
        let within = |name: &str, value: Option<usize>, range: std::ops::RangeInclusive<usize>| match value {
            Some(value) if !range.contains(&value) => {
                Err(Problem::invalid(format!("`{name}` is a number from {} to {}", range.start(), range.end())))
            }
            _ => Ok(value),
        };
        let budget = within("budget", body.budget, 1..=MOST_TOKENS)?;
        let limit = within("limit", body.limit, 1..=limits.results)?;
        let snippets = within("snippets", body.snippets, 0..=MOST_SNIPPET_LINES)?;
        let defaults = SearchRequest::new(body.query.clone());
        let request = SearchRequest {
            limit: limit.unwrap_or_else(|| SearchRequest::default_limit(budget)),
            mode: match body.mode {
                None | Some(SearchMode::Hybrid) => Mode::Hybrid,
                Some(SearchMode::Sparse) => Mode::Sparse,
                Some(SearchMode::Dense) => Mode::Dense,
            },
            group: match body.group {
                None | Some(SearchGroup::Chunk) => Group::Chunk,
                Some(SearchGroup::File) => Group::File,
            },
            filter,
            content: body.content,
            highlight: body.highlight,
            facets: body.facets,
            snippet_lines: if budget.is_some() { 0 } else { snippets.unwrap_or(defaults.snippet_lines) },
            ..defaults
        };
        Ok(Self { request, budget })
    }

    /// The answer in JSON; what it shows is recorded where it `records`.
    fn answer(&self, roots: &Roots, records: bool) -> Result<Vec<u8>, Problem> {
        let now = Timestamp::now().as_second();
        let OpenedRoots { searchers, notes } = roots.open()?;
        let mut found = searchers.search(&self.request, now)?;
        found.notes.splice(0..0, notes);
        let Some(budget) = self.budget else {
            if records {
                roots.record(found.shown(), now);
            }
            return written(&found);
        };
        let packed = searchers.packed(&found, budget)?;
        if records {
            roots.record(packed.shown(), now);
        }
        written(&PackedAnswer::new(&found, &packed))
    }
}

/// A value in JSON.
fn written(value: &impl Serialize) -> Result<Vec<u8>, Problem> {
    serde_json::to_vec(value).map_err(|error| Problem::bug(&error))
}

fn json(bytes: Vec<u8>) -> Response {
    ([(header::CONTENT_TYPE, "application/json")], bytes).into_response()
}
