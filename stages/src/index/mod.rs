//! Index runs: resolve the pipeline, open the index, run the stages and publish the result.

mod access;
mod checkpoints;
mod column_state;
mod custom_columns;
mod deadline;
mod descriptors;
mod directories;
mod dry;
mod embedding_stage;
mod error;
mod keywords;
mod omissions;
mod options;
mod outlook;
mod pass;
mod pass_kind;
mod plan;
mod processor_time;
mod query_embedder;
mod recovery;
mod refresh;
mod root;
mod run_services;
mod runs;
mod scope;
mod scratch;
mod shard;
mod sibling;
mod summary;
mod thresholds;
mod trust;
mod whole_run;

use std::time::{Duration, Instant};

use aurora_pipeline::{Observer as _, Silent};
use aurora_storage::{Environment, OpenMode, ProjectDirectory, StorageError};

pub use crate::services::{ShardNumber, ShardRun};
pub use crate::stand_in::is_built_in;
pub use aurora_history::git_directory;
pub use column_state::{ColumnState, FailedRow, column_states, failed_rows};
pub use custom_columns::declarations as custom_columns;
pub use deadline::Deadline;
pub use directories::directories;
pub use dry::{ChunkRow, DroppedRow, DryRun, FailedRows, StageTrace, dry_run};
pub use embedding_stage::embedding_stage;
pub use error::IndexError;
pub use keywords::{rebuild_bm25, stored_terms};
pub use omissions::{NotIndexed, not_indexed};
pub use options::{GitUse, IndexObserver, IndexOptions, PipelineChoice};
pub use outlook::{RunsOn, StageOutlook, outlook};
pub use plan::{MAX_PIPELINE_BYTES, plan, plan_checked, suppliers, with_dependants};
pub use query_embedder::{StageEmbedder, query_embedder};
pub use refresh::{OutdatedReason, Refresh, Updated, may_update, refresh};
pub use runs::{QuestionScores, RunHistory, RunQuality, RunRecord, RunStage, last_run, record_run, runs};
pub use scope::{kept, recorded_settings};
pub use shard::run_shard;
pub use summary::{
    ChunkCounts, EarlierResults, FileCounts, IndexSummary, KeywordIndex, Skipped, StageNotRun, Unreadable,
};
pub use trust::{Distrust, Trust};
pub use whole_run::WholeRun;

use pass::pass;
use pass_kind::{PassEnd, PassKind};
use processor_time::ProcessorTime;
use recovery::Recovery;
use root::with_indexable_root;

/// Brings the index of a root up to date and publishes it.
///
/// A cancelled run publishes its finished work, and the next run continues from there. A long run also publishes its
/// finished work at intervals, see [`IndexOptions::publish_every`]. The published generation is incomplete. It remains
/// the current generation if the run is killed or fails later. The first run of a git work tree starts from the index
/// of another work tree of the repository, if this user has one. The indexed content of files that cannot be read stays
/// unchanged, see [`IndexSummary::unreadable`]. If only the keyword index is damaged, the run rebuilds it from the
/// stored chunks. If another part is damaged, or if the index has another format, the run moves the index away and
/// builds a new one. Both cases produce a warning.
///
/// # Errors
/// Fails if the configuration is invalid, the index cannot be written, or a stage fails.
pub fn run(options: &IndexOptions, observer: &dyn IndexObserver) -> Result<IndexSummary, IndexError> {
    let time = ProcessorTime::start();
    ensure_descriptors(options)?;
    let options = &with_indexable_root(options)?;
    if options.requires_index {
        recovery::require(options)?;
    }
    let mut done = Vec::from_iter(recovery::clear_unknown(options)?);
    let sibling = sibling::adopt(options)?;
    if options.force && done.is_empty() {
        // Writing a new index over a damaged file would keep the damage.
        done.extend(recovery::clear_damage(&options.root)?);
    }
    let progress = &WholeRun::new(observer);
    loop {
        let error = match attempt(options, progress) {
            Ok(mut summary) => {
                summary.warnings.extend(done.iter().map(Recovery::to_string));
                if !options.cancel.is_cancelled() {
                    compact(options, &mut summary);
                }
                summary.adopted = sibling.map(|sibling| sibling.display().to_string());
                (summary.cpu_seconds, summary.serial_cpu_share) = time.finish(&summary.report);
                // An unchanged index is recorded only by jobs.
                if options.records && !summary.nothing_changed {
                    record_run(&options.root, RunRecord::from_summary(&summary), Vec::new());
                }
                return Ok(summary);
            }
            Err(error) => error,
        };
        if options.requires_index {
            return Err(error);
        }
        match recovery::recover(&error, options, &done)? {
            Some(recovery) => done.push(recovery),
            None => return Err(error),
        }
    }
}

/// Checks that the run may open enough files for its threads.
fn ensure_descriptors(options: &IndexOptions) -> Result<(), IndexError> {
    let threads = options.jobs.or_else(|| std::thread::available_parallelism().ok().map(usize::from));
    descriptors::ensure(threads.unwrap_or(1))
}

/// Minimum size in bytes of an index that a run compacts.
const MIN_COMPACTED_BYTES: u64 = 16 << 20;

/// Compacts the index if more than half of it is free.
fn compact(options: &IndexOptions, summary: &mut IndexSummary) {
    let (project, begun) = (ProjectDirectory::in_root(&options.root), Instant::now());
    let known = &options.trust.known;
    match Environment::compact_if_mostly_free(project.path(), MIN_COMPACTED_BYTES, known, options.workers()) {
        Ok(None) => {}
        Ok(Some(done)) => {
            summary.index_bytes = done.after;
            summary.generation = done.generation;
            summary.elapsed_ms += u64::try_from(begun.elapsed().as_millis()).unwrap_or(0);
            summary.compacted = Some(done);
            let snapshot = Environment::open(project.path(), OpenMode::Existing).and_then(|index| index.snapshot());
            let snapshot = snapshot.map_err(|error| error.to_string());
            summary.warnings.extend(match snapshot {
                Ok(snapshot) => pass::record(&project, &options.trust, &snapshot),
                Err(error) => Some(error),
            });
        }
        // Another process is writing. The next run tries to compact again.
        Err(StorageError::Locked { .. }) => {}
        Err(error) => {
            summary.warnings.push(format!("more than half of the index is free, but compaction failed: {error}"))
        }
    }
}

/// Like [`run`], for a root in which only documents have changed, and whose document source lists the changes. The run
/// takes time in proportion to the changes. It does not find problems in parts of the index that it does not read. If
/// the index cannot be updated in this way, calls [`run`].
///
/// # Errors
/// Fails in the same cases as [`run`].
pub fn run_changes(options: &IndexOptions) -> Result<(), IndexError> {
    let changes = IndexOptions { force: false, ..with_indexable_root(options)? };
    let is_known = recovery::clear_unknown(&changes)?.is_none();
    let done = is_known && pass(&changes, &Silent, PassKind::Changes).is_ok();
    if done { Ok(()) } else { run(options, &Silent).map(drop) }
}

/// Default interval at which a run checks whether the walk over the git history has ended.
const WALK_POLL: Duration = Duration::from_millis(100);

/// Runs one pass, or several passes with publications between them. If files were published without attribution, waits
/// for the walk over the git history and runs another pass for the attributions.
fn attempt(options: &IndexOptions, progress: &WholeRun<'_>) -> Result<IndexSummary, IndexError> {
    let begun = Instant::now();
    let rest = &IndexOptions { force: false, ..options.clone() };
    progress.next_pass(false);
    let mut end = pass(options, progress, PassKind::Whole)?;
    let (summary, deferred) = loop {
        match end {
            PassEnd::Done(summary, deferred) => break (*summary, deferred),
            PassEnd::AtCheckpoint(earlier) => {
                progress.next_pass(true);
                end = pass(rest, progress, PassKind::Rest(earlier))?;
            }
        }
    };
    let Some(walk) = deferred else { return Ok(summary) };
    loop {
        progress.on_history(walk.progress());
        if options.cancel.is_cancelled() {
            return Ok(summary);
        }
        if walk.is_done_after(progress.interval().unwrap_or(WALK_POLL)) {
            break;
        }
    }
    // The earlier passes have already processed failed rows again.
    let rest = &IndexOptions { retries_failures: false, ..rest.clone() };
    progress.next_pass(false);
    let attributed = pass(rest, progress, PassKind::Attributions(walk))?.summary();
    Ok(match attributed {
        Some(attributed) => summary.followed_by(attributed, begun.elapsed()),
        None => summary,
    })
}
