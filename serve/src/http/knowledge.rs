//! Manages sessions of knowledge articles, and searches within a session.

use std::sync::Arc;

use aurora_articles::{
    AddedArticle, Article, ArticleAnswer, ArticleError, ArticleList, ArticleRequest, Session, SessionStats,
};
use axum::extract::State as Shared;
use axum::http::StatusCode;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::answer::{Answer, JsonBuffer};
use crate::http::batch;
use crate::http::extract::{Body, PathParts};
use crate::problem::Problem;
use crate::state::{RequestWork, State};

/// Maximum number of results of a search.
const MAX_TOP_K: usize = 50;
/// Maximum length of a query, in characters.
const MAX_QUERY_CHARS: usize = 1_000;
/// Maximum length of the title of an article, in characters.
const MAX_TITLE_CHARS: usize = 1_000;
/// Maximum length of the address of an article, in characters.
const MAX_URL_CHARS: usize = 4_096;

/// A new session.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct NewSession {
    /// Number of the session.
    id: u64,
}

/// The list of sessions.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct SessionList {
    /// Numbers of the sessions, ascending.
    sessions: Vec<u64>,
}

/// Creates a session.
#[utoipa::path(
    post,
    path = "/api/v1/sessions",
    tag = "knowledge",
    responses(
        (status = 201, description = "The session was created", body = NewSession),
        (status = 403, description = "The server is read-only", body = Problem),
        (status = 503, description = "The sessions cannot be used here, or another server changes them", body = Problem),
    )
)]
pub(crate) async fn create(Shared(state): Shared<Arc<State>>) -> Result<(StatusCode, Answer), Problem> {
    let created = state.answer(|state, _| Ok(NewSession { id: state.writable_knowledge()?.create()? })).await?;
    Ok((StatusCode::CREATED, created))
}

/// Lists the sessions.
#[utoipa::path(
    get,
    path = "/api/v1/sessions",
    tag = "knowledge",
    responses(
        (status = 200, description = "The sessions", body = SessionList),
        (status = 503, description = "The sessions cannot be used here", body = Problem),
    )
)]
pub(crate) async fn list(Shared(state): Shared<Arc<State>>) -> Result<Answer, Problem> {
    state.answer(|state, _| Ok(SessionList { sessions: state.knowledge()?.ids()? })).await
}

/// Removes a session and all its articles.
#[utoipa::path(
    delete,
    path = "/api/v1/sessions/{id}",
    tag = "knowledge",
    params(("id" = u64, Path, description = "The session")),
    responses(
        (status = 204, description = "It was removed"),
        (status = 403, description = "The server is read-only", body = Problem),
        (status = 404, description = "There is no such session", body = Problem),
        (status = 422, description = "The number is invalid", body = Problem),
        (status = 503, description = "Another server changes the sessions", body = Problem),
    )
)]
pub(crate) async fn remove(
    Shared(state): Shared<Arc<State>>,
    PathParts(id): PathParts<u64>,
) -> Result<StatusCode, Problem> {
    state.work(move |state, request| Ok(state.writable_knowledge()?.remove(id, &request.cancel)?)).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Adds an article to a session. When the answer arrives, the article is durable and can be found.
#[utoipa::path(
    post,
    path = "/api/v1/sessions/{id}/articles",
    tag = "knowledge",
    params(("id" = u64, Path, description = "The session")),
    request_body = Article,
    responses(
        (status = 201, description = "The article was added", body = AddedArticle),
        (status = 400, description = "The body is not JSON", body = Problem),
        (status = 403, description = "The server is read-only", body = Problem),
        (status = 404, description = "There is no such session", body = Problem),
        (status = 422, description = "The article is invalid", body = Problem),
        (status = 503, description = "Another server changes the sessions, or too many changes are waiting", body = Problem),
    )
)]
pub(crate) async fn add(
    Shared(state): Shared<Arc<State>>,
    PathParts(id): PathParts<u64>,
    body: Body<Article>,
) -> Result<(StatusCode, Answer), Problem> {
    let read = move |state: &State, request: &RequestWork| {
        let article = body.parse()?;
        within("title", &article.title, MAX_TITLE_CHARS)?;
        within("url", article.url.as_deref().unwrap_or_default(), MAX_URL_CHARS)?;
        Ok((state.writable_knowledge()?.session(id, &request.cancel)?, article))
    };
    let added = state
        .change(read, |(session, article): (Arc<Session>, Article)| async move { session.add(article).await })
        .await?;
    Ok((StatusCode::CREATED, added))
}

/// Lists the articles of a session.
#[utoipa::path(
    get,
    path = "/api/v1/sessions/{id}/articles",
    tag = "knowledge",
    params(("id" = u64, Path, description = "The session")),
    responses(
        (status = 200, description = "The articles", body = ArticleList),
        (status = 404, description = "There is no such session", body = Problem),
        (status = 422, description = "The number is invalid", body = Problem),
    )
)]
pub(crate) async fn articles(
    Shared(state): Shared<Arc<State>>,
    PathParts(id): PathParts<u64>,
) -> Result<Answer, Problem> {
    state
        .answer(move |state, request| Ok(state.knowledge()?.session(id, &request.cancel)?.articles(&request.budget)?))
        .await
}

/// Removes an article from a session. When the answer arrives, the removal is durable, and no later search finds the
/// article.
#[utoipa::path(
    delete,
    path = "/api/v1/sessions/{id}/articles/{article_id}",
    tag = "knowledge",
    params(("id" = u64, Path, description = "The session"), ("article_id" = u64, Path, description = "The article")),
    responses(
        (status = 204, description = "It was removed"),
        (status = 403, description = "The server is read-only", body = Problem),
        (status = 404, description = "There is no such session or article", body = Problem),
        (status = 422, description = "A number is invalid", body = Problem),
        (status = 503, description = "Another server changes the sessions, or too many changes are waiting", body = Problem),
    )
)]
pub(crate) async fn remove_article(
    Shared(state): Shared<Arc<State>>,
    PathParts((id, article)): PathParts<(u64, u64)>,
) -> Result<StatusCode, Problem> {
    let open =
        move |state: &State, request: &RequestWork| Ok(state.writable_knowledge()?.session(id, &request.cancel)?);
    state.change(open, |session: Arc<Session>| async move { session.remove(article).await }).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Searches the articles of a session. If the session does not exist, there are no results.
#[utoipa::path(
    post,
    path = "/api/v1/sessions/{id}/search",
    tag = "knowledge",
    params(("id" = u64, Path, description = "The session")),
    request_body = ArticleRequest,
    responses(
        (status = 200, description = "The results", body = ArticleAnswer),
        (status = 400, description = "The body is not JSON", body = Problem),
        (status = 422, description = "The search is invalid", body = Problem),
        (status = 503, description = "Too many requests are waiting", body = Problem),
    )
)]
pub(crate) async fn search(
    Shared(state): Shared<Arc<State>>,
    PathParts(id): PathParts<u64>,
    body: Body<ArticleRequest>,
) -> Result<Answer, Problem> {
    let search = move |state: &State, request: &RequestWork| {
        let body = body.parse()?;
        check_search(&body)?;
        tracing::info!(target: aurora_project::QUERY_LOG, query = body.query, session = id, "search");
        find(session_of(state, id, request)?.as_deref(), &body, request)
    };
    state.answer(search).await
}

/// Several searches in one session.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct KnowledgeBatchBody {
    /// The searches.
    #[schema(min_items = 1)]
    queries: Vec<ArticleRequest>,
}

/// The answers to several searches in a session.
#[derive(Serialize, ToSchema)]
#[allow(dead_code, reason = "it is only the schema of the answer of `search_batch`")]
struct KnowledgeBatchAnswer {
    /// One answer for each search, in the order of the searches.
    answers: Vec<KnowledgeBatchItem>,
}

/// The answer to one search of a batch, or its error.
#[derive(Serialize, ToSchema)]
#[serde(untagged)]
#[allow(dead_code, reason = "it is only the schema of the answer of `search_batch`")]
enum KnowledgeBatchItem {
    Answer(ArticleAnswer),
    Problem(Problem),
}

/// Performs several searches in a session. If a search fails, the others are not affected. If the session does not
/// exist, there are no results.
#[utoipa::path(
    post,
    path = "/api/v1/sessions/{id}/search/batch",
    tag = "knowledge",
    params(("id" = u64, Path, description = "The session")),
    request_body = KnowledgeBatchBody,
    responses(
        (status = 200, description = "One answer for each search", body = KnowledgeBatchAnswer),
        (status = 400, description = "The body is not JSON", body = Problem),
        (status = 422, description = "There are no searches, or too many", body = Problem),
        (status = 503, description = "Too many requests are waiting", body = Problem),
    )
)]
pub(crate) async fn search_batch(
    Shared(state): Shared<Arc<State>>,
    PathParts(id): PathParts<u64>,
    body: Body<KnowledgeBatchBody>,
) -> Result<Answer, Problem> {
    let search = move |state: &State, request: &RequestWork| {
        let queries = body.parse()?.queries;
        let session = session_of(state, id, request)?;
        let find = |query: &ArticleRequest| {
            request.budget.check()?;
            check_search(query)?;
            find(session.as_deref(), query, request)
        };
        let write = |_: &ArticleRequest, found: ArticleAnswer, answers: &mut JsonBuffer| answers.push(&found);
        batch::answers(&queries, (&state.options.limits, request), find, write)
    };
    state.send(state.work(search).await?)
}

/// Checks the values of a search.
fn check_search(body: &ArticleRequest) -> Result<(), Problem> {
    if body.query.trim().is_empty() {
        return Err(Problem::invalid("`query` is empty"));
    }
    within("query", &body.query, MAX_QUERY_CHARS)?;
    match body.top_k {
        1..=MAX_TOP_K => Ok(()),
        _ => Err(Problem::invalid(format!("`top_k` must be a number from 1 to {MAX_TOP_K}"))),
    }
}

/// Returns a session; `None` if it does not exist.
fn session_of(state: &State, id: u64, request: &RequestWork) -> Result<Option<Arc<Session>>, Problem> {
    match state.knowledge()?.session(id, &request.cancel) {
        Ok(session) => Ok(Some(session)),
        Err(ArticleError::NoSession(_)) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

fn find(session: Option<&Session>, body: &ArticleRequest, request: &RequestWork) -> Result<ArticleAnswer, Problem> {
    match session {
        Some(session) => Ok(session.search(body, &request.budget)?),
        None => Ok(ArticleAnswer::empty(body)),
    }
}

/// Returns statistics of a session. If the session does not exist, all numbers are 0.
#[utoipa::path(
    get,
    path = "/api/v1/sessions/{id}/search/stats",
    tag = "knowledge",
    params(("id" = u64, Path, description = "The session")),
    responses(
        (status = 200, description = "The statistics", body = SessionStats),
        (status = 422, description = "The number is invalid", body = Problem),
    )
)]
pub(crate) async fn stats(Shared(state): Shared<Arc<State>>, PathParts(id): PathParts<u64>) -> Result<Answer, Problem> {
    let stats = move |state: &State, request: &RequestWork| match state.knowledge()?.session(id, &request.cancel) {
        Ok(session) => Ok(session.stats()?),
        Err(ArticleError::NoSession(_)) => Ok(SessionStats::missing(id)),
        Err(error) => Err(error.into()),
    };
    state.answer(stats).await
}

fn within(name: &str, text: &str, max_chars: usize) -> Result<(), Problem> {
    if text.chars().count() > max_chars {
        return Err(Problem::invalid(format!("`{name}` has more than {max_chars} characters")));
    }
    Ok(())
}
