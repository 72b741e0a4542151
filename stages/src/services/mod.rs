//! What the stages of one index run share, one type for each purpose.
//!
//! A stage takes the services that it uses when it is built, so its fields show what it depends on. Two services are
//! defined elsewhere: [`IndexWriter`](aurora_storage::IndexWriter), which takes what the sinks store, and
//! [`Repository`](crate::git_signal::Repository), which knows git's history.

mod cache_files;
mod checkpoint;
mod custom_columns;
mod last_check;
mod models;
mod moves;
mod previous_index;
mod run_clock;
mod source_tree;
mod unread;

use std::any::Any;
use std::sync::Arc;

use aurora_pipeline::{BuildContext, StageError};

pub(crate) use cache_files::CacheFiles;
pub(crate) use checkpoint::Checkpoint;
pub(crate) use custom_columns::CustomColumns;
pub(crate) use last_check::{LastCheck, MAX_CHECK};
pub(crate) use models::Models;
pub(crate) use moves::Moves;
pub(crate) use previous_index::{PreviousIndex, RestoredChunk, Retry, RunScope, UnfinishedPolicy};
pub(crate) use run_clock::RunClock;
pub(crate) use source_tree::{MAX_FILE_SIZE, SourceTree};
pub(crate) use unread::{ROOT, Unread, is_gone};

/// The service of a type, for a stage that is being built.
///
/// # Errors
/// When the pipeline is built outside an index run.
pub(crate) fn service<T: Any + Send + Sync>(cx: &BuildContext<'_>) -> Result<Arc<T>, StageError> {
    cx.services.get::<T>().ok_or_else(|| StageError::new("this stage runs as part of an index run only"))
}
