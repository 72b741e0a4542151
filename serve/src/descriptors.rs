//! Limits the number of connections to the available file descriptors.

use aurora_confined::raise_open_file_limit;

/// Number of descriptors reserved for other uses: indexes, files, the listener.
const RESERVED: u64 = 256;

/// Returns the number of connections that may be open at the same time, at most `wanted`. Raises the soft limit of the
/// process if necessary and possible.
pub(crate) fn connection_limit(wanted: usize) -> usize {
    let allowed = raise_open_file_limit((wanted as u64).saturating_add(RESERVED));
    let fitting = allowed.saturating_sub(RESERVED).max(1);
    wanted.min(usize::try_from(fitting).unwrap_or(usize::MAX))
}
