//! The services that the stages of one index run share, with one type per purpose.
//!
//! A stage receives its services when it is built, so its fields show its dependencies. Two services are defined in
//! other modules: [`IndexWriter`](aurora_storage::IndexWriter), which stores the output of the sinks, and
//! [`Repository`](crate::git_signal::Repository), which provides the git history.

mod cache_files;
mod checkpoint;
mod custom_columns;
mod last_check;
mod models;
mod moves;
mod previous_index;
mod run_clock;
mod shard;
mod source_tree;
mod unread;

use std::any::Any;
use std::sync::Arc;

use aurora_pipeline::{BuildContext, StageError};

pub(crate) use cache_files::CacheFiles;
pub(crate) use checkpoint::Checkpoint;
pub(crate) use custom_columns::CustomColumns;
pub(crate) use last_check::{LastCheck, MAX_CHECK_BYTES};
pub(crate) use models::Models;
pub(crate) use moves::Moves;
pub(crate) use previous_index::{PreviousIndex, RestoredChunk, Retry, RunScope, UnfinishedPolicy};
pub(crate) use run_clock::RunClock;
pub(crate) use shard::{MAX_HISTORY_WALK_BYTES, SharedHistory};
pub use shard::{ShardNumber, ShardRun};
pub(crate) use source_tree::{MAX_FILE_SIZE, SourceTree};
pub(crate) use unread::{ROOT, UnreadPaths, is_gone};

/// Returns the service of type `T` for a stage that is being built.
///
/// # Errors
/// Fails if the pipeline is built outside an index run.
pub(crate) fn service<T: Any + Send + Sync>(cx: &BuildContext<'_>) -> Result<Arc<T>, StageError> {
    cx.services.get::<T>().ok_or_else(|| StageError::new("this stage can only run as part of an index run"))
}
