//! Limits the number of connections to the available file descriptors.

/// Number of descriptors reserved for other uses: indexes, files, the listener.
const RESERVED: u64 = 256;

/// Returns the number of connections that may be open at the same time, at most `wanted`. Raises the soft limit of the
/// process if necessary and possible.
#[cfg(unix)]
pub(crate) fn connection_limit(wanted: usize) -> usize {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let needed = (wanted as u64).saturating_add(RESERVED);
    let limit = getrlimit(Resource::Nofile);
    // The system reports no number if the limit is infinite.
    let (current, maximum) = (limit.current.unwrap_or(u64::MAX), limit.maximum.unwrap_or(u64::MAX));
    let mut allowed = current;
    if current < needed {
        let raised = needed.min(maximum);
        if setrlimit(Resource::Nofile, Rlimit { current: Some(raised), maximum: limit.maximum }).is_ok() {
            allowed = raised;
        }
    }
    let fitting = allowed.saturating_sub(RESERVED).max(1);
    wanted.min(usize::try_from(fitting).unwrap_or(usize::MAX))
}

/// Returns the number of connections that may be open at the same time.
#[cfg(not(unix))]
pub(crate) fn connection_limit(wanted: usize) -> usize {
    wanted
}
