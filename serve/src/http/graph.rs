//! Relations of definitions.

use std::sync::Arc;

use aurora_project::{RelationReport, definition, relations};
use aurora_query::{MAX_TREE_DEPTH, MIN_CONFIDENCE, Relation, RelationIndex, TreeOptions};
use axum::extract::State as Shared;
use serde::Deserialize;
use utoipa::{IntoParams, ToSchema};

use crate::answer::Answer;
use crate::http::extract::Parameters;
use crate::problem::Problem;
use crate::state::State;

/// Default of the command line.
const DEPTH: u32 = 1;

/// Whose relations are asked for.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct GraphParameters {
    /// A name as results show it, `PATH:LINE`, or the `id` of a result.
    name: String,
    /// Which relation; `callees` unless given.
    #[param(inline)]
    relation: Option<RelationName>,
    /// Most steps from the definition; 1 unless given.
    depth: Option<u32>,
    /// Minimum confidence of a relation, 0..1; 0.45 unless given.
    min_confidence: Option<f32>,
    /// Name of the root; the first one unless given.
    root: Option<String>,
}

/// A relation between definitions.
#[derive(Debug, Clone, Copy, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
enum RelationName {
    /// What the definition calls.
    Callees,
    /// What calls it.
    Callers,
    /// What extends, implements or overrides it.
    Implementers,
}

/// What a definition calls, what calls it, or what implements it.
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
    Parameters(asked): Parameters<GraphParameters>,
) -> Result<Answer, Problem> {
    let options = TreeOptions {
        relation: match asked.relation {
            None | Some(RelationName::Callees) => Relation::Callees,
            Some(RelationName::Callers) => Relation::Callers,
            Some(RelationName::Implementers) => Relation::Implementers,
        },
        depth: asked.depth.unwrap_or(DEPTH),
        min_confidence: asked.min_confidence.unwrap_or(MIN_CONFIDENCE),
    };
    if !(1..=MAX_TREE_DEPTH).contains(&options.depth) {
        return Err(Problem::invalid(format!("`depth` is a number from 1 to {MAX_TREE_DEPTH}")));
    }
    if !(0.0..=1.0).contains(&options.min_confidence) {
        return Err(Problem::invalid("`min_confidence` is a number from 0 to 1"));
    }
    state
        .read(asked.root.as_deref(), move |searcher, request| {
            let snapshot = searcher.snapshot();
            let index = RelationIndex::within(snapshot, request.budget.clone());
            let named = definition(&searcher.names().within(&request.budget), &index, &asked.name)?;
            let tree = index.tree(&named, &options)?;
            request.budget.check()?;
            Ok(relations(snapshot, &tree, &options)?)
        })
        .await
}
