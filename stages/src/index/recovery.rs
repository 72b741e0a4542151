//! What is done about an index that cannot be used.

use std::fmt;
use std::path::Path;

use aurora_pipeline::StageConfig;
use aurora_storage::{Environment, OpenMode, Snapshot, StorageError};

use super::{Distrust, INDEX_DIRECTORY, IndexError, IndexOptions, Trust, rebuild_bm25};
use crate::bm25::Bm25;

/// What was done so that a run could go on, as a warning tells it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Recovery {
    /// The keyword index was made again from the stored chunks.
    Rebuilt(String),
    /// The whole index was moved out of the way.
    SetAside(String),
    /// The same, because it is not one of this user's.
    Distrusted(Distrust),
}

impl fmt::Display for Recovery {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rebuilt(reason) => {
                write!(f, "the keyword index was damaged ({reason}); it was built again from the stored chunks")
            }
            Self::SetAside(reason) => {
                write!(f, "the index could not be used ({reason}); it was set aside and made anew")
            }
            Self::Distrusted(reason) => {
                write!(f, "the index that was there is not trusted ({reason}); it was set aside and made anew")
            }
        }
    }
}

/// Does what lets the next attempt at a run succeed, if the error of the last one says that the index is unusable: as
/// little as will do, and nothing twice. With `force`, by which everything is made again, even a file of another program
/// is set aside.
///
/// # Errors
/// When nothing can be done, because another run is writing, or the disk refuses.
pub(super) fn recover(
    error: &IndexError,
    root: &Path,
    options: &IndexOptions,
    done: &[Recovery],
) -> Result<Option<Recovery>, IndexError> {
    let directory = root.join(INDEX_DIRECTORY);
    let Some(reason) = unusable(error, &directory, options.force) else { return Ok(None) };
    if done.iter().any(|done| matches!(done, Recovery::SetAside(_))) {
        return Ok(None);
    }
    if done.is_empty() && !options.force && is_about_keywords(&directory) {
        match rebuild_bm25(root, &options.trust) {
            // Somebody else's damage meanwhile: what is left can still be set aside.
            Err(IndexError::Storage(error)) if error.unusable_index().is_some() => {}
            rebuilt => return rebuilt.map(|_| Some(Recovery::Rebuilt(reason))),
        }
    }
    Environment::set_aside(&directory)?;
    Ok(Some(Recovery::SetAside(reason)))
}

/// Sets an index aside that must not be used.
///
/// # Errors
/// When another run is writing, or the disk refuses.
pub(super) fn clear_unknown(root: &Path, trust: &Trust) -> Result<Option<Recovery>, IndexError> {
    let directory = root.join(INDEX_DIRECTORY);
    if !Environment::is_present(&directory) {
        return Ok(None);
    }
    // One that cannot be opened is not written to either: the run stops, and is recovered from then.
    let opened = Environment::open(&directory, OpenMode::Create).and_then(|environment| environment.snapshot());
    // One without tables holds nothing that could be believed; the run writes them.
    let Some(snapshot) = opened.ok().filter(|snapshot| snapshot.id().is_some()) else { return Ok(None) };
    let Err(reason) = trust.check(root, &snapshot) else { return Ok(None) };
    let is_published = snapshot.manifest().generation > 0;
    drop(snapshot);
    Environment::set_aside_sound(&directory)?;
    // What a first run has left that was killed held no answer yet.
    Ok(is_published.then_some(Recovery::Distrusted(reason)))
}

/// Sets an index aside in which something is damaged, even where a run would not come upon it.
///
/// # Errors
/// When another run is writing, or the disk refuses.
pub(super) fn clear_damage(root: &Path) -> Result<Option<Recovery>, IndexError> {
    let directory = root.join(INDEX_DIRECTORY);
    // One that cannot be opened stops the run, and is recovered from then.
    let problem = snapshot(&directory).and_then(|snapshot| snapshot.verify().problems.into_iter().next());
    let Some(problem) = problem else { return Ok(None) };
    Environment::set_aside(&directory)?;
    Ok(Some(Recovery::SetAside(problem)))
}

/// What is wrong with the index, if that may be why a run failed and something may be done about it.
fn unusable(error: &IndexError, directory: &Path, force: bool) -> Option<String> {
    match error {
        IndexError::Storage(StorageError::Foreign { .. }) if !force => None,
        IndexError::Storage(error) => error.unusable_index(),
        IndexError::Stage(_) | IndexError::Run(_) => snapshot(directory)?.verify().problems.into_iter().next(),
        _ => None,
    }
}

/// Whether nothing but the keyword index is damaged, and the pipeline that wrote it made one.
fn is_about_keywords(directory: &Path) -> bool {
    let made = |snapshot: &Snapshot| snapshot.manifest().fingerprints.iter().any(|(stage, _)| stage == Bm25::TYPE);
    snapshot(directory).is_some_and(|snapshot| made(&snapshot) && snapshot.verify().only_keywords())
}

fn snapshot(directory: &Path) -> Option<Snapshot> {
    Environment::open(directory, OpenMode::Existing).and_then(|environment| environment.snapshot()).ok()
}
