//! Recovery from an index that cannot be used.

use std::fmt;
use std::path::Path;

use aurora_pipeline::StageConfig;
use aurora_storage::{Environment, OpenMode, ProjectDirectory, Snapshot, StorageError};

use super::error::IndexError;
use super::keywords::rebuild_bm25;
use super::options::IndexOptions;
use super::trust::Distrust;
use crate::bm25::Bm25;

/// An action that allows a run to continue. Displayed as a warning.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Recovery {
    /// The keyword index was rebuilt from the stored chunks.
    Rebuilt(String),
    /// The whole index was set aside.
    SetAside(String),
    /// The index was set aside because it was not made by this user.
    Distrusted(Distrust),
}

impl fmt::Display for Recovery {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rebuilt(reason) => {
                write!(f, "the keyword index was damaged ({reason}); it was rebuilt from the stored chunks")
            }
            Self::SetAside(reason) => {
                write!(f, "the index could not be used ({reason}); it was set aside and rebuilt")
            }
            Self::Distrusted(reason) => {
                write!(f, "the existing index is not trusted ({reason}); it was set aside and rebuilt")
            }
        }
    }
}

/// Recovers if the error of the last attempt means that the index is unusable. Takes the smallest step that can make
/// the next attempt succeed: rebuilding the keyword index, or moving the whole index away. No step is repeated. With
/// `force`, moves away even a file of another program.
///
/// # Errors
/// Fails if nothing can be done because another run is writing or the disk cannot be written.
pub(super) fn recover(
    error: &IndexError,
    options: &IndexOptions,
    done: &[Recovery],
) -> Result<Option<Recovery>, IndexError> {
    let directory = options.root.join(ProjectDirectory::NAME);
    let Some(reason) = unusable(error, &directory, options.force) else { return Ok(None) };
    if done.iter().any(|done| matches!(done, Recovery::SetAside(_))) {
        return Ok(None);
    }
    if done.is_empty() && !options.force && are_only_keywords_damaged(&directory) {
        match rebuild_bm25(&options.root, &options.trust) {
            // Another part of the index is also damaged, so move the index away.
            Err(IndexError::Storage(error)) if error.unusable_index().is_some() => {}
            rebuilt => return rebuilt.map(|_| Some(Recovery::Rebuilt(reason))),
        }
    }
    Environment::set_aside(&directory)?;
    Ok(Some(Recovery::SetAside(reason)))
}

/// Checks that a run can update the existing index.
///
/// # Errors
/// Returns [`IndexError::Required`] with the reason why the run cannot update the index.
pub(super) fn require(IndexOptions { root, trust, .. }: &IndexOptions) -> Result<(), IndexError> {
    let required = |reason: &dyn fmt::Display| IndexError::Required(reason.to_string());
    let directory = root.join(ProjectDirectory::NAME);
    let opened = Environment::open(&directory, OpenMode::Existing).and_then(|environment| environment.snapshot());
    let snapshot = opened.map_err(|error| required(&error))?;
    trust.check(root, &snapshot).map_err(|distrust| required(&distrust))?;
    match snapshot.manifest().generation {
        0 => Err(required(&"no run has published an index yet")),
        _ => Ok(()),
    }
}

/// Moves away an index that this user does not trust.
///
/// # Errors
/// Fails if another run is writing, or the disk cannot be written.
pub(super) fn clear_unknown(IndexOptions { root, trust, .. }: &IndexOptions) -> Result<Option<Recovery>, IndexError> {
    let directory = root.join(ProjectDirectory::NAME);
    if !Environment::is_present(&directory) {
        return Ok(None);
    }
    // If the index cannot be opened, the run fails and recovers from the failure.
    let opened = Environment::open_in_existing(&directory).and_then(|environment| environment.snapshot());
    // An index without tables has no content, so there is nothing to distrust. The run will create the tables.
    let Some(snapshot) = opened.ok().filter(|snapshot| snapshot.id().is_some()) else { return Ok(None) };
    let Err(reason) = trust.check(root, &snapshot) else { return Ok(None) };
    let is_published = snapshot.manifest().generation > 0;
    drop(snapshot);
    Environment::set_aside_unchecked(&directory)?;
    // No warning is necessary if no generation was published, because no search has used the index.
    Ok(is_published.then_some(Recovery::Distrusted(reason)))
}

/// Moves away a damaged index, even if a run would not read the damaged part.
///
/// # Errors
/// Fails if another run is writing, or the disk cannot be written.
pub(super) fn clear_damage(root: &Path) -> Result<Option<Recovery>, IndexError> {
    let directory = root.join(ProjectDirectory::NAME);
    // If the index cannot be opened, the run fails and recovers from the failure.
    let problem = snapshot(&directory).and_then(|snapshot| snapshot.verify().problems.into_iter().next());
    let Some(problem) = problem else { return Ok(None) };
    Environment::set_aside(&directory)?;
    Ok(Some(Recovery::SetAside(problem)))
}

/// Returns the problem with the index that may have caused an error, or `None` if the index is usable.
fn unusable(error: &IndexError, directory: &Path, force: bool) -> Option<String> {
    match error {
        IndexError::Storage(StorageError::Foreign { .. }) if !force => None,
        IndexError::Storage(error) => error.unusable_index(),
        IndexError::Stage(_) | IndexError::Run(_) => snapshot(directory)?.verify().problems.into_iter().next(),
        _ => None,
    }
}

/// Whether only the keyword index is damaged. Returns false if the pipeline that wrote the index does not build a
/// keyword index.
fn are_only_keywords_damaged(directory: &Path) -> bool {
    let made = |snapshot: &Snapshot| snapshot.manifest().fingerprints.iter().any(|(stage, _)| stage == Bm25::TYPE);
    snapshot(directory).is_some_and(|snapshot| made(&snapshot) && snapshot.verify().has_only_keyword_problems())
}

fn snapshot(directory: &Path) -> Option<Snapshot> {
    Environment::open(directory, OpenMode::Existing).and_then(|environment| environment.snapshot()).ok()
}
