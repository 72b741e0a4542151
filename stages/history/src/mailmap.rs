//! Who is meant by the names in commits: `.mailmap` and what configuration names in its place.
//!
//! Read here and not by gix, which reads whatever these paths lead to until it ends.

use aurora_confined::{Directory, read_regular};

/// Most bytes of one file.
const MAX_BYTES: u64 = 16 << 20;

/// All entries, those of a later source over those of an earlier one: the work tree's `.mailmap`, or that at HEAD where
/// there is no work tree; `mailmap.blob`; `mailmap.file`. A source that cannot be read counts as empty, as with git.
///
/// `at_head` gives the content of a path at HEAD; no other object is looked for.
pub(crate) fn read(repository: &gix::Repository, at_head: &dyn Fn(&[u8]) -> Option<Vec<u8>>) -> gix::mailmap::Snapshot {
    let mut snapshot = gix::mailmap::Snapshot::default();
    let mut merge = |bytes: Option<Vec<u8>>| {
        snapshot.merge(gix::mailmap::parse_ignore_errors(&bytes.unwrap_or_default()));
    };
    let config = repository.config_snapshot();
    let blob = config.string("mailmap.blob");
    let named = blob.as_deref().and_then(|blob| blob.strip_prefix(b"HEAD:"));
    match repository.workdir() {
        // Git follows no link here.
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
