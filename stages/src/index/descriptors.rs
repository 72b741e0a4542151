//! The limit on open files of the process.
//!
//! If a file cannot be opened because no descriptor is free, its indexed content stays unchanged. With very few
//! descriptors, a run could therefore read only a few files.

use aurora_confined::raise_open_file_limit;

use super::error::IndexError;

/// Number of descriptors that every run needs: for standard streams, the index, access records and git's files.
const FIXED: u64 = 48;
/// Minimum number of descriptors per thread: the directory that it reads, its parent, and a file.
const MIN_PER_THREAD: u64 = 4;
/// Number of descriptors that is sufficient for every tree and any number of threads. Directories stay open while their
/// subdirectories are walked.
const SUFFICIENT: u64 = 4_096;
/// Maximum number of threads for which descriptors are required.
const MAX_THREADS: u64 = 256;

/// Raises the limit on open files of this process to [`SUFFICIENT`], or as far as the system allows.
///
/// # Errors
/// Returns [`IndexError::Descriptors`] if the limit is too low for a run with this number of threads.
pub(super) fn ensure(threads: usize) -> Result<(), IndexError> {
    let allowed = raise_open_file_limit(SUFFICIENT);
    let needed = FIXED + MIN_PER_THREAD * u64::try_from(threads).unwrap_or(u64::MAX).min(MAX_THREADS);
    if allowed < needed { Err(IndexError::Descriptors { allowed, needed }) } else { Ok(()) }
}
