//! Records verdicts on search results.

use std::sync::Arc;

use aurora_project::{FeedbackReport, Interface, Names, judge};
use aurora_storage::Verdict;
use axum::extract::State as Shared;
use axum::http::StatusCode;
use serde::Deserialize;
use utoipa::ToSchema;

use crate::answer::Answer;
use crate::http::extract::Body;
use crate::problem::Problem;
use crate::state::State;

/// Maximum number of chunks in one request.
const MAX_CHUNKS: usize = 1_000;

/// A verdict on the results of a search.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct FeedbackBody {
    /// The verdict, which applies to all of `ids`.
    verdict: Verdict,
    /// Ids of results, or `PATH:LINE`.
    #[schema(min_items = 1, max_items = 1000)]
    ids: Vec<String>,
    /// Name of the root; the first root by default.
    root: Option<String>,
}

/// Records a verdict that later searches take into account. If one of the ids is unknown, nothing is recorded.
#[utoipa::path(
    post,
    path = "/api/v1/feedback",
    tag = "search",
    request_body = FeedbackBody,
    responses(
        (status = 200, description = "The recorded verdict", body = FeedbackReport),
        (status = 403, description = "The server is read-only", body = Problem),
        (status = 404, description = "There is no such chunk; nothing was recorded", body = Problem),
        (status = 422, description = "The verdict is invalid", body = Problem),
    )
)]
pub(crate) async fn feedback(Shared(state): Shared<Arc<State>>, body: Body<FeedbackBody>) -> Result<Answer, Problem> {
    if state.options.read_only {
        return Err(Problem::read_only());
    }
    state
        .answer(move |state, request| {
            let body = body.parse()?;
            if !(1..=MAX_CHUNKS).contains(&body.ids.len()) {
                return Err(Problem::invalid(format!("`ids` must have 1 to {MAX_CHUNKS} items")));
            }
            let root = state.root(body.root.as_deref())?;
            let searcher = root.searcher()?;
            let mut keys = Vec::new();
            for id in &body.ids {
                request.budget.check()?;
                let (_, key) = Names::for_searcher(&searcher).within(&request.budget).chunk(id)?;
                if !keys.contains(&key) {
                    keys.push(key);
                }
            }
            let log = searcher.access();
            let log = log.map_err(|reason| Problem::new(StatusCode::SERVICE_UNAVAILABLE, reason.to_owned()))?;
            let learning = &searcher.config().activation.learning;
            let now = aurora_clock::now_seconds();
            let report = judge(log, learning, body.verdict, &keys, now)?;
            state.metrics.judged(&report);
            state.options.roots.judged(Interface::Http, root, &report, now);
            Ok(report)
        })
        .await
}
