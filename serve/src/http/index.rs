//! Starts, watches and cancels index runs, and lists the statistics of recent runs.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use aurora_live::{RunError, RunReason, RunRequest, RunStatus};
use aurora_project::{RunsReport, run_reports};
use axum::Json;
use axum::extract::State as Shared;
use axum::http::StatusCode;
use axum::response::sse::{Event, KeepAlive, Sse};
use futures_util::stream::{self, Stream};
use serde::Deserialize;
use utoipa::ToSchema;

use crate::answer::Answer;
use crate::http::contents::RootParameters;
use crate::http::extract::{Body, Parameters};
use crate::problem::Problem;
use crate::state::State;

/// Minimum interval between two events of a run.
const EVENT_INTERVAL: Duration = Duration::from_millis(100);
/// Interval at which comments are sent, so that an idle connection stays open.
const KEEP_ALIVE: Duration = Duration::from_secs(10);

/// Options of an index run.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct IndexBody {
    /// Name of the root; the first root by default.
    root: Option<String>,
    /// Whether to rebuild the whole index.
    force: bool,
}

/// Starts an index run in the background.
#[utoipa::path(
    post,
    path = "/api/v1/index",
    tag = "index",
    request_body = IndexBody,
    responses(
        (status = 202, description = "The run has started", body = RunStatus),
        (status = 403, description = "The server is read-only", body = Problem),
        (status = 404, description = "There is no such root", body = Problem),
        (status = 409, description = "An index run is in progress", body = Problem),
    )
)]
pub(crate) async fn start(
    Shared(state): Shared<Arc<State>>,
    body: Body<IndexBody>,
) -> Result<(StatusCode, Answer), Problem> {
    let started = state.answer(move |state, _| start_run(state, &body.parse()?)).await?;
    Ok((StatusCode::ACCEPTED, started))
}

fn start_run(state: &State, body: &IndexBody) -> Result<RunStatus, Problem> {
    let live = state.root(body.root.as_deref())?;
    let request = RunRequest { reason: RunReason::Request, force: body.force, first_answer: None };
    live.start(request).map_err(|error| match error {
        RunError::Running => Problem::new(StatusCode::CONFLICT, error.to_string()),
        RunError::ReadOnly => Problem::read_only(),
        RunError::Thread(_) => Problem::bug(&error),
    })?;
    Ok(live.status().borrow().clone())
}

/// Returns the progress or the result of the last index run that this server has started.
#[utoipa::path(
    get,
    path = "/api/v1/index",
    tag = "index",
    params(RootParameters),
    responses((status = 200, description = "The run", body = RunStatus), (status = 404, description = "There is no such root", body = Problem))
)]
pub(crate) async fn status(
    Shared(state): Shared<Arc<State>>,
    Parameters(query): Parameters<RootParameters>,
) -> Result<Json<RunStatus>, Problem> {
    let status = state.root(query.root.as_deref())?.status().borrow().clone();
    Ok(Json(status))
}

/// Cancels the current index run. What the run has finished so far is published.
#[utoipa::path(
    delete,
    path = "/api/v1/index",
    tag = "index",
    params(RootParameters),
    responses(
        (status = 202, description = "The run will stop", body = RunStatus),
        (status = 403, description = "The server is read-only", body = Problem),
        (status = 404, description = "There is no such root, or no run", body = Problem),
    )
)]
pub(crate) async fn cancel(
    Shared(state): Shared<Arc<State>>,
    Parameters(query): Parameters<RootParameters>,
) -> Result<(StatusCode, Json<RunStatus>), Problem> {
    if state.options.read_only {
        return Err(Problem::read_only());
    }
    let live = state.root(query.root.as_deref())?;
    if !live.cancel() {
        return Err(Problem::not_found("no index run is in progress"));
    }
    Ok((StatusCode::ACCEPTED, Json(live.status().borrow().clone())))
}

/// Sends the progress of this server's index runs as server-sent events, each with a `RunStatus` as its data. The first
/// event has the current state.
#[utoipa::path(
    get,
    path = "/api/v1/index/events",
    tag = "index",
    params(RootParameters),
    responses(
        (status = 200, description = "Events called `run`", body = String, content_type = "text/event-stream"),
        (status = 404, description = "There is no such root", body = Problem),
    )
)]
pub(crate) async fn events(
    Shared(state): Shared<Arc<State>>,
    Parameters(query): Parameters<RootParameters>,
) -> Result<Sse<impl Stream<Item = Result<Event, Infallible>>>, Problem> {
    let mut status = state.root(query.root.as_deref())?.status();
    status.mark_changed();
    let events = stream::unfold((status, state.stop.clone()), |(mut status, stop)| async move {
        tokio::select! {
            changed = status.changed() => changed.ok()?,
            () = stop.stopped() => return None,
        }
        let now = status.borrow_and_update().clone();
        if now.is_running() {
            tokio::time::sleep(EVENT_INTERVAL).await;
        }
        let event = Event::default().event("run").id(now.run.to_string()).json_data(&now).ok()?;
        Some((Ok(event), (status, stop)))
    });
    Ok(Sse::new(events).keep_alive(KeepAlive::new().interval(KEEP_ALIVE)))
}

/// Returns statistics of the last index runs that changed the index, newest first. Includes the runs of other
/// processes.
#[utoipa::path(
    get,
    path = "/api/v1/runs",
    tag = "index",
    params(RootParameters),
    responses(
        (status = 200, description = "The runs", body = RunsReport),
        (status = 404, description = "There is no such root", body = Problem),
        (status = 503, description = "There is no index", body = Problem),
    )
)]
pub(crate) async fn runs(
    Shared(state): Shared<Arc<State>>,
    Parameters(query): Parameters<RootParameters>,
) -> Result<Answer, Problem> {
    state.read(query.root.as_deref(), |project, searcher, _| Ok(run_reports(project, searcher.snapshot()))).await
}
