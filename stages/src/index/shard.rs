//! Index runs on one part of a tree, so that several machines can build an index together.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use aurora_pipeline::Outcome;
use aurora_storage::{ArtefactManifest, Environment, OpenMode, Shard};

use super::error::IndexError;
use super::options::{IndexObserver, IndexOptions};
use super::plan::{plan, suppliers};
use super::processor_time::ProcessorTime;
use super::root::with_indexable_root;
use super::scratch::scratch;
use super::summary::IndexSummary;
use super::trust::Trust;
use super::whole_run::WholeRun;
use super::{attempt, ensure_descriptors};
use crate::services::{ShardNumber, ShardRun, SharedHistory};

/// Indexes one shard of a root, and writes the result to the file `target` as an artefact, which
/// [`Environment::merge`] combines with the artefacts of the other shards. `program` is the name and version of the
/// program. The project's own index is not used and not changed. With `history`, all shards cache the walk over the git
/// history in this file, so that only the first of them compares all commits. Whoever writes the file determines to
/// whom lines are attributed.
///
/// The files are divided by their sizes into ranges of the sorted paths, so all machines with the same tree and
/// configuration divide it in the same way. Returns no manifest and leaves `target` unchanged if the run was cancelled.
///
/// # Errors
/// Returns the errors of [`run`](super::run). Also fails if a stage of the pipeline supplies documents, because it is
/// unknown which of them belong to the shard.
pub fn run_shard(
    options: &IndexOptions,
    shard: ShardNumber,
    target: &Path,
    history: Option<&Path>,
    program: &str,
    observer: &dyn IndexObserver,
) -> Result<(IndexSummary, Option<ArtefactManifest>), IndexError> {
    let time = ProcessorTime::start();
    ensure_descriptors(options)?;
    let root = with_indexable_root(options)?;
    if let Some(stage) = suppliers(&plan(&root)?).next() {
        return Err(IndexError::Supplier(stage.to_owned()));
    }
    let open = |path: &Path| {
        SharedHistory::open(path).map_err(|source| IndexError::SharedHistory { path: path.to_owned(), source })
    };
    let history = history.map(open).transpose()?;
    let (scratch, tree) = (scratch()?, Arc::default());
    let options = IndexOptions {
        shard: Some(ShardRun { shard, directory: scratch.path().to_owned(), history, tree: Arc::clone(&tree) }),
        trust: Trust::everything(),
        // Everything is exported at once at the end, so neither checkpoints nor a second pass are useful.
        publish_every: Some(Duration::MAX),
        patience: Some(Duration::MAX),
        ..root
    };
    let mut summary = attempt(&options, &WholeRun::new(observer))?;
    let is_whole = summary.report.outcome == Outcome::Completed && !options.cancel.is_cancelled();
    let manifest = match tree.get().filter(|_| is_whole) {
        Some(tree) => {
            let snapshot = Environment::open(scratch.path(), OpenMode::Existing)?.snapshot()?;
            let (count, ids) = (shard.count.get(), snapshot.manifest().next_chunk_id);
            let shard = Shard { number: shard.number, count, tree: tree.clone(), ids };
            Some(snapshot.export_shard(target, program, Some(shard), options.workers())?)
        }
        None => None,
    };
    (summary.cpu_seconds, summary.serial_cpu_share) = time.finish(&summary.report);
    Ok((summary, manifest))
}
