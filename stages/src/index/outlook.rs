//! The work that the next run will do for each stage, and the reasons.

use std::collections::BTreeSet;

use aurora_pipeline::{BuildContext, Pipeline};
use aurora_storage::{Environment, OpenMode, ProjectDirectory};
use serde::Serialize;

use super::custom_columns;
use super::error::IndexError;
use super::options::IndexOptions;
use super::pass_kind::PassKind;
use super::plan::plan;
use super::root::with_indexable_root;
use super::run_services::{MemoryShares, RunServices};
use super::scope::{self, Rerun, StageStates, rerun};
use crate::services::RunScope;

/// The work of the next run for one stage.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct StageOutlook {
    /// Name of the stage.
    pub stage: String,
    /// Rows that the stage will process.
    pub runs: RunsOn,
    /// Reasons why the stage will process more rows than the changes in the tree require.
    pub reasons: Vec<String>,
}

/// Rows that a stage will process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum RunsOn {
    /// Files that changed in the tree.
    Changes,
    /// Files that changed in the tree, and rows for which the stage has no result yet.
    Unfinished,
    /// All stored chunks. Nothing is parsed again.
    Chunks,
    /// All files.
    Files,
}

/// Compares the pipeline with the pipeline of the last run, and returns the work that the next run will do for each
/// stage. Changes nothing.
///
/// # Errors
/// Fails in the same cases as a run: if the configuration is invalid, if a program is not allowed, or if another run is
/// writing.
pub fn outlook(options: &IndexOptions) -> Result<Vec<StageOutlook>, IndexError> {
    let options = &with_indexable_root(options)?;
    let plan = plan(options)?;
    let project = ProjectDirectory::in_root(&options.root);
    if !Environment::is_present(project.path()) {
        let names = plan.stages().iter().map(|stage| stage.name().to_owned());
        let reasons = || vec!["there is no index yet".to_owned()];
        return Ok(names.map(|stage| StageOutlook { stage, runs: RunsOn::Files, reasons: reasons() }).collect());
    }
    let columns = custom_columns::declarations(&plan).map_err(IndexError::Pipeline)?;
    let environment = Environment::open(project.path(), OpenMode::Existing)?;
    let memory = MemoryShares::from_total(plan.run_config().memory);
    let services = RunServices::open(&plan, columns.clone(), &environment, options, memory, &PassKind::Whole)?;
    let last = services.previous.snapshot.manifest().clone();
    let lent = services.lend(&options.services);
    let pipeline = plan.build(&BuildContext { root: &options.root, services: &lent })?;
    let now = scope::states(&pipeline);
    let next = rerun(&last, &now, &columns, options.force, &BTreeSet::new(), &pipeline);
    let outlook = |stage| {
        let outlook = stage_outlook(stage, &next, &last.fingerprints, &now, &pipeline);
        let rows = last.unfinished.for_stage(stage);
        match outlook.runs {
            RunsOn::Changes if rows.failed + rows.waiting > 0 => StageOutlook { runs: RunsOn::Unfinished, ..outlook },
            _ => outlook,
        }
    };
    Ok(pipeline.stage_names().map(outlook).collect())
}

fn stage_outlook(
    stage: &str,
    next: &Rerun,
    before: &StageStates,
    now: &StageStates,
    pipeline: &Pipeline,
) -> StageOutlook {
    let own = differences(state_of(before, stage), state_of(now, stage));
    let changed = || next.changed.iter().map(String::as_str);
    let (runs, reasons) = match next.scope {
        RunScope::Changes => (RunsOn::Changes, Vec::new()),
        RunScope::Everything => {
            let others = changed().filter(|name| *name != stage && is_maker(name, before, now));
            let because = others.map(|name| format!("chunks depend on `{name}`, which has changed"));
            (RunsOn::Files, own.into_iter().chain(because).collect())
        }
        RunScope::Values | RunScope::Derived if next.changed.contains(stage) => (RunsOn::Chunks, own),
        RunScope::Values | RunScope::Derived => {
            let again: BTreeSet<String> = pipeline.with_dependants(changed());
            if again.contains(stage) {
                let from = pipeline.read_from(stage).filter(|name| again.contains(*name));
                (RunsOn::Chunks, from.map(|name| format!("it reads columns of `{name}`")).collect())
            } else {
                (RunsOn::Changes, Vec::new())
            }
        }
    };
    StageOutlook { stage: stage.to_owned(), runs, reasons }
}

fn state_of<'s>(states: &'s StageStates, stage: &str) -> Option<&'s str> {
    states.iter().find(|(name, _)| name == stage).map(|(_, state)| state.as_str())
}

fn is_maker(stage: &str, before: &StageStates, now: &StageStates) -> bool {
    [before, now].iter().filter_map(|states| state_of(states, stage)).any(scope::makes_chunks)
}

/// Describes the differences between two states of a stage.
fn differences(before: Option<&str>, now: Option<&str>) -> Vec<String> {
    let (before, now) = match (before, now) {
        (Some(before), Some(now)) if before == now => return Vec::new(),
        (Some(before), Some(now)) => (scope::parse_state(before), scope::parse_state(now)),
        (None, _) => return vec!["it is new".to_owned()],
        (_, None) => return vec!["it was removed".to_owned()],
    };
    let mut found = Vec::new();
    if before.version != now.version {
        found.push("it is another version of the stage".to_owned());
    }
    let keys: BTreeSet<&str> = before.settings.keys().chain(now.settings.keys()).map(String::as_str).collect();
    let differing = keys.into_iter().filter(|key| before.settings.get(*key) != now.settings.get(*key));
    found.extend(differing.map(|key| format!("`{key}` has changed")));
    if before.from != now.from {
        found.push("it reads columns of other stages".to_owned());
    }
    if found.is_empty() {
        found.push("its place in the pipeline has changed".to_owned());
    }
    found
}
