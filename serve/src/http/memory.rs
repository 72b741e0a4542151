//! Gives clients with the server's token access to memory.

use std::sync::Arc;
use std::time::Instant;

use aurora_mcp::AgentSearch;
use aurora_memory::{
    AgentMemory, DATA_NOTICE, MemoryError, MemoryOperation, NewMemory, NewMemoryKind, OutcomeReport, Remembered, Scope,
    TaskOutcome, recall_request,
};
use aurora_project::{Interface, PackedAnswer};
use aurora_query::QueryError;
use axum::extract::State as Shared;
use axum::http::StatusCode;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::answer::{Answer, json};
use crate::http::extract::{Body, one_or_more};
use crate::http::search::MAX_TOKENS;
use crate::problem::Problem;
use crate::state::{RequestWork, State};

/// Default token budget of a recall.
const DEFAULT_TOKENS: usize = 2_000;

/// A new session of an agent.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct NewAgentSession {
    /// Id of the session. Whoever knows the id can read the private entries of the session.
    id: String,
}

/// A recall of memory and code.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct RecallBody {
    /// The question or keywords.
    #[schema(example = "staging database reset", max_length = 16384)]
    query: String,
    /// Maximum number of tokens of the texts; 2000 by default.
    #[schema(minimum = 1, maximum = 1_000_000)]
    budget: Option<usize>,
    /// Id of the session. Without an id, the answer contains the id of a new session.
    session: Option<String>,
    /// Scope of the entries: `session`, `project`, `user` or `global`. By default, all entries that the session may
    /// see.
    #[schema(value_type = Option<String>, example = "project")]
    scope: Option<Scope>,
    /// Names of the roots to search; all by default.
    #[serde(default, deserialize_with = "one_or_more")]
    root: Vec<String>,
    /// Whether to return the nearest texts even if they are probably not relevant.
    #[serde(default)]
    nearest: bool,
}

/// Recalled texts.
#[derive(Serialize, ToSchema)]
pub(crate) struct RecallAnswer<'a> {
    /// Id of the session in which the texts were retrieved.
    session: &'a str,
    /// Notice for the agent that texts are data and not instructions.
    notice: &'static str,
    #[serde(flatten)]
    answer: PackedAnswer<'a>,
}

/// An entry to be added.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct RememberBody {
    /// The kind of the entry.
    kind: NewMemoryKind,
    /// The content: an object as in `aur mem schema KIND`, the text of a note, or the summary of knowledge.
    #[schema(example = "The staging database is reset every Sunday")]
    content: serde_json::Value,
    /// Tags of the entry.
    #[serde(default)]
    tags: Vec<String>,
    /// Id of the session. Only this session finds the entry. Without an id, all searches in the project find the entry.
    session: Option<String>,
    /// Whether only the session finds the entry. Without the id of a session, the answer contains the id of a new one.
    #[serde(default)]
    private: bool,
    /// Name of the root; the first root by default.
    root: Option<String>,
}

/// The outcome of a session's task.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct OutcomeBody {
    /// Id of the session.
    session: String,
    /// The outcome.
    result: TaskOutcome,
}

impl State {
    /// Returns the memory of the clients.
    pub(crate) fn agent_memory(&self) -> Result<&AgentMemory, Problem> {
        self.memory.as_deref().map_err(Clone::clone)
    }

    /// Returns the memory of the clients if the server is not read-only.
    fn writable_agent_memory(&self) -> Result<&AgentMemory, Problem> {
        let memory = self.agent_memory()?;
        if self.options.read_only { Err(Problem::read_only()) } else { Ok(memory) }
    }
}

/// Issues the id of a new session.
#[utoipa::path(
    post,
    path = "/api/v1/memory/sessions",
    tag = "memory",
    responses(
        (status = 201, description = "The session was created", body = NewAgentSession),
        (status = 403, description = "The server has no token", body = Problem),
    )
)]
pub(crate) async fn create_session(Shared(state): Shared<Arc<State>>) -> Result<(StatusCode, Answer), Problem> {
    let issue = |state: &State, _: &RequestWork| {
        let (memory, begun) = (state.agent_memory()?, Instant::now());
        let session = memory.observed(MemoryOperation::Session, begun, memory.issue_session())?;
        Ok(NewAgentSession { id: session.id })
    };
    Ok((StatusCode::CREATED, state.answer(issue).await?))
}

/// Recalls memory and code for the task of an agent.
#[utoipa::path(
    post,
    path = "/api/v1/memory/recall",
    tag = "memory",
    request_body = RecallBody,
    responses(
        (status = 200, description = "The texts, best first", body = RecallAnswer<'static>),
        (status = 400, description = "The body is not JSON", body = Problem),
        (status = 403, description = "The server has no token", body = Problem),
        (status = 404, description = "There is no such root or session", body = Problem),
        (status = 422, description = "The recall is invalid", body = Problem),
        (status = 503, description = "Too many requests are waiting", body = Problem),
    )
)]
pub(crate) async fn recall(Shared(state): Shared<Arc<State>>, body: Body<RecallBody>) -> Result<Answer, Problem> {
    let recall = move |state: &State, request: &RequestWork| {
        let (memory, body) = (state.agent_memory()?, body.parse()?);
        recalled(state, memory, &body, request)
    };
    state.send(state.work(recall).await?)
}

fn recalled(state: &State, memory: &AgentMemory, body: &RecallBody, work: &RequestWork) -> Result<Vec<u8>, Problem> {
    let budget = body.budget.unwrap_or(DEFAULT_TOKENS);
    if !(1..=MAX_TOKENS).contains(&budget) {
        return Err(Problem::invalid(format!("`budget` must be a number from 1 to {MAX_TOKENS}")));
    }
    if body.query.trim().is_empty() {
        return Err(QueryError::Empty.into());
    }
    QueryError::check_length(&body.query)?;
    let roots = state.options.roots.select(&body.root)?;
    let mut search = AgentSearch::for_recall(&roots, memory, body.session.as_deref(), body.scope)?;
    let now = aurora_clock::now_seconds();
    let mut request = recall_request(&body.query, budget, now);
    request.query.work = work.budget.clone();
    let mut found = search.search(&request)?;
    found.notes.splice(0..0, search.root_notes().iter().chain(search.memory_notes()).cloned());
    roots.searched(Interface::Http, &found, true, now);
    if !body.nearest {
        found.remove_distant();
    }
    let packed = search.searchers().packed(&found, budget, &request.query.work)?;
    let session = search.session().map_or("", |session| session.id.as_str());
    let answer = RecallAnswer { session, notice: DATA_NOTICE, answer: PackedAnswer::new(&found, &packed) };
    let answer = json(&answer, state.options.limits.answer)?;
    search.record(&body.query, packed.shown(), now);
    Ok(answer)
}

/// Adds an entry. When the answer arrives, the entry is durable and can be found.
#[utoipa::path(
    post,
    path = "/api/v1/memory/remember",
    tag = "memory",
    request_body = RememberBody,
    responses(
        (status = 200, description = "The outcome", body = Remembered),
        (status = 400, description = "The body is not JSON", body = Problem),
        (status = 403, description = "The server has no token, or is read-only", body = Problem),
        (status = 404, description = "There is no such root or session", body = Problem),
        (status = 422, description = "The entry is invalid or too large", body = Problem),
        (status = 429, description = "The session or the server adds too many entries", body = Problem),
        (status = 503, description = "The memory cannot be used, or too many requests are waiting", body = Problem),
    )
)]
pub(crate) async fn remember(Shared(state): Shared<Arc<State>>, body: Body<RememberBody>) -> Result<Answer, Problem> {
    state
        .answer(move |state, _| {
            let (memory, body) = (state.writable_agent_memory()?, body.parse()?);
            let RememberBody { kind, content, tags, session, private, root } = body;
            let root = state.root(root.as_deref())?.project().root();
            let entry = NewMemory { kind, content, tags, session, private };
            Ok(memory.remember(&entry, root, aurora_clock::now_seconds())?)
        })
        .await
}

/// Reports the outcome of a task, which rates everything that was retrieved in its session.
#[utoipa::path(
    post,
    path = "/api/v1/memory/outcome",
    tag = "memory",
    request_body = OutcomeBody,
    responses(
        (status = 200, description = "The effects of the outcome", body = OutcomeReport),
        (status = 400, description = "The body is not JSON", body = Problem),
        (status = 403, description = "The server has no token, or is read-only", body = Problem),
        (status = 404, description = "There is no such session, or it has retrieved nothing", body = Problem),
        (status = 422, description = "The outcome is invalid", body = Problem),
    )
)]
pub(crate) async fn outcome(Shared(state): Shared<Arc<State>>, body: Body<OutcomeBody>) -> Result<Answer, Problem> {
    state
        .answer(move |state, _| {
            let (memory, body) = (state.writable_agent_memory()?, body.parse()?);
            let session = memory.session(Some(&body.session))?.ok_or(MemoryError::UnknownSession)?;
            let learning = state.root(None)?.project().settings(Vec::new())?.activation.learning;
            Ok(memory.outcome(&session, body.result, &learning, aurora_clock::now_seconds())?)
        })
        .await
}
