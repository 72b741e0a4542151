//! How much room the disk has left.

use std::io;
use std::path::Path;

/// Bytes that this user may still write where `directory` lies; `None` on systems that are not
/// asked.
#[cfg(unix)]
pub(crate) fn available(directory: &Path) -> io::Result<Option<u64>> {
    let found = rustix::fs::statvfs(directory)?;
    Ok(Some(found.f_bavail.saturating_mul(found.f_frsize)))
}

/// Bytes that this user may still write where `directory` lies; `None` on systems that are not
/// asked.
#[cfg(not(unix))]
pub(crate) fn available(directory: &Path) -> io::Result<Option<u64>> {
    directory.metadata().map(|_| None)
}
