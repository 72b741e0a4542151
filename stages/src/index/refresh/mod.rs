//! Updates an index before a search if the update takes less than a given time.

mod check;
mod cost;

use std::time::{Duration, Instant};

use aurora_pipeline::{CancelToken, Outcome, Plan, Silent};
use aurora_storage::{Origin, ProjectDirectory, Snapshot, StorageError};

use super::deadline::Deadline;
use super::descriptors;
use super::error::IndexError;
use super::options::IndexOptions;
use super::pass::pass;
use super::pass_kind::PassKind;
use super::plan::{plan, select_replaced_stages};
use super::root::with_indexable_root;
use super::summary::IndexSummary;
use crate::stand_in::{can_stand_in, is_built_in};
use check::Checked;
use cost::{Allowance, TreeChanges};

/// The outcome of a refresh before a search.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refresh {
    /// The index is of a kind that [`refresh`] never updates.
    Excluded,
    /// The index matches the tree.
    Current,
    /// A new generation may have been published.
    Updated(Updated),
    /// The index is older than the tree.
    Outdated {
        /// Number of files that were found to differ.
        files: u64,
        /// Whether the check was stopped early, so that more files may differ.
        or_more: bool,
        /// Reason why the index was not updated.
        why: OutdatedReason,
    },
    /// The tree could not be checked in time. Nothing was written.
    Unknown,
}

/// The result of an update.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Updated {
    /// Number of files that were added, changed or removed. The number is 0 if another process updated the index first.
    pub files: u64,
    /// Whether all these files were processed in time.
    pub complete: bool,
    /// Whether the pipeline has stages that run programs. These stages were not run.
    pub without_programs: bool,
    /// Duration of the update, including the check of the tree.
    pub elapsed: Duration,
}

/// Reason why an index was not updated although the tree has changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OutdatedReason {
    /// The update would take longer than allowed.
    TooMuch,
    /// Another process is writing the index.
    Busy,
    /// The index was made by another pipeline or another version of the program.
    OtherPipeline,
}

/// Updates the index of a root if, by an estimate, checking the tree and updating the index take less than `budget`.
/// `snapshot` is the published generation. The function never waits for another writer, and processes only changed
/// files. An update that takes more than twice the budget is stopped and publishes its finished work.
///
/// Some indexes are never updated: imported indexes, indexes that no run of this user has made or updated, indexes that
/// this process cannot write, indexes whose source files are all missing, and indexes whose pipeline has compiled
/// stages of third parties. Stages that run programs are not run: the values of their columns are kept, and new chunks
/// get values in the next index run that runs programs. The attribution of unchanged files is not updated unless the
/// repository was removed. The next index run updates the attribution.
///
/// # Errors
/// Fails if the configuration is invalid, the index cannot be written, or a stage fails. The published generation is
/// then unchanged.
pub fn refresh(options: &IndexOptions, snapshot: &Snapshot, budget: Duration) -> Result<Refresh, IndexError> {
    let begun = Instant::now();
    let options = &IndexOptions { force: false, runs_programs: false, ..with_indexable_root(options)? };
    let Some(origin) = refreshable(options, snapshot) else { return Ok(Refresh::Excluded) };
    let plan = plan(options)?;
    if !has_only_built_in_stages_and_programs(&plan) {
        return Ok(Refresh::Excluded);
    }
    let without_programs = !select_replaced_stages(&plan, options).is_empty();
    let threads = options.jobs.unwrap_or_else(|| plan.run_config().threads());
    descriptors::ensure(threads)?;
    // The first write to an index validates the whole index if it was changed since this user's last run.
    let unvalidated = match origin {
        Origin::Own => 0,
        Origin::OwnButChanged | Origin::Unknown => {
            ProjectDirectory::in_root(&options.root).index_bytes().unwrap_or(u64::MAX)
        }
    };
    let allowance = Allowance::new(begun, budget, threads, snapshot.manifest(), unvalidated);
    let changes = match check::check(plan, options, snapshot, allowance)? {
        Checked::Whole(changes) if changes.is_empty() => return Ok(Refresh::Current),
        // An index that was copied without its sources can still answer searches.
        Checked::Whole(changes) if changes.deleted > 0 && changes.deleted == snapshot.file_count() => {
            return Ok(Refresh::Excluded);
        }
        Checked::Whole(changes) if allowance.covers(&changes, begun.elapsed()) => changes,
        Checked::Whole(changes) => return Ok(outdated(&changes, false, OutdatedReason::TooMuch)),
        Checked::Stopped(changes) if changes.files() > 0 => {
            return Ok(outdated(&changes, true, OutdatedReason::TooMuch));
        }
        Checked::Stopped(_) => return Ok(Refresh::Unknown),
    };
    match update(options, begun, budget) {
        Ok(summary) => {
            let complete = summary.report.outcome == Outcome::Completed;
            let (files, elapsed) = (changed_files(&summary), begun.elapsed());
            Ok(Refresh::Updated(Updated { files, complete, without_programs, elapsed }))
        }
        Err(IndexError::Storage(StorageError::Locked { .. })) => Ok(outdated(&changes, false, OutdatedReason::Busy)),
        Err(IndexError::OtherPipeline) => Ok(outdated(&changes, false, OutdatedReason::OtherPipeline)),
        Err(error) => Err(error),
    }
}

/// Whether a process may update the index of a root without an explicit request. Returns true if a run of this user has
/// made or updated the index, this process can write it, and it was not imported.
pub fn may_update(options: &IndexOptions, snapshot: &Snapshot) -> bool {
    with_indexable_root(options).is_ok_and(|options| refreshable(&options, snapshot).is_some())
}

/// Returns the origin of an index, or `None` if the index must not be updated for a search. Does not check the tree.
fn refreshable(options: &IndexOptions, snapshot: &Snapshot) -> Option<Origin> {
    let directory = ProjectDirectory::in_root(&options.root);
    if snapshot.manifest().imported || !directory.is_index_writable() {
        return None;
    }
    let origin = options.trust.check(&options.root, snapshot).ok()?;
    // An index that the user has only accepted is not updated, because an update would make it the user's own index.
    let is_own = origin != Origin::Unknown && !options.trust.known.is_accepted(directory.path(), snapshot);
    is_own.then_some(origin)
}

/// Whether every stage of the plan is built in or runs a program. A refresh does not run programs. Any other stage
/// could read inputs that the check of the tree does not cover.
fn has_only_built_in_stages_and_programs(plan: &Plan) -> bool {
    plan.stages().iter().all(|stage| is_built_in(stage) || can_stand_in(stage))
}

fn outdated(changes: &TreeChanges, or_more: bool, why: OutdatedReason) -> Refresh {
    Refresh::Outdated { files: changes.files(), or_more, why }
}

/// Runs one pass over the changes. The pass waits for the walk over the git history until the budget is used up. Files
/// that have no attribution by then get it in the next run.
fn update(options: &IndexOptions, begun: Instant, budget: Duration) -> Result<IndexSummary, IndexError> {
    let cancel = CancelToken::new();
    let _deadline = Deadline::start(&cancel, begun + 2 * budget);
    let patience = Some(budget.saturating_sub(begun.elapsed()));
    let options = IndexOptions { cancel, patience, ..options.clone() };
    let end = pass(&options, &Silent, PassKind::Changes)?;
    Ok(end.summary().expect("a pass over changes has no checkpoints"))
}

/// Returns the number of files that were added, changed or removed. A renamed file counts once.
fn changed_files(summary: &IndexSummary) -> u64 {
    let files = &summary.files;
    files.indexed + files.deleted.saturating_sub(files.renamed)
}
