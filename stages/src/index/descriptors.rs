//! Whether a run may open as many files as it has to.
//!
//! A file that cannot be opened for want of a descriptor is not lost, but a run that can open hardly any is of no use.

use super::IndexError;

/// Descriptors that a run has open whatever it does: the standard streams, the index, the access records, git's files.
const FIXED: u64 = 48;
/// Descriptors that a thread has open at least: the directory it reads, the one above it, the file it reads.
const LEAST_OF_A_THREAD: u64 = 4;
/// What makes every tree readable on every thread: directories stay open on the way down.
const ENOUGH: u64 = 4_096;
/// Most threads that count.
const MOST_THREADS: u64 = 256;

/// Raises the number of files that this process may have open as far as that is allowed, if it is low.
///
/// # Errors
/// [`IndexError::Descriptors`] where a run on so many threads needs more.
#[cfg(unix)]
pub(super) fn ensure(threads: usize) -> Result<(), IndexError> {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

    let limit = getrlimit(Resource::Nofile);
    // No limit is a limit of all.
    let soft = limit.current.unwrap_or(u64::MAX);
    if soft >= ENOUGH {
        return Ok(());
    }
    let wanted = limit.maximum.unwrap_or(u64::MAX).min(ENOUGH);
    let raised = setrlimit(Resource::Nofile, Rlimit { current: Some(wanted), maximum: limit.maximum });
    let allowed = if raised.is_ok() { wanted } else { soft };
    let needed = FIXED + LEAST_OF_A_THREAD * u64::try_from(threads).unwrap_or(u64::MAX).min(MOST_THREADS);
    if allowed < needed { Err(IndexError::Descriptors { allowed, needed }) } else { Ok(()) }
}

/// There is no such limit here.
#[cfg(not(unix))]
pub(super) fn ensure(_threads: usize) -> Result<(), IndexError> {
    Ok(())
}
