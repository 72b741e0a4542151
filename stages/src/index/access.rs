//! Keeps the access history up to date: records follow moved files, and records of chunks that are long gone are removed.

use std::path::Path;

use aurora_storage::{AccessLog, ProjectDirectory, Snapshot};

use crate::columns::RelativePath;

/// How long the records of a chunk that is gone are kept: a branch may be checked out again.
const KEPT_SECONDS: i64 = 180 * 86_400;
/// Most chunks that are gone whose records are kept.
const MOST_GONE: usize = 50_000;

/// Brings the access records up to a newly published `snapshot`: records of moved files' chunks get the new keys, and
/// records of chunks that have been gone for long are removed. A run succeeds even if the records cannot be written. `now`
/// is in Unix seconds.
pub(super) fn follow(root: &Path, moves: &[(RelativePath, RelativePath)], snapshot: &Snapshot, now: i64) {
    let Ok(log) = AccessLog::open(ProjectDirectory::of(root).path()) else { return };
    rename(&log, moves, snapshot);
    let is_live = |key: &str| Ok(snapshot.chunk_by_key(key)?.is_some());
    let _ = log.sweep(is_live, now - KEPT_SECONDS, MOST_GONE);
}

fn rename(log: &AccessLog, moves: &[(RelativePath, RelativePath)], snapshot: &Snapshot) {
    for (from, to) in moves {
        let Ok(Some(file)) = snapshot.file(to) else { continue };
        for id in file.chunks {
            let Ok(Some(chunk)) = snapshot.chunk(id) else { continue };
            let new = chunk.key();
            if let Some(old) = key_before(&new, from, to) {
                // A chunk that was never shown has no record to rename.
                let _ = log.rename(&old, &new);
            }
        }
    }
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
