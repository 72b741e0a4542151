//! Sessions of articles, and search within a session.

use std::sync::Arc;

use aurora_knowledge::{
    AddedArticle, Article, ArticleSummary, KnowledgeAnswer, KnowledgeError, KnowledgeRequest, Session, SessionStats,
};
use aurora_query::Mode;
use axum::Json;
use axum::extract::State as Shared;
use axum::http::StatusCode;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::http::extract::{Body, Place};
use crate::problem::Problem;
use crate::state::State;

/// Results of a search unless it says how many, and most of them.
const DEFAULT_TOP_K: usize = 10;
const MOST_TOP_K: usize = 50;
/// Longest query, in characters.
const LONGEST_QUERY: usize = 1_000;
/// Longest title and address of an article, in characters.
const LONGEST_TITLE: usize = 1_000;
const LONGEST_URL: usize = 4_096;

/// A session that was made.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct NewSession {
    /// Its number.
    id: u64,
}

/// The sessions.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct SessionList {
    /// Their numbers, ascending.
    sessions: Vec<u64>,
}

/// The articles of a session.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ArticleList {
    /// The articles, in the order in which they were added.
    articles: Vec<ArticleSummary>,
}

/// What is asked of a session.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct KnowledgeBody {
    /// The query, in words.
    #[schema(min_length = 1, max_length = 1000)]
    query: String,
    /// Most results; 10 unless given.
    #[schema(minimum = 1, maximum = 50, default = 10)]
    #[serde(default = "default_top_k")]
    top_k: usize,
    /// Whether results carry the chunks' texts.
    #[schema(default = true)]
    #[serde(default = "yes")]
    include_content: bool,
    /// Which orders are used: by meaning, by keywords, or both.
    #[serde(default)]
    search_mode: KnowledgeMode,
    /// Whether the configured reranker reads the best results. It reads queries of five words and more.
    #[serde(default)]
    rerank: bool,
}

/// Which orders are used.
#[derive(Debug, Clone, Copy, Default, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
enum KnowledgeMode {
    /// By meaning.
    Dense,
    /// By keywords.
    Sparse,
    /// Both.
    #[default]
    Hybrid,
}

fn default_top_k() -> usize {
    DEFAULT_TOP_K
}

fn yes() -> bool {
    true
}

/// Makes a session.
#[utoipa::path(
    post,
    path = "/api/v1/sessions",
    tag = "knowledge",
    responses(
        (status = 201, description = "It was made", body = NewSession),
        (status = 403, description = "The server is read-only", body = Problem),
        (status = 503, description = "The sessions cannot be used here, or another server changes them", body = Problem),
    )
)]
pub(crate) async fn create(Shared(state): Shared<Arc<State>>) -> Result<(StatusCode, Json<NewSession>), Problem> {
    let of_work = Arc::clone(&state);
    let id = state.work(move || Ok(of_work.writable_knowledge()?.create()?)).await?;
    Ok((StatusCode::CREATED, Json(NewSession { id })))
}

/// The sessions.
#[utoipa::path(
    get,
    path = "/api/v1/sessions",
    tag = "knowledge",
    responses(
        (status = 200, description = "The sessions", body = SessionList),
        (status = 503, description = "The sessions cannot be used here", body = Problem),
    )
)]
pub(crate) async fn list(Shared(state): Shared<Arc<State>>) -> Result<Json<SessionList>, Problem> {
    let of_work = Arc::clone(&state);
    let sessions = state.work(move || Ok(of_work.knowledge()?.ids()?)).await?;
    Ok(Json(SessionList { sessions }))
}

/// Removes a session with all of its articles.
#[utoipa::path(
    delete,
    path = "/api/v1/sessions/{id}",
    tag = "knowledge",
    params(("id" = u64, Path, description = "The session")),
    responses(
        (status = 204, description = "It is gone"),
        (status = 403, description = "The server is read-only", body = Problem),
        (status = 404, description = "There is no such session", body = Problem),
        (status = 422, description = "The number cannot be understood", body = Problem),
        (status = 503, description = "Another server changes the sessions", body = Problem),
    )
)]
pub(crate) async fn remove(Shared(state): Shared<Arc<State>>, Place(id): Place<u64>) -> Result<StatusCode, Problem> {
    let of_work = Arc::clone(&state);
    state.work(move || Ok(of_work.writable_knowledge()?.remove(id)?)).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Adds an article to a session. When it is answered, the article is durable and can be found.
#[utoipa::path(
    post,
    path = "/api/v1/sessions/{id}/articles",
    tag = "knowledge",
    params(("id" = u64, Path, description = "The session")),
    request_body = Article,
    responses(
        (status = 201, description = "It was added", body = AddedArticle),
        (status = 400, description = "The body is no JSON", body = Problem),
        (status = 403, description = "The server is read-only", body = Problem),
        (status = 404, description = "There is no such session", body = Problem),
        (status = 422, description = "The article cannot be indexed as it is", body = Problem),
        (status = 503, description = "Another server changes the sessions, or too many changes wait", body = Problem),
    )
)]
pub(crate) async fn add(
    Shared(state): Shared<Arc<State>>,
    Place(id): Place<u64>,
    Body(article): Body<Article>,
) -> Result<(StatusCode, Json<AddedArticle>), Problem> {
    within("title", &article.title, LONGEST_TITLE)?;
    within("url", article.url.as_deref().unwrap_or_default(), LONGEST_URL)?;
    let added = session(&state, id).await?.add(article).await?;
    Ok((StatusCode::CREATED, Json(added)))
}

/// The articles of a session.
#[utoipa::path(
    get,
    path = "/api/v1/sessions/{id}/articles",
    tag = "knowledge",
    params(("id" = u64, Path, description = "The session")),
    responses(
        (status = 200, description = "The articles", body = ArticleList),
        (status = 404, description = "There is no such session", body = Problem),
        (status = 422, description = "The number cannot be understood", body = Problem),
    )
)]
pub(crate) async fn articles(
    Shared(state): Shared<Arc<State>>,
    Place(id): Place<u64>,
) -> Result<Json<ArticleList>, Problem> {
    let of_work = Arc::clone(&state);
    let articles = state.work(move || Ok(of_work.knowledge()?.session(id)?.articles()?)).await?;
    Ok(Json(ArticleList { articles }))
}

/// Removes an article of a session. When it is answered, the removal is durable and no later search finds the article.
#[utoipa::path(
    delete,
    path = "/api/v1/sessions/{id}/articles/{article_id}",
    tag = "knowledge",
    params(("id" = u64, Path, description = "The session"), ("article_id" = u64, Path, description = "The article")),
    responses(
        (status = 204, description = "It is gone"),
        (status = 403, description = "The server is read-only", body = Problem),
        (status = 404, description = "There is no such session or article", body = Problem),
        (status = 422, description = "A number cannot be understood", body = Problem),
        (status = 503, description = "Another server changes the sessions, or too many changes wait", body = Problem),
    )
)]
pub(crate) async fn remove_article(
    Shared(state): Shared<Arc<State>>,
    Place((id, article)): Place<(u64, u64)>,
) -> Result<StatusCode, Problem> {
    session(&state, id).await?.remove(article).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Searches the articles of a session. A session that does not exist has no results.
#[utoipa::path(
    post,
    path = "/api/v1/sessions/{id}/search",
    tag = "knowledge",
    params(("id" = u64, Path, description = "The session")),
    request_body = KnowledgeBody,
    responses(
        (status = 200, description = "The results", body = KnowledgeAnswer),
        (status = 400, description = "The body is no JSON", body = Problem),
        (status = 422, description = "The search cannot be understood", body = Problem),
        (status = 503, description = "Too many requests wait", body = Problem),
    )
)]
pub(crate) async fn search(
    Shared(state): Shared<Arc<State>>,
    Place(id): Place<u64>,
    Body(body): Body<KnowledgeBody>,
) -> Result<Json<KnowledgeAnswer>, Problem> {
    if body.query.trim().is_empty() {
        return Err(Problem::invalid("`query` is empty"));
    }
    within("query", &body.query, LONGEST_QUERY)?;
    if !(1..=MOST_TOP_K).contains(&body.top_k) {
        return Err(Problem::invalid(format!("`top_k` is a number from 1 to {MOST_TOP_K}")));
    }
    if state.options.log_queries {
        tracing::info!(query = body.query, session = id, "search");
    }
    let request = KnowledgeRequest {
        query: body.query,
        top_k: body.top_k,
        include_content: body.include_content,
        mode: match body.search_mode {
            KnowledgeMode::Dense => Mode::Dense,
            KnowledgeMode::Sparse => Mode::Sparse,
            KnowledgeMode::Hybrid => Mode::Hybrid,
        },
        rerank: body.rerank,
    };
    let of_work = Arc::clone(&state);
    let search = move || match of_work.knowledge()?.session(id) {
        Ok(session) => Ok(Json(session.search(&request)?)),
        Err(KnowledgeError::NoSession(_)) => Ok(Json(KnowledgeAnswer::empty(&request))),
        Err(error) => Err(error.into()),
    };
    state.work(search).await
}

/// What a session holds. A session that does not exist holds nothing.
#[utoipa::path(
    get,
    path = "/api/v1/sessions/{id}/search/stats",
    tag = "knowledge",
    params(("id" = u64, Path, description = "The session")),
    responses(
        (status = 200, description = "The figures", body = SessionStats),
        (status = 422, description = "The number cannot be understood", body = Problem),
    )
)]
pub(crate) async fn stats(
    Shared(state): Shared<Arc<State>>,
    Place(id): Place<u64>,
) -> Result<Json<SessionStats>, Problem> {
    let of_work = Arc::clone(&state);
    let stats = move || match of_work.knowledge()?.session(id) {
        Ok(session) => Ok(Json(session.stats()?)),
        Err(KnowledgeError::NoSession(_)) => Ok(Json(SessionStats::none(id))),
        Err(error) => Err(error.into()),
    };
    state.work(stats).await
}

/// A session that exists, to be changed.
async fn session(state: &Arc<State>, id: u64) -> Result<Arc<Session>, Problem> {
    let of_work = Arc::clone(state);
    state.work(move || Ok(of_work.writable_knowledge()?.session(id)?)).await
}

fn within(name: &str, text: &str, longest: usize) -> Result<(), Problem> {
    if text.chars().count() > longest {
        return Err(Problem::invalid(format!("`{name}` has more than {longest} characters")));
    }
    Ok(())
}
