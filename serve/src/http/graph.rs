//! Returns the relations of definitions.

use std::sync::Arc;

use aurora_project::{Names, RelationReport, definition, relations};
use aurora_query::{MAX_TREE_DEPTH, MIN_CONFIDENCE, Relation, RelationIndex, TreeOptions};
use axum::extract::State as Shared;
use serde::Deserialize;
use utoipa::IntoParams;

use crate::answer::Answer;
use crate::http::extract::Parameters;
use crate::problem::Problem;
use crate::state::State;

/// Default number of steps. The command line has the same default.
const DEFAULT_DEPTH: u32 = 1;

/// Selects the relations of a definition.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct GraphParameters {
    /// A name as shown in results, `PATH:LINE`, or the `id` of a result.
    name: String,
    /// The relation; `callees` by default.
    #[param(inline)]
    relation: Option<Relation>,
    /// Maximum number of steps to follow; 1 by default.
    depth: Option<u32>,
    /// Minimum confidence of the relations shown, from 0 to 1; 0.45 by default.
    min_confidence: Option<f32>,
    /// Name of the root; the first root by default.
    root: Option<String>,
}

/// Returns the callees, callers or implementers of a definition.
#[utoipa::path(
    get,
    path = "/api/v1/graph",
    tag = "search",
    params(GraphParameters),
    responses(
        (status = 200, description = "The relations", body = RelationReport),
        (status = 404, description = "No definition has the name", body = Problem),
        (status = 422, description = "Several definitions have the name, or the answer is too large", body = Problem),
    )
)]
pub(crate) async fn graph(
    Shared(state): Shared<Arc<State>>,
    Parameters(query): Parameters<GraphParameters>,
) -> Result<Answer, Problem> {
    let options = TreeOptions {
        relation: query.relation.unwrap_or(Relation::Callees),
        depth: query.depth.unwrap_or(DEFAULT_DEPTH),
        min_confidence: query.min_confidence.unwrap_or(MIN_CONFIDENCE),
    };
    if !(1..=MAX_TREE_DEPTH).contains(&options.depth) {
        return Err(Problem::invalid(format!("`depth` must be a number from 1 to {MAX_TREE_DEPTH}")));
    }
    if !(0.0..=1.0).contains(&options.min_confidence) {
        return Err(Problem::invalid("`min_confidence` must be a number from 0 to 1"));
    }
    state
        .read(query.root.as_deref(), move |_, searcher, request| {
            let snapshot = searcher.snapshot();
            let index = RelationIndex::for_request(snapshot, request.budget.clone());
            let named = definition(&Names::for_searcher(searcher).within(&request.budget), &index, &query.name)?;
            let tree = index.tree(&named, &options)?;
            request.budget.check()?;
            Ok(relations(snapshot, &tree, &options)?)
        })
        .await
}
