//! Free disk space.

use std::io;
use std::path::Path;

/// Returns the number of bytes that this user can still write on the file system of `directory`; `None` on systems
/// other than Unix.
#[cfg(unix)]
pub(crate) fn available(directory: &Path) -> io::Result<Option<u64>> {
    let found = rustix::fs::statvfs(directory)?;
    Ok(Some(found.f_bavail.saturating_mul(found.f_frsize)))
}

/// Returns `None`, because free space is only determined on Unix. Fails if `directory` cannot be read.
#[cfg(not(unix))]
pub(crate) fn available(directory: &Path) -> io::Result<Option<u64>> {
    directory.metadata().map(|_| None)
}
