//! The limit of open files.
//!
//! A file that cannot be opened for lack of a descriptor stays in the index as it is, but a run with very few descriptors
//! would read hardly anything.

use super::error::IndexError;

/// Descriptors of every run: standard streams, index, access records, git's files.
const FIXED: u64 = 48;
/// Descriptors that a thread needs at least: the directory it reads, its parent, and a file.
const LEAST_OF_A_THREAD: u64 = 4;
/// Enough for every tree on any number of threads: directories stay open on the way down.
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
    // `None` means unlimited.
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
