//! Updates the access history and the annotations after a run. Data about moved files gets the new keys, and the
//! history of chunks that were removed long ago is deleted.

use std::path::Path;

use aurora_storage::{AccessLog, Annotations, KnownIndexes, OpenMode, ProjectDirectory, Snapshot};

use crate::columns::RelativePath;

/// Time after which the access history of a removed chunk is deleted, in seconds. The chunk may return, for example
/// when a branch is checked out again.
const MAX_REMOVED_SECONDS: i64 = 180 * 86_400;
/// Maximum number of removed chunks with an access history.
const MAX_REMOVED_CHUNKS: usize = 50_000;

/// Updates the access history and the annotations for a newly published `snapshot`. Data about the chunks of moved
/// files gets the new keys, and the access history of chunks that were removed long ago is deleted. Errors are ignored,
/// so that a run succeeds even if the data cannot be written. `now` is in Unix seconds.
pub(super) fn follow_moves(
    root: &Path,
    moves: &[(RelativePath, RelativePath)],
    known: &KnownIndexes,
    snapshot: &Snapshot,
    now: i64,
) {
    let moved = moved_chunks(moves, snapshot);
    let project = ProjectDirectory::in_root(root);
    if !moved.is_empty()
        && let Ok(annotations) = Annotations::open(project.path(), OpenMode::Existing, known.clone())
    {
        let _ = annotations.rename(&moved);
    }
    let Ok(log) = AccessLog::open(project.path(), known) else { return };
    for (old, new) in &moved {
        // Renaming fails if the chunk was never in a search result and has no record. This is not an error.
        let _ = log.rename(old, new);
    }
    let is_live = |key: &str| Ok(snapshot.chunk_by_key(key)?.is_some());
    let _ = log.sweep(is_live, now - MAX_REMOVED_SECONDS, MAX_REMOVED_CHUNKS);
}

/// Returns the old and new keys of the chunks of moved files.
fn moved_chunks(moves: &[(RelativePath, RelativePath)], snapshot: &Snapshot) -> Vec<(String, String)> {
    let mut moved = Vec::new();
    for (from, to) in moves {
        let Ok(Some(file)) = snapshot.file(to) else { continue };
        for id in file.chunks {
            let Ok(Some(chunk)) = snapshot.chunk(id) else { continue };
            let new = chunk.key().into_owned();
            moved.extend(key_before(&new, from, to).map(|old| (old, new)));
        }
    }
    moved
}

/// Returns the key that a chunk had before its file was moved.
fn key_before(key: &str, from: &str, to: &str) -> Option<String> {
    let (kind, rest) = key.split_once(':')?;
    Some(format!("{kind}:{from}{}", rest.strip_prefix(to)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_key_before_a_move_has_the_old_path() {
        let before = key_before("code:new/b.py:f", "old/a.py", "new/b.py");
        assert_eq!(before.as_deref(), Some("code:old/a.py:f"));
        assert_eq!(key_before("know:log:phase1", "old/a.py", "new/b.py"), None);
    }
}
