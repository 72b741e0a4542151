//! Access history follows files that were moved.

use std::path::Path;

use aurora_storage::{AccessLog, Snapshot};

use super::INDEX_DIRECTORY;
use crate::columns::RelativePath;

/// Renames the access records of moved files' chunks. The records are a convenience: where they
/// cannot be written, the run has still succeeded.
pub(super) fn follow(root: &Path, moves: &[(RelativePath, RelativePath)], snapshot: &Snapshot) {
    if moves.is_empty() {
        return;
    }
    let Ok(log) = AccessLog::open(&root.join(INDEX_DIRECTORY)) else { return };
    for (from, to) in moves {
        let Ok(Some(file)) = snapshot.file(to) else { continue };
        for id in file.chunks {
            let Ok(Some(chunk)) = snapshot.chunk(id) else { continue };
            let new = chunk.key.as_str();
            if let Some(old) = key_before(new, from, to) {
                // A chunk that was never shown has no record to rename.
                let _ = log.rename(&old, new);
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
