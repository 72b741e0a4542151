//! The limit of open files.
//!
//! A file that cannot be opened for lack of a descriptor stays in the index unchanged. A run with very few descriptors
//! would therefore read hardly any files.

use aurora_confined::raise_open_file_limit;

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
pub(super) fn ensure(threads: usize) -> Result<(), IndexError> {
    let allowed = raise_open_file_limit(SUFFICIENT);
    let needed = FIXED + MIN_PER_THREAD * u64::try_from(threads).unwrap_or(u64::MAX).min(MAX_THREADS);
    if allowed < needed { Err(IndexError::Descriptors { allowed, needed }) } else { Ok(()) }
}
