//! Updates the index of a memory after its entries have changed.

use std::sync::Arc;
use std::time::{Duration, Instant};

use aurora_project::Project;
use aurora_stages::index::{self as indexing, IndexError, kept};
use aurora_storage::{Snapshot, StorageError};

use super::source::IndexedState;
use crate::error::MemoryError;
use crate::store::EntryStore;

/// Maximum time that a search waits for another process that is updating the index.
const MAX_WAIT: Duration = Duration::from_secs(10);
/// Interval between two attempts to update the index.
const POLL_INTERVAL: Duration = Duration::from_millis(2);

/// Updates the index if entries have changed, and returns its newest generation. Returns `None` if no entry was ever
/// added.
///
/// # Errors
/// Fails if the entries cannot be read or the index cannot be written.
pub(crate) fn catch_up(project: &Project, store: &Arc<EntryStore>) -> Result<Option<Snapshot>, MemoryError> {
    let begun = Instant::now();
    loop {
        // The index is read before the entries. In the other order, another process could index newer entries in
        // between.
        let published = published(project)?;
        let newest = IndexedState::from_view(&store.view()?)?;
        if newest.change == 0 {
            return Ok(None);
        }
        if published.as_ref().and_then(indexed_state).is_some_and(|indexed| indexed == newest) {
            return Ok(published);
        }
        // A run replaces the file of a damaged index. This process must close the old file before it can open the new
        // one.
        drop(published);
        match indexing::run_changes(&project.options_of_source(Arc::clone(store))?) {
            Ok(()) => return Ok(Some(project.snapshot()?)),
            Err(IndexError::Storage(StorageError::Locked { .. })) if begun.elapsed() < MAX_WAIT => {
                std::thread::sleep(POLL_INTERVAL);
            }
            Err(error) => return Err(error.into()),
        }
    }
}

/// Whether the published index contains every change of the entries. A memory without changes needs no index.
///
/// # Errors
/// Fails if the entries cannot be read.
pub(crate) fn is_current(project: &Project, store: &EntryStore) -> Result<bool, MemoryError> {
    let published = published(project)?;
    let newest = IndexedState::from_view(&store.view()?)?;
    Ok(newest.change == 0 || published.as_ref().and_then(indexed_state).is_some_and(|indexed| indexed == newest))
}

/// Returns the number of the newest change in the index; 0 if there is no usable index.
pub(crate) fn newest_indexed_change(project: &Project) -> Result<u64, MemoryError> {
    Ok(published(project)?.as_ref().and_then(indexed_state).map_or(0, |indexed| indexed.change))
}

/// Returns the published generation; `None` if it does not exist or cannot be opened, so that a run must build it.
fn published(project: &Project) -> Result<Option<Snapshot>, MemoryError> {
    Ok(if project.has_index() { project.snapshot().ok() } else { None })
}

fn indexed_state(snapshot: &Snapshot) -> Option<IndexedState> {
    IndexedState::parse(kept(&snapshot.manifest().fingerprints).get(IndexedState::STAGE)?)
}
