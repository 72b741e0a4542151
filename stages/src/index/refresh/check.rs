//! What has changed in the tree, without writing anything.

use std::sync::{Arc, Mutex, PoisonError};

use aurora_pipeline::{BuildContext, CancelToken, Outcome, Plan, Probe, RunOptions, StageConfig, StageOutput};
use aurora_storage::Snapshot;

use super::cost::{Allowance, TreeChanges};
use super::deadline::Deadline;
use crate::columns::{FileStatus, SIZE, STATUS};
use crate::incremental::IncrementalCheck;
use crate::index::error::IndexError;
use crate::index::options::IndexOptions;
use crate::index::plan::{build, select_kept_stages};
use crate::index::run_services::{MemoryShares, RunServices};
use crate::services::RunScope;

/// The result of a look at the tree.
pub(super) enum Checked {
    /// All changes.
    Whole(TreeChanges),
    /// The changes that were found before the time was up, or the allowance exceeded.
    Stopped(TreeChanges),
}

/// Walks the tree and compares it with `snapshot`, as a run does, up to `incremental-check`. Files whose time or size differs are
/// read. Ends as soon as an update would take longer than allowed.
pub(super) fn check(
    plan: Plan,
    options: &IndexOptions,
    snapshot: &Snapshot,
    allowance: Allowance,
) -> Result<Checked, IndexError> {
    // The whole plan says whether files are attributed.
    let services = RunServices::checking(&options.root, &plan, options, snapshot.clone())?;
    let comparing = plan.stages().iter().filter(|stage| stage.type_name() == IncrementalCheck::TYPE);
    let comparing: Vec<String> = comparing.map(|stage| stage.name().to_owned()).collect();
    let plan = plan.without_sinks(&comparing);
    let memory = MemoryShares::of(options.memory.unwrap_or(plan.run_config().memory)).batches;
    let lent = services.lend(&options.services);
    let kept = select_kept_stages(&plan, options);
    let pipeline = build(plan, &kept, &services.previous, &BuildContext { root: &options.root, services: &lent })?;
    services.previous.decide(RunScope::Changes);
    let cancel = CancelToken::new();
    let found = Arc::new(Found { changes: Mutex::default(), allowance, cancel: cancel.clone() });
    let deadline = Deadline::start(&cancel, allowance.end());
    let run = RunOptions {
        jobs: options.jobs,
        memory: Some(memory),
        cancel,
        probe: Some(Arc::clone(&found) as _),
        ..RunOptions::default()
    };
    let report = pipeline.run(run)?;
    drop(deadline);
    let changes = *found.changes.lock().unwrap_or_else(PoisonError::into_inner);
    let is_whole = report.outcome == Outcome::Completed;
    Ok(if is_whole { Checked::Whole(changes) } else { Checked::Stopped(changes) })
}

/// Counts what `incremental-check` lets pass.
struct Found {
    changes: Mutex<TreeChanges>,
    allowance: Allowance,
    cancel: CancelToken,
}

impl Probe for Found {
    fn on_output(&self, _: &str, output: &StageOutput<'_>) {
        let (Some(statuses), Some(sizes)) = (output.cells(STATUS), output.cells(SIZE)) else { return };
        let mut changes = self.changes.lock().unwrap_or_else(PoisonError::into_inner);
        for (status, &bytes) in statuses.iter().zip(sizes) {
            match status {
                FileStatus::Touched => changes.touched += 1,
                FileStatus::Deleted => changes.deleted += 1,
                FileStatus::Renamed { .. } => changes.add_renamed(bytes),
                _ => changes.add(bytes),
            }
        }
        if self.allowance.is_exceeded(&changes) {
            self.cancel.cancel();
        }
    }
}
