//! Determines what has changed in the tree, without writing anything.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use aurora_pipeline::{BuildContext, CancelToken, Outcome, Plan, Probe, RunOptions, StageConfig, StageOutput};
use aurora_storage::{ProjectDirectory, Snapshot};

use super::cost::{Allowance, TreeChanges};
use crate::columns::{FileStatus, LOG_PART, SIZE, STATUS};
use crate::discover;
use crate::incremental::IncrementalCheck;
use crate::index::deadline::Deadline;
use crate::index::error::IndexError;
use crate::index::options::IndexOptions;
use crate::index::plan::{build, select_replaced_stages};
use crate::index::run_services::{MemoryShares, RunServices};
use crate::services::{CacheFiles, LastCheck, MAX_CHECK_BYTES, RunScope};

/// The result of a check of the tree.
pub(super) enum Checked {
    /// All changes.
    Whole(TreeChanges),
    /// The changes that were found before the check was stopped because a limit was exceeded.
    Stopped(TreeChanges),
}

/// Walks the tree and compares it with `snapshot`, like the `discover` and `incremental-check` stages of a run. The
/// walk is skipped if the stat data is unchanged since the last check that found no change. Files whose time or size
/// differs are read. The check stops as soon as an update would take longer than allowed.
pub(super) fn check(
    plan: Plan,
    options: &IndexOptions,
    snapshot: &Snapshot,
    allowance: Allowance,
) -> Result<Checked, IndexError> {
    // The services are created from the whole plan, because it shows whether a stage determines the blame of files.
    // Below, the plan is shortened to the stages that compare the tree with the index.
    let services = RunServices::checking(&plan, options, snapshot.clone())?;
    let comparing = plan.stages().iter().filter(|stage| stage.type_name() == IncrementalCheck::TYPE);
    let comparing: Vec<String> = comparing.map(|stage| stage.name().to_owned()).collect();
    let plan = plan.without_sinks(&comparing);
    let last_check = last_check(&options.root, &plan, snapshot, services.repository.state()).map(Arc::new);
    let cancel = CancelToken::new();
    let deadline = Deadline::start(&cancel, allowance.end());
    let threads = options.jobs.unwrap_or_else(|| plan.run_config().threads());
    let (tree, repository) = (&services.tree, &services.repository);
    if last_check
        .as_ref()
        .is_some_and(|last| discover::is_unchanged_since_check(last, tree, repository, threads, &cancel))
    {
        return Ok(Checked::Whole(TreeChanges::default()));
    }
    let memory = MemoryShares::from_total(options.memory.unwrap_or(plan.run_config().memory)).batches;
    let mut lent = services.lend(&options.services);
    last_check.iter().for_each(|last_check| lent.insert(Arc::clone(last_check)));
    let replaced = select_replaced_stages(&plan, options);
    let pipeline = build(plan, &replaced, &services.previous, &BuildContext { root: &options.root, services: &lent })?;
    services.previous.set_scope(RunScope::Changes);
    let found = Arc::new(Found { changes: Mutex::default(), allowance, cancel: cancel.clone() });
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
    // The check has read files whose stat data differs and found their content unchanged, so their current stat data
    // can be stored as that of the indexed content.
    if let Some(last_check) = last_check.filter(|_| is_whole && report.errors.is_empty() && changes.is_empty()) {
        last_check.store();
    }
    Ok(if is_whole { Checked::Whole(changes) } else { Checked::Stopped(changes) })
}

/// Returns the record of the last check for this generation, plan and repository state, or `None` if the index has no
/// id.
fn last_check(root: &Path, plan: &Plan, snapshot: &Snapshot, repository: &str) -> Option<LastCheck> {
    let caches = CacheFiles::new(ProjectDirectory::in_root(root).open().ok()?, &snapshot.id()?);
    let generation = snapshot.manifest().generation.to_string();
    let parts = [&generation, env!("CARGO_PKG_VERSION"), repository, &plan.show()];
    let key: Vec<&[u8]> = parts.iter().flat_map(|part| [part.as_bytes(), b"\0"]).collect();
    let file = caches.file(ProjectDirectory::TREE_CHECK, MAX_CHECK_BYTES);
    Some(LastCheck::new(file, blake3::hash(&key.concat()).as_bytes()))
}

/// A probe that counts the files that `incremental-check` passes on.
struct Found {
    changes: Mutex<TreeChanges>,
    allowance: Allowance,
    cancel: CancelToken,
}

impl Probe for Found {
    fn on_output(&self, _: &str, output: &StageOutput<'_>) {
        let (Some(statuses), Some(sizes)) = (output.cells(STATUS), output.cells(SIZE)) else { return };
        let mut changes = self.changes.lock().unwrap_or_else(PoisonError::into_inner);
        let parts = output.cells(LOG_PART);
        let is_later_part =
            |row: usize| parts.is_some_and(|parts| parts[row].as_ref().is_some_and(|part| part.index > 0));
        for (row, (status, &bytes)) in statuses.iter().zip(sizes).enumerate() {
            match status {
                _ if is_later_part(row) => {}
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
