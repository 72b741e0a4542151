//! Bringing an index up to date before a search, if that takes less than a given time.

mod check;
mod cost;
mod deadline;

use std::path::Path;
use std::time::{Duration, Instant};

use aurora_pipeline::{CancelToken, Outcome, Plan, Silent};
use aurora_storage::{Origin, ProjectDirectory, Snapshot, StorageError};

use super::descriptors;
use super::error::IndexError;
use super::options::IndexOptions;
use super::pass::pass;
use super::pass_kind::PassKind;
use super::plan::{plan, select_kept_stages};
use super::root;
use super::summary::IndexSummary;
use crate::kept_stage::{can_stand_in, is_built_in};
use check::Checked;
use cost::{Allowance, TreeChanges};
use deadline::Deadline;

/// What became of an index before a search.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refresh {
    /// Such an index is never updated for a search; the tree was not looked at.
    Excluded,
    /// The tree is as it was indexed.
    Current,
    /// A new generation may have been published.
    Updated(Updated),
    /// The index is older than the tree.
    Outdated {
        /// How many files differ, as far as the tree was looked at.
        files: u64,
        /// Whether there may be more.
        or_more: bool,
        /// Why it was not updated.
        why: Unrefreshed,
    },
    /// The tree could not be looked at in that time; nothing was written.
    Unknown,
}

/// What an update has done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Updated {
    /// Files that were added, changed or removed; 0 if another process was faster.
    pub files: u64,
    /// Whether all of them were processed before the time was up.
    pub complete: bool,
    /// Whether the pipeline has stages with programs, which were not run.
    pub without_programs: bool,
    /// How long it took, the look at the tree included.
    pub elapsed: Duration,
}

/// Why an index was not updated although the tree has changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unrefreshed {
    /// It would take longer than allowed.
    TooMuch,
    /// Another process is writing it.
    Busy,
    /// It was made by another pipeline, or another version of the program.
    OtherPipeline,
}

/// Updates the index of a root if looking at the tree and the update together take less than `budget`, as far as that can be
/// told. `snapshot` is the published generation. Never waits for another writer, and makes nothing again but what changed
/// files ask for. An update that takes more than twice the time is stopped, and publishes what it has finished.
///
/// Left alone are indexes that no run of this user has made or updated, that this process cannot write, whose sources are not
/// there, or whose pipeline has compiled stages of others. Stages that run programs are not run: other columns stay as they
/// were, and new chunks wait for these stages. The attribution of unchanged files is left to the next run, unless the repository
/// has been removed.
///
/// # Errors
/// When the configuration is wrong, the index cannot be written, or a stage fails: the published generation is then still the
/// one before.
pub fn refresh(options: &IndexOptions, snapshot: &Snapshot, budget: Duration) -> Result<Refresh, IndexError> {
    let begun = Instant::now();
    let root = root::indexable(&options.root)?;
    let options = &IndexOptions { root: root.clone(), force: false, runs_programs: false, ..options.clone() };
    let Some(origin) = refreshable(&root, options, snapshot) else { return Ok(Refresh::Excluded) };
    let plan = plan(options)?;
    if !runs_no_other_stage(&plan) {
        return Ok(Refresh::Excluded);
    }
    let without_programs = !select_kept_stages(&plan, options).is_empty();
    let threads = options.jobs.unwrap_or_else(|| plan.run_config().threads());
    descriptors::ensure(threads)?;
    // The first write to an index is validated as a whole if it is not as the last run left it.
    let unvalidated = match origin {
        Origin::Own => 0,
        Origin::OwnButChanged | Origin::Unknown => ProjectDirectory::of(&root).index_bytes().unwrap_or(u64::MAX),
    };
    let allowance = Allowance::new(begun, budget, threads, snapshot.manifest(), unvalidated);
    let changes = match check::check(plan, options, snapshot, allowance)? {
        Checked::Whole(changes) if changes.is_none() => return Ok(Refresh::Current),
        // An index that has travelled without its sources still answers.
        Checked::Whole(changes) if changes.deleted > 0 && changes.deleted == snapshot.file_count() => {
            return Ok(Refresh::Excluded);
        }
        Checked::Whole(changes) if allowance.covers(&changes, begun.elapsed()) => changes,
        Checked::Whole(changes) => return Ok(outdated(&changes, false, Unrefreshed::TooMuch)),
        Checked::Stopped(changes) if changes.files() > 0 => {
            return Ok(outdated(&changes, true, Unrefreshed::TooMuch));
        }
        Checked::Stopped(_) => return Ok(Refresh::Unknown),
    };
    match update(&root, options, begun, budget) {
        Ok(summary) => {
            let complete = summary.report.outcome == Outcome::Completed;
            let (files, elapsed) = (changed_files(&summary), begun.elapsed());
            Ok(Refresh::Updated(Updated { files, complete, without_programs, elapsed }))
        }
        Err(IndexError::Storage(StorageError::Locked { .. })) => Ok(outdated(&changes, false, Unrefreshed::Busy)),
        Err(IndexError::OtherPipeline) => Ok(outdated(&changes, false, Unrefreshed::OtherPipeline)),
        Err(error) => Err(error),
    }
}

/// Whether a process may update the index of a root without being asked to: it is one that a run of this user has made or
/// updated, this process can write it, and it has not been imported.
pub fn may_update(options: &IndexOptions, snapshot: &Snapshot) -> bool {
    root::indexable(&options.root).is_ok_and(|root| refreshable(&root, options, snapshot).is_some())
}

/// The origin of an index that may be updated for a search, judged without a look at the tree.
fn refreshable(root: &Path, options: &IndexOptions, snapshot: &Snapshot) -> Option<Origin> {
    let directory = ProjectDirectory::of(root);
    if snapshot.manifest().imported || !directory.is_index_writable() {
        return None;
    }
    let origin = options.trust.check(root, snapshot).ok()?;
    // An update would make an index the user's own that the user has only accepted.
    let is_own = origin != Origin::Unknown && !options.trust.known.is_accepted(directory.path(), snapshot);
    is_own.then_some(origin)
}

/// Whether every stage that is run is a built-in one: others may read what a check does not see. Stages with programs are not run.
fn runs_no_other_stage(plan: &Plan) -> bool {
    plan.stages().iter().all(|stage| is_built_in(stage) || can_stand_in(stage))
}

fn outdated(changes: &TreeChanges, or_more: bool, why: Unrefreshed) -> Refresh {
    Refresh::Outdated { files: changes.files(), or_more, why }
}

/// One pass over what has changed. Files wait for their history as long as the time allows; those that do not get it are
/// attributed by the next run.
fn update(root: &Path, options: &IndexOptions, begun: Instant, budget: Duration) -> Result<IndexSummary, IndexError> {
    let cancel = CancelToken::new();
    let _deadline = Deadline::start(&cancel, begun + 2 * budget);
    let patience = Some(budget.saturating_sub(begun.elapsed()));
    let options = IndexOptions { cancel, patience, ..options.clone() };
    let end = pass(root, &options, &Silent, PassKind::Changes)?;
    Ok(end.summary().expect("only a pass over everything has checkpoints"))
}

/// Files that were added, changed or removed. A renamed file is one of those.
fn changed_files(summary: &IndexSummary) -> u64 {
    let files = &summary.files;
    files.indexed + files.deleted.saturating_sub(files.renamed)
}
