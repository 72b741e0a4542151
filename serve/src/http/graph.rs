//! Returns the relations of definitions.

use std::sync::Arc;

use aurora_project::{
    ImpactReport, ImportReport, Names, RelationReport, UnusedReport, definition, impact_of, impact_of_changes,
    imported_by, imports, relations, source_changes, unused,
};
use aurora_query::{
    DEFAULT_IMPACT_DEPTH, ImpactOptions, MAX_TREE_DEPTH, MIN_CONFIDENCE, MIN_IMPACT_CONFIDENCE, MIN_UNUSED_CONFIDENCE,
    Relation, RelationIndex, TreeOptions, UnusedOptions,
};
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
    check(options.depth, options.min_confidence)?;
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

fn check(depth: u32, min_confidence: f32) -> Result<(), Problem> {
    if !(1..=MAX_TREE_DEPTH).contains(&depth) {
        return Err(Problem::invalid(format!("`depth` must be a number from 1 to {MAX_TREE_DEPTH}")));
    }
    if !(0.0..=1.0).contains(&min_confidence) {
        return Err(Problem::invalid("`min_confidence` must be a number from 0 to 1"));
    }
    Ok(())
}

/// Selects a changed definition, or the changes between two revisions.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct ImpactParameters {
    /// The changed definition: a name as shown in results, `PATH:LINE`, or the `id` of a result.
    name: Option<String>,
    /// In place of `name`: a range of revisions as for `git diff`; empty for the working tree against HEAD.
    diff: Option<String>,
    /// Maximum number of steps to follow; 8 by default.
    depth: Option<u32>,
    /// Minimum confidence of the affected definitions, from 0 to 1; 0.5 by default.
    min_confidence: Option<f32>,
    /// Name of the root; the first root by default.
    root: Option<String>,
}

/// Returns the definitions, files and tests that a change may affect.
#[utoipa::path(
    get,
    path = "/api/v1/graph/impact",
    tag = "search",
    params(ImpactParameters),
    responses(
        (status = 200, description = "The affected definitions", body = ImpactReport),
        (status = 404, description = "No definition has the name, or there is no git repository", body = Problem),
        (status = 422, description = "Several definitions have the name, or a revision is unknown", body = Problem),
    )
)]
pub(crate) async fn impact(
    Shared(state): Shared<Arc<State>>,
    Parameters(query): Parameters<ImpactParameters>,
) -> Result<Answer, Problem> {
    let options = ImpactOptions {
        depth: query.depth.unwrap_or(DEFAULT_IMPACT_DEPTH),
        min_confidence: query.min_confidence.unwrap_or(MIN_IMPACT_CONFIDENCE),
    };
    check(options.depth, options.min_confidence)?;
    if query.name.is_some() == query.diff.is_some() {
        return Err(Problem::invalid("give either `name` or `diff`"));
    }
    state
        .read(query.root.as_deref(), move |_, searcher, request| {
            let snapshot = searcher.snapshot();
            let index = RelationIndex::for_request(snapshot, request.budget.clone());
            let names = Names::for_searcher(searcher).within(&request.budget);
            let report = match (&query.name, &query.diff) {
                (Some(name), _) => impact_of(snapshot, &index, &definition(&names, &index, name)?, &options)?,
                (None, range) => {
                    let changes = source_changes(&names, range.as_deref().unwrap_or_default())?;
                    impact_of_changes(snapshot, &index, changes, &options)?
                }
            };
            request.budget.check()?;
            Ok(report)
        })
        .await
}

/// Selects unused definitions.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct UnusedParameters {
    /// Path of a file or directory below the root; all files by default.
    path: Option<String>,
    /// Language of the definitions; all languages by default.
    lang: Option<String>,
    /// Minimum confidence, from 0 to 1; 0.7 by default.
    min_confidence: Option<f32>,
    /// Name of the root; the first root by default.
    root: Option<String>,
}

/// Returns the definitions that nothing in the repository uses.
#[utoipa::path(
    get,
    path = "/api/v1/graph/unused",
    tag = "search",
    params(UnusedParameters),
    responses((status = 200, description = "The unused definitions", body = UnusedReport))
)]
pub(crate) async fn unused_definitions(
    Shared(state): Shared<Arc<State>>,
    Parameters(query): Parameters<UnusedParameters>,
) -> Result<Answer, Problem> {
    let UnusedParameters { path, lang: language, min_confidence, root } = query;
    let options = UnusedOptions { min_confidence: min_confidence.unwrap_or(MIN_UNUSED_CONFIDENCE), language, path };
    check(1, options.min_confidence)?;
    state
        .read(root.as_deref(), move |_, searcher, request| {
            let index = RelationIndex::for_request(searcher.snapshot(), request.budget.clone());
            let report = unused(searcher.snapshot(), &index, &options)?;
            request.budget.check()?;
            Ok(report)
        })
        .await
}

/// The direction of imports.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "kebab-case")]
enum ImportRelation {
    /// The imports of a file.
    Imports,
    /// The files that import a file.
    ImportedBy,
}

/// Selects the imports of a file or module.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct ImportParameters {
    /// Path of a file, directory of a package, or name of a module.
    name: String,
    /// The direction; `imports` by default.
    #[param(inline)]
    relation: Option<ImportRelation>,
    /// Name of the root; the first root by default.
    root: Option<String>,
}

/// Returns the imports of a file, or the files that import it.
#[utoipa::path(
    get,
    path = "/api/v1/graph/imports",
    tag = "search",
    params(ImportParameters),
    responses(
        (status = 200, description = "The imports", body = ImportReport),
        (status = 404, description = "No file or module has the name", body = Problem),
        (status = 422, description = "Several files match the name", body = Problem),
    )
)]
pub(crate) async fn file_imports(
    Shared(state): Shared<Arc<State>>,
    Parameters(query): Parameters<ImportParameters>,
) -> Result<Answer, Problem> {
    let find = match query.relation {
        Some(ImportRelation::ImportedBy) => imported_by,
        _ => imports,
    };
    state
        .read(query.root.as_deref(), move |_, searcher, request| {
            let index = RelationIndex::for_request(searcher.snapshot(), request.budget.clone());
            let report = find(&Names::for_searcher(searcher).within(&request.budget), &index, &query.name)?;
            request.budget.check()?;
            Ok(report)
        })
        .await
}
