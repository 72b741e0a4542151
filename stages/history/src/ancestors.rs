//! Finds the nearest of several commits in the history of HEAD.

use std::collections::HashSet;
use std::path::Path;

use gix::ObjectId;
use gix::revision::walk::Sorting;
use gix::traverse::commit::simple::CommitTimeOrder;

use crate::error::HistoryError;
use crate::open::discover;

/// Maximum number of commits that are visited.
const MAX_VISITED: usize = 500_000;

/// Returns the commit among `candidates`, in hexadecimal, that a walk from HEAD by commit time reaches first. Returns
/// `None` if the walk reaches none of them, `root` is not in a repository, or the repository has no commit. Other
/// candidates than full ids are ignored.
///
/// # Errors
/// Fails if the repository or a commit on the way cannot be read. The history of a shallow clone ends at its oldest
/// commits.
pub fn nearest_ancestor(root: &Path, candidates: &[&str]) -> Result<Option<String>, HistoryError> {
    let failure = |reason: String| HistoryError::Open { path: root.to_owned(), reason };
    let wanted: HashSet<ObjectId> =
        candidates.iter().filter_map(|candidate| ObjectId::from_hex(candidate.as_bytes()).ok()).collect();
    let Some((repository, _)) = discover(root).map_err(failure)? else { return Ok(None) };
    let local = repository.to_thread_local();
    let head = local.head().map_err(|error| failure(error.to_string()))?;
    let Some(head) = head.id().filter(|_| !wanted.is_empty()) else { return Ok(None) };
    let walk = head.ancestors().sorting(Sorting::ByCommitTime(CommitTimeOrder::NewestFirst)).all();
    for visited in walk.map_err(|error| failure(error.to_string()))?.take(MAX_VISITED) {
        let visited = visited.map_err(|error| failure(error.to_string()))?;
        if wanted.contains(&visited.id) {
            return Ok(Some(visited.id.to_string()));
        }
    }
    Ok(None)
}
