//! The parts of a tree that are not indexed, and the reasons.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use aurora_pipeline::{BuildContext, Probe, RunOptions, StageConfig, StageEvent, StageOutput};
use aurora_redact::masked;
use aurora_storage::{Environment, OpenMode, ProjectDirectory};
use serde::Serialize;

use super::error::IndexError;
use super::options::IndexOptions;
use super::plan::plan_without_suppliers;
use super::root::with_indexable_root;
use super::run_services::{MemoryShares, RunServices};
use super::scratch::scratch;
use crate::incremental::IncrementalCheck;
use crate::services::RunScope;

/// A file that is not indexed, or a directory in which nothing is indexed.
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = OmittedEntry))]
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct NotIndexed {
    /// Path relative to the root.
    pub path: String,
    /// Reason for the omission.
    pub reason: String,
    /// Name of the stage that omits the file or directory.
    pub stage: String,
    /// Whether the path should be indexed but could not be read.
    pub failed: bool,
}

/// Returns the files and directories that a run would not index now, sorted by path and with secrets masked. The
/// function walks the tree and reads files that changed since the last run, but writes nothing.
///
/// # Errors
/// Fails if there is no index, the configuration is invalid, or a stage cannot be built or fails.
pub fn not_indexed(options: &IndexOptions) -> Result<Vec<NotIndexed>, IndexError> {
    let options = &with_indexable_root(options)?;
    let whole = plan_without_suppliers(options, |_| false)?;
    let readers = whole.stages().iter().filter(|stage| stage.type_name() == IncrementalCheck::TYPE);
    let readers: Vec<String> = readers.map(|stage| stage.name().to_owned()).collect();
    let plan = whole.without_sinks(&readers);
    let previous =
        Environment::open(ProjectDirectory::in_root(&options.root).path(), OpenMode::Existing)?.snapshot()?;
    let scratch = scratch()?;
    let services = RunServices::reading(&plan, options, previous, scratch.path())?;
    let memory = MemoryShares::from_total(options.memory.unwrap_or(plan.run_config().memory));
    let lent = services.lend(&options.services);
    let pipeline = plan.build(&BuildContext { root: &options.root, services: &lent })?;
    services.previous.set_scope(RunScope::Changes);
    let found = Arc::new(Omissions::default());
    let run = RunOptions {
        jobs: options.jobs,
        memory: Some(memory.batches),
        cancel: options.cancel.clone(),
        probe: Some(Arc::clone(&found) as _),
        ..RunOptions::default()
    };
    pipeline.run(run)?;
    Ok(found.take())
}

/// A probe that collects the omissions of stages.
#[derive(Default)]
struct Omissions(Mutex<BTreeMap<String, NotIndexed>>);

impl Omissions {
    fn take(&self) -> Vec<NotIndexed> {
        let mut found = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut *found).into_values().collect()
    }
}

impl Probe for Omissions {
    fn on_output(&self, _: &str, _: &StageOutput<'_>) {}

    fn on_event(&self, stage: &str, event: StageEvent<'_>) {
        let (path, reason, failed) = match event {
            StageEvent::Skipped { path, reason } => (path, reason, false),
            StageEvent::Error { path, reason } => (path, reason, true),
            StageEvent::Warning { .. } | StageEvent::Failed { .. } | StageEvent::Counted { .. } => return,
        };
        // The stored reason of a custom stage begins with the name of the stage.
        let custom = reason.strip_prefix("stage `").and_then(|rest| rest.split_once("`: "));
        let (stage, reason) = custom.unwrap_or((stage, reason));
        let (stage, reason) = (stage.to_owned(), masked(reason.to_owned()));
        let omission = NotIndexed { path: masked(path.to_owned()), reason, stage, failed };
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(path.to_owned(), omission);
    }
}
