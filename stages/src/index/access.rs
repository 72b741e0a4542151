//! Keeps the access history and the annotations up to date: both follow moved files, and the history of chunks that are long
//! gone is removed.

use std::path::Path;

use aurora_storage::{AccessLog, Annotations, KnownIndexes, OpenMode, ProjectDirectory, Snapshot};

use crate::columns::RelativePath;

/// How long the records of a chunk that is gone are kept: a branch may be checked out again.
const KEPT_SECONDS: i64 = 180 * 86_400;
/// Most chunks that are gone whose records are kept.
const MOST_GONE: usize = 50_000;

/// Brings both up to a newly published `snapshot`: what is noted of moved files' chunks gets the new keys, and the access
/// history of chunks that have been gone for long is removed. A run succeeds even if they cannot be written. `now` is in Unix
/// seconds.
pub(super) fn follow(
    root: &Path,
    moves: &[(RelativePath, RelativePath)],
    known: &KnownIndexes,
    snapshot: &Snapshot,
    now: i64,
) {
    let moved = moved_chunks(moves, snapshot);
    let home = ProjectDirectory::of(root);
    if !moved.is_empty()
        && let Ok(annotations) = Annotations::open(home.path(), OpenMode::Existing, known.clone())
    {
        let _ = annotations.rename(&moved);
    }
    let Ok(log) = AccessLog::open(home.path(), known) else { return };
    for (old, new) in &moved {
        // A chunk that was never shown has no record to rename.
        let _ = log.rename(old, new);
    }
    let is_live = |key: &str| Ok(snapshot.chunk_by_key(key)?.is_some());
    let _ = log.sweep(is_live, now - KEPT_SECONDS, MOST_GONE);
}

/// The keys that the chunks of moved files had before, and those that they have now.
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

/// The key that a chunk had before its file was moved.
fn key_before(key: &str, from: &str, to: &str) -> Option<String> {
    let (kind, rest) = key.split_once(':')?;
    Some(format!("{kind}:{from}{}", rest.strip_prefix(to)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_that_of_the_old_path() {
        let before = key_before("code:new/b.py:f", "old/a.py", "new/b.py");
        assert_eq!(before.as_deref(), Some("code:old/a.py:f"));
        assert_eq!(key_before("know:log:phase1", "old/a.py", "new/b.py"), None);
    }
}
