//! Resolves the pipeline of a run.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use aurora_confined::read_regular_to_string;
use aurora_pipeline::{
    BuildContext, ColumnSpec, Diagnostic, Diagnostics, Pipeline, PipelineSource, Plan, PlannedStage, StageError, code,
};
use aurora_redact::has_secret;
use aurora_storage::ProjectDirectory;

use super::custom_columns;
use super::embedding_stage::EmbeddingStage;
use super::error::IndexError;
use super::options::{IndexOptions, PipelineChoice};
use crate::columns::DOCUMENT;
use crate::pipelines;
use crate::services::PreviousIndex;
use crate::stand_in::{StandIn, can_stand_in, is_built_in};

/// Maximum size of a pipeline file, in bytes.
pub const MAX_PIPELINE_BYTES: u64 = 1 << 20;

/// Name of the pipeline source that disables the stages in `left_out`, for messages.
const LEFT_OUT: &str = "stages left out";

/// Resolves and checks the pipeline of a run. Reads only the TOML of the pipeline. The project's own pipeline is
/// checked against the limits.
///
/// # Errors
/// Fails if the configuration has errors, which are reported together, or if the pipeline file cannot be read.
pub fn plan(options: &IndexOptions) -> Result<Plan, IndexError> {
    plan_checked(options, &|_| Diagnostics::default())
}

/// Like [`plan`], with additional checks of the stages. Errors of all checks are reported together.
///
/// # Errors
/// Fails in the same cases as [`plan`].
pub fn plan_checked(
    options: &IndexOptions,
    additional: &dyn Fn(&[PlannedStage]) -> Diagnostics,
) -> Result<Plan, IndexError> {
    let IndexOptions { root, pipeline, registry, limits, left_out, .. } = options;
    let (name, text) = pipeline_source(root, pipeline)?;
    let without: String = left_out.iter().map(|stage| format!("[stage.{stage:?}]\nenabled = false\n")).collect();
    let sources = [PipelineSource { name: &name, text: &text }, PipelineSource { name: LEFT_OUT, text: &without }];
    // A pipeline that the user selects is trusted, so the limits do not apply.
    let ceilings = if *pipeline == PipelineChoice::Default { limits.ceilings() } else { Vec::new() };
    let checks = |stages: &[PlannedStage]| {
        let mut found = additional(stages);
        found.extend(custom_columns::declarations_of(stages).err().into_iter().flatten());
        found.extend(EmbeddingStage::find(stages).err().into_iter().flatten());
        found.extend(stages.iter().filter_map(secret_in_name));
        found
    };
    let loaded = aurora_pipeline::load_checked(&sources, registry, pipelines::EMBEDDED, &ceilings, &checks);
    loaded.map_err(IndexError::Pipeline)
}

/// Returns an error if the name of a stage, or of a column that the stage writes, contains a secret. The index stores
/// these names.
fn secret_in_name(stage: &PlannedStage) -> Option<Diagnostic> {
    if is_built_in(stage) && stage.name() == stage.type_name() {
        return None;
    }
    let of_columns = stage.access().written().any(|column| has_secret(column.name()));
    let message = "the name of a stage or a column must not contain a secret, such as a token";
    (of_columns || has_secret(stage.name()))
        .then(|| Diagnostic::error(code::INVALID_VALUE, stage.location().cloned(), message))
}

/// Returns the plan without the stages that supply documents, except those for which `keeps` returns true.
///
/// # Errors
/// Fails in the same cases as [`plan`].
pub(super) fn plan_without_suppliers(options: &IndexOptions, keeps: impl Fn(&str) -> bool) -> Result<Plan, IndexError> {
    let whole = plan(options)?;
    let others: Vec<String> = suppliers(&whole).filter(|stage| !keeps(stage)).map(str::to_owned).collect();
    if others.is_empty() {
        return Ok(whole);
    }
    plan(&IndexOptions { left_out: [options.left_out.clone(), others].concat(), ..options.clone() })
}

/// Returns the stages in `names` and all custom stages that depend on them, directly or indirectly. A stage depends on
/// others if it reads a column that no stage outside the returned list writes.
pub fn with_dependants(plan: &Plan, names: Vec<String>) -> Vec<String> {
    let mut found = names;
    loop {
        let (left_out, rest): (Vec<_>, Vec<_>) =
            plan.stages().iter().partition(|stage| found.iter().any(|name| name == stage.name()));
        let written = |stages: &[&PlannedStage]| -> BTreeSet<String> {
            stages.iter().flat_map(|stage| stage.access().written()).map(|column| column.name().to_owned()).collect()
        };
        let (lost, still_written) = (written(&left_out), written(&rest));
        let is_lost = |column: &ColumnSpec| lost.contains(column.name()) && !still_written.contains(column.name());
        let depends = |stage: &&&PlannedStage| !is_built_in(stage) && stage.access().all_reads().any(is_lost);
        match rest.iter().find(depends) {
            Some(stage) => found.push(stage.name().to_owned()),
            None => return found,
        }
    }
}

/// Returns the names of the stages that supply documents. The documents of a stage are below `@NAME/`.
pub fn suppliers(plan: &Plan) -> impl Iterator<Item = &str> {
    let supplies = |stage: &&PlannedStage| stage.access().written().any(|column| column.name() == DOCUMENT.name());
    plan.stages().iter().filter(supplies).map(PlannedStage::name)
}

/// Selects the stages that a run does not execute and replaces with stand-ins, see [`IndexOptions::untrusted`] and
/// [`IndexOptions::runs_programs`].
pub(super) fn select_replaced_stages(plan: &Plan, options: &IndexOptions) -> BTreeSet<String> {
    let is_replaced = |stage: &&PlannedStage| {
        options.untrusted.iter().any(|name| name == stage.name()) || !options.runs_programs && can_stand_in(stage)
    };
    plan.stages().iter().filter(is_replaced).map(|stage| stage.name().to_owned()).collect()
}

/// Builds the pipeline of a plan, with a stand-in that restores stored values for each stage in `replaced`.
///
/// # Errors
/// Fails in the same cases as [`Plan::build`].
pub(super) fn build(
    plan: Plan,
    replaced: &BTreeSet<String>,
    previous: &Arc<PreviousIndex>,
    cx: &BuildContext<'_>,
) -> Result<Pipeline, StageError> {
    plan.build_with(cx, &mut |stage| replaced.contains(stage.name()).then(|| StandIn::for_stage(stage, previous)))
}

/// Returns the name and the TOML text of a pipeline.
fn pipeline_source(root: &Path, choice: &PipelineChoice) -> Result<(String, String), IndexError> {
    let read = |path: PathBuf, text: io::Result<String>| match text {
        Ok(text) => Ok((path.display().to_string(), text)),
        Err(source) => Err(IndexError::Unreadable { path, source }),
    };
    let extending = |name: &str| (name.to_owned(), format!("extends = {name:?}\n"));
    match choice {
        PipelineChoice::File(path) => read(path.clone(), read_regular_to_string(path, MAX_PIPELINE_BYTES)),
        PipelineChoice::Named(name) => Ok(extending(name)),
        PipelineChoice::Text { name, text } => Ok((name.clone(), text.clone())),
        PipelineChoice::Default => {
            let project = ProjectDirectory::in_root(root);
            let text =
                project.open().and_then(|dir| dir.read_to_string(ProjectDirectory::PIPELINE, MAX_PIPELINE_BYTES));
            match text {
                Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(extending("default")),
                text => read(project.path_of(ProjectDirectory::PIPELINE), text),
            }
        }
    }
}
