//! The mailmap: `.mailmap`, and the sources that `mailmap.blob` and `mailmap.file` name.
//!
//! This module reads the mailmap without gix, because gix would block on a pipe or read endlessly from a device.

use aurora_confined::{Directory, read_regular};

/// Maximum size of one file, in bytes.
const MAX_BYTES: u64 = 16 << 20;

/// Merges all sources in this order: `.mailmap` in the work tree, or at HEAD in a bare repository; `mailmap.blob`;
/// `mailmap.file`. A later source overrides an earlier source. As in git, a source that cannot be read counts as empty.
///
/// `at_head` returns the content of a path at HEAD. If `mailmap.blob` is not a path at HEAD, it is not read.
pub(crate) fn read(repository: &gix::Repository, at_head: &dyn Fn(&[u8]) -> Option<Vec<u8>>) -> gix::mailmap::Snapshot {
    let mut snapshot = gix::mailmap::Snapshot::default();
    let mut merge = |bytes: Option<Vec<u8>>| {
        snapshot.merge(gix::mailmap::parse_ignore_errors(&bytes.unwrap_or_default()));
    };
    let config = repository.config_snapshot();
    let blob = config.string("mailmap.blob");
    let named = blob.as_deref().and_then(|blob| blob.strip_prefix(b"HEAD:"));
    match repository.workdir() {
        // Like git, do not follow a symbolic link.
        Some(root) => {
            merge(Directory::open_root(root).and_then(|root| root.read(".mailmap", MAX_BYTES)).ok());
            merge(named.and_then(at_head));
        }
        None if blob.is_none() => merge(at_head(b".mailmap")),
        None => merge(named.and_then(at_head)),
    }
    let file = config.trusted_path("mailmap.file").ok().flatten();
    merge(file.and_then(|path| read_regular(&path, MAX_BYTES).ok()));
    snapshot
}
