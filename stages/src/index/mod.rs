//! An index run from end to end: plan, open, run the stages, publish.

mod access;
mod checkpoints;
mod column_state;
mod custom_columns;
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
mod sibling;
mod summary;
mod thresholds;
mod trust;
mod whole_run;

use std::time::{Duration, Instant};

use aurora_pipeline::{Observer as _, Silent};
use aurora_storage::{Environment, OpenMode, ProjectDirectory, StorageError};

pub use crate::kept_stage::is_built_in;
pub use aurora_history::git_directory;
pub use column_state::{ColumnState, FailedRow, column_states, failed_rows};
pub use custom_columns::declarations as custom_columns;
pub use directories::directories;
pub use dry::{ChunkRow, DroppedRow, DryRun, FailedRows, StageTrace, dry_run};
pub use embedding_stage::embedding_stage;
pub use error::IndexError;
pub use keywords::rebuild_bm25;
pub use omissions::{NotIndexed, not_indexed};
pub use options::{IndexObserver, IndexOptions, PipelineChoice};
pub use outlook::{RunsOn, StageOutlook, outlook};
pub use plan::{MAX_PIPELINE_BYTES, plan, plan_checked, suppliers, with_dependants};
pub use query_embedder::{StageEmbedder, query_embedder};
pub use refresh::{OutdatedReason, Refresh, Updated, may_update, refresh};
pub use runs::{RunRecord, RunStage, runs};
pub use scope::{kept, recorded_settings};
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
/// finished work at intervals, see [`IndexOptions::publish_every`]. Such a generation is incomplete, and remains if the
/// run is killed or fails later. The first run of a git work tree starts from the index of another work tree of the
/// repository, if this user has one. Files that cannot be read stay in the index unchanged, see
/// [`IndexSummary::unreadable`]. If the keyword index is damaged, it is rebuilt from the stored chunks. An index that
/// is damaged elsewhere, or has another format, is set aside and rebuilt. Both cases produce a warning.
///
/// # Errors
/// If the configuration is invalid, the index cannot be written, or a stage fails.
pub fn run(options: &IndexOptions, observer: &dyn IndexObserver) -> Result<IndexSummary, IndexError> {
    let time = ProcessorTime::start();
    let threads = options.jobs.or_else(|| std::thread::available_parallelism().ok().map(usize::from));
    descriptors::ensure(threads.unwrap_or(1))?;
    let options = &with_indexable_root(options)?;
    if options.requires_index {
        recovery::require(options)?;
    }
    let mut done = Vec::from_iter(recovery::clear_unknown(options)?);
    let sibling = sibling::adopt(options)?;
    if options.force && done.is_empty() {
        // A new index written over a damaged file would be damaged as well.
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
                runs::record_run(&summary, &options.root);
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

/// Minimum size in bytes of an index that a run compacts.
const MIN_COMPACTED_BYTES: u64 = 16 << 20;

/// Returns the space of deleted data to the system, if it is more than half of the index.
fn compact(options: &IndexOptions, summary: &mut IndexSummary) {
    let (home, begun) = (ProjectDirectory::in_root(&options.root), Instant::now());
    let known = &options.trust.known;
    match Environment::compact_if_mostly_free(home.path(), MIN_COMPACTED_BYTES, known, options.workers()) {
        Ok(None) => {}
        Ok(Some(done)) => {
            summary.index_bytes = done.after;
            summary.generation = done.generation;
            summary.elapsed_ms += u64::try_from(begun.elapsed().as_millis()).unwrap_or(0);
            summary.compacted = Some(done);
            let snapshot = Environment::open(home.path(), OpenMode::Existing).and_then(|index| index.snapshot());
            let snapshot = snapshot.map_err(|error| error.to_string());
            summary.warnings.extend(match snapshot {
                Ok(snapshot) => pass::record(&home, &options.trust, &snapshot),
                Err(error) => Some(error),
            });
        }
        // Another process is writing. The next run tries again.
        Err(StorageError::Locked { .. }) => {}
        Err(error) => {
            summary.warnings.push(format!("more than half of the index is free, but compaction failed: {error}"))
        }
    }
}

/// Like [`run`], for a run in which only documents have changed and their source lists the changes. Takes time in
/// proportion to the changes. Other problems that a full run would find, such as damage in parts that this run does not
/// read, remain.
///
/// # Errors
/// The same as for [`run`].
pub fn run_changes(options: &IndexOptions) -> Result<(), IndexError> {
    let changes = IndexOptions { force: false, ..with_indexable_root(options)? };
    let is_known = recovery::clear_unknown(&changes)?.is_none();
    let done = is_known && pass(&changes, &Silent, PassKind::Changes).is_ok();
    if done { Ok(()) } else { run(options, &Silent).map(drop) }
}

/// Interval at which the walk over the git history is checked, if the observer sets none.
const WALK_POLL: Duration = Duration::from_millis(100);

/// Runs one pass, or several passes with publications between them. Runs another pass for attributions if files did not
/// wait for the walk over the git history.
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
    // The earlier passes have already tried failed rows again.
    let rest = &IndexOptions { retries_failures: false, ..rest.clone() };
    progress.next_pass(false);
    let attributed = pass(rest, progress, PassKind::Attributions(walk))?.summary();
    Ok(match attributed {
        Some(attributed) => summary.followed_by(attributed, begun.elapsed()),
        None => summary,
    })
}
