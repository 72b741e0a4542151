//! An index run from end to end: plan, open, run the stages, publish.

mod access;
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
mod trust;

use std::path::Path;
use std::time::{Duration, Instant};

use aurora_pipeline::Silent;

pub use aurora_history::git_directory;
pub use custom_columns::declarations as custom_columns;
pub use directories::directories;
pub use dry::{ChunkRow, DroppedRow, DryRun, FailedRows, StageTrace, dry_run};
pub use embedding_stage::embedding_stage;
pub use error::IndexError;
pub use keywords::rebuild_bm25;
pub use omissions::{NotIndexed, not_indexed};
pub use options::{IndexObserver, IndexOptions, PipelineChoice};
pub use outlook::{RunsOn, StageOutlook, outlook};
pub use plan::{MOST_PIPELINE_BYTES, plan, plan_checked, suppliers};
pub use query_embedder::{StageEmbedder, query_embedder};
pub use refresh::{Refresh, Unrefreshed, Updated, may_update, refresh};
pub use runs::{RunRecord, RunStage, runs};
pub use scope::kept;
pub use summary::{ChunkCounts, FileCounts, IndexSummary, KeywordIndex, Skipped, Unreadable};
pub use trust::{Distrust, Trust};

use pass::pass;
use pass_kind::PassKind;
use recovery::Recovery;

/// Brings the index of a root up to date and publishes it.
///
/// A run that is cancelled publishes what it has finished; the next one continues from there. A run that fails publishes
/// nothing. The first run of a git work tree starts from the index of another work tree of the repository, where this user has one. Files that cannot be read stay in the index as they are, see [`IndexSummary::unreadable`]. If the keyword index
/// is damaged, it is rebuilt from the stored chunks; an index that is damaged elsewhere, or has another format, is set aside
/// and built anew. Either gives a warning.
///
/// # Errors
/// When the configuration is wrong, the index cannot be written, or a stage fails.
pub fn run(options: &IndexOptions, observer: &dyn IndexObserver) -> Result<IndexSummary, IndexError> {
    let threads = options.jobs.or_else(|| std::thread::available_parallelism().ok().map(usize::from));
    descriptors::ensure(threads.unwrap_or(1))?;
    let root = root::indexable(&options.root)?;
    let options = &IndexOptions { root: root.clone(), ..options.clone() };
    let mut done = Vec::from_iter(recovery::clear_unknown(&root, &options.trust)?);
    let sibling = sibling::adopt(&root, options)?;
    if options.force && done.is_empty() {
        // A new index that is written over a damaged file is damaged as well.
        done.extend(recovery::clear_damage(&root)?);
    }
    loop {
        let error = match attempt(&root, options, observer) {
            Ok(mut summary) => {
                summary.warnings.extend(done.iter().map(Recovery::to_string));
                summary.adopted = sibling.map(|sibling| sibling.display().to_string());
                runs::remember(&summary, &root);
                return Ok(summary);
            }
            Err(error) => error,
        };
        match recovery::recover(&error, &root, options, &done)? {
            Some(recovery) => done.push(recovery),
            None => return Err(error),
        }
    }
}

/// The same where only documents have changed, and their source tells which: takes time in proportion to the change. What a run
/// over everything would find beside it, such as damage that such a run does not come upon, stays as it is.
///
/// # Errors
/// As for [`run`].
pub fn run_changes(options: &IndexOptions) -> Result<(), IndexError> {
    let root = root::indexable(&options.root)?;
    let changes = IndexOptions { root: root.clone(), force: false, ..options.clone() };
    let is_known = recovery::clear_unknown(&root, &options.trust)?.is_none();
    let done = is_known && pass(&root, &changes, &Silent, PassKind::Changes).is_ok();
    if done { Ok(()) } else { run(options, &Silent).map(drop) }
}

/// Time between two looks at the walk over git's history, if the observer gives none.
const WALK_POLL: Duration = Duration::from_millis(100);

/// One pass, and a second one for attributions if the first one did not wait for the walk over git's history.
fn attempt(root: &Path, options: &IndexOptions, observer: &dyn IndexObserver) -> Result<IndexSummary, IndexError> {
    let begun = Instant::now();
    let (summary, deferred) = pass(root, options, observer, PassKind::Whole)?;
    let Some(walk) = deferred else { return Ok(summary) };
    loop {
        observer.on_history(walk.progress());
        if options.cancel.is_cancelled() {
            return Ok(summary);
        }
        if walk.is_done_after(observer.interval().unwrap_or(WALK_POLL)) {
            break;
        }
    }
    let options = &IndexOptions { force: false, ..options.clone() };
    let (attributed, _) = pass(root, options, observer, PassKind::Attributions(walk))?;
    Ok(summary.followed_by(attributed, begun.elapsed()))
}
