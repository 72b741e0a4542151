//! The limit of open files.
//!
//! A file that cannot be opened for lack of a descriptor stays in the index unchanged. A run with very few descriptors
//! would therefore read hardly any files.

use super::error::IndexError;

/// Number of descriptors of every run: standard streams, index, access records and git's files.
const FIXED: u64 = 48;
/// Minimum number of descriptors per thread: the directory that it reads, its parent, and a file.
const MIN_PER_THREAD: u64 = 4;
/// Number of descriptors that suffices for every tree and any number of threads. Directories stay open during the
/// descent.
const SUFFICIENT: u64 = 4_096;
/// Maximum number of threads that count.
const MAX_THREADS: u64 = 256;

/// Raises the limit of open files of this process as far as allowed, if it is low.
///
/// # Errors
/// [`IndexError::Descriptors`] if a run with this number of threads needs more.
#[cfg(unix)]
pub(super) fn ensure(threads: usize) -> Result<(), IndexError> {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

    let limit = getrlimit(Resource::Nofile);
    // `None` means unlimited.
    let soft = limit.current.unwrap_or(u64::MAX);
    if soft >= SUFFICIENT {
        return Ok(());
    }
    let wanted = limit.maximum.unwrap_or(u64::MAX).min(SUFFICIENT);
    let raised = setrlimit(Resource::Nofile, Rlimit { current: Some(wanted), maximum: limit.maximum });
    let allowed = if raised.is_ok() { wanted } else { soft };
    let needed = FIXED + MIN_PER_THREAD * u64::try_from(threads).unwrap_or(u64::MAX).min(MAX_THREADS);
    if allowed < needed { Err(IndexError::Descriptors { allowed, needed }) } else { Ok(()) }
}

/// Does nothing, because there is no such limit on this system.
#[cfg(not(unix))]
pub(super) fn ensure(_threads: usize) -> Result<(), IndexError> {
    Ok(())
}
