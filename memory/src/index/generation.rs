//! Brings the index of a memory in line with its entries.

use std::sync::Arc;
use std::time::{Duration, Instant};

use aurora_project::Project;
use aurora_stages::index::{self as indexing, IndexError, IndexOptions, kept};
use aurora_storage::{Snapshot, StorageError};

use super::source::{self, Followed};
use crate::error::MemoryError;
use crate::store::EntryStore;

/// How long a search waits for another process that brings the index up to date, and the time between two looks.
const LONGEST_WAIT: Duration = Duration::from_secs(10);
const BETWEEN_LOOKS: Duration = Duration::from_millis(2);

/// The newest generation, after the changes that it has not followed yet; `None` where no entry was ever added.
///
/// # Errors
/// When the entries cannot be read, or the index cannot be written.
pub(crate) fn catch_up(project: &Project, store: &Arc<EntryStore>) -> Result<Option<Snapshot>, MemoryError> {
    let begun = Instant::now();
    loop {
        // Read before the entries: it may be ahead of what was read of them earlier.
        let published = published(project)?;
        let newest = Followed::of(&store.view()?)?;
        if newest.change == 0 {
            return Ok(None);
        }
        if published.as_ref().and_then(followed).is_some_and(|followed| followed == newest) {
            return Ok(published);
        }
        // A run puts another file in the place of a damaged index, and this process can open that only after it has closed the old one.
        drop(published);
        let mut options = IndexOptions { pipeline: source::pipeline(), ..project.options_without_programs()? };
        options.services.insert(Arc::clone(store));
        match indexing::run_changes(&options) {
            Ok(()) => return Ok(Some(project.snapshot()?)),
            Err(IndexError::Storage(StorageError::Locked { .. })) if begun.elapsed() < LONGEST_WAIT => {
                std::thread::sleep(BETWEEN_LOOKS);
            }
            Err(error) => return Err(error.into()),
        }
    }
}

/// The number of the newest change that the index has followed; 0 without an index.
pub(crate) fn followed_change(project: &Project) -> Result<u64, MemoryError> {
    Ok(published(project)?.as_ref().and_then(followed).map_or(0, |followed| followed.change))
}

/// The published generation, if it can be used; a run makes another one where it cannot.
fn published(project: &Project) -> Result<Option<Snapshot>, MemoryError> {
    Ok(if project.has_index() { project.snapshot().ok() } else { None })
}

fn followed(snapshot: &Snapshot) -> Option<Followed> {
    Followed::parse(kept(&snapshot.manifest().fingerprints).get(Followed::STAGE)?)
}
