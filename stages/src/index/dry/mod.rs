//! Dry runs, which show the state of one file after each stage, without an index.
//!
//! A dry run executes the stages of the pipeline on one file, except the sinks and the stages that read the output of
//! sinks. The file is treated as new, and nothing is read from an index.

mod recorder;
mod trace;

use std::sync::Arc;
use std::time::Duration;

use aurora_pipeline::{BuildContext, RunError, RunOptions};

use super::custom_columns;
use super::error::IndexError;
use super::options::IndexOptions;
use super::plan::plan_without_suppliers;
use super::root::with_indexable_root;
use super::run_services::{MemoryShares, RunServices};
use super::scratch::scratch;
use crate::git_signal::WaitLimit;
use crate::services::RunScope;
use recorder::{LogLines, Recorder};

pub use trace::{ChunkRow, DroppedRow, FailedRows, StageTrace};

/// Default maximum time for which the run waits for the walk over the git history, see [`IndexOptions::patience`].
const PATIENCE: Duration = Duration::from_secs(10);

/// The result of a dry run on one file.
#[derive(Debug)]
pub struct DryRun {
    /// Path of the file, relative to the root.
    pub path: String,
    /// The stages in the order of the plan.
    pub stages: Vec<StageTrace>,
    /// Error that ended the run early.
    pub error: Option<RunError>,
}

/// Runs the pipeline on the file or document at `path`, which is relative to the root. If `only` is not empty, runs
/// only the stages in `only` and the stages on which they depend.
///
/// # Errors
/// Fails if the configuration is invalid, or if a stage cannot be built. A stage that fails during the run does not
/// cause an error, see [`DryRun::error`].
pub fn dry_run(options: &IndexOptions, path: &str, only: &[String]) -> Result<DryRun, IndexError> {
    let options = &with_indexable_root(options)?;
    let whole = plan_without_suppliers(options, |stage| path.starts_with(&format!("@{stage}/")))?;
    let plan = whole.without_sinks(only);
    let columns = custom_columns::declarations(&plan).map_err(IndexError::Pipeline)?;
    let memory = MemoryShares::from_total(options.memory.unwrap_or(plan.run_config().memory));
    let scratch = scratch()?;
    let services = RunServices::dry(&plan, columns, options, scratch.path(), path)?;
    let types: Vec<(String, String)> =
        plan.stages().iter().map(|stage| (stage.name().to_owned(), stage.type_name().to_owned())).collect();
    let lent = services.lend(&options.services);
    let pipeline = plan.build(&BuildContext { root: &options.root, services: &lent })?;
    services.previous.set_scope(RunScope::Everything);
    services.repository.defer_beyond(WaitLimit::Total(options.patience.unwrap_or(PATIENCE)));
    let (recorder, lines) = (Arc::new(Recorder::new(path, Arc::clone(&options.registry))), LogLines::default());
    let run = RunOptions {
        // One file needs only one worker per stage.
        jobs: Some(1),
        memory: Some(memory.batches),
        cancel: options.cancel.clone(),
        observer: &lines,
        probe: Some(Arc::clone(&recorder) as _),
        ..RunOptions::default()
    };
    let (report, error) = match pipeline.run(run) {
        Ok(report) => (report.stages, None),
        Err(error) => (Vec::new(), Some(error)),
    };
    let mut stages = recorder.traces(types, &lines);
    for (trace, report) in stages.iter_mut().zip(report) {
        trace.time = report.busy;
    }
    Ok(DryRun { path: path.to_owned(), stages, error })
}
