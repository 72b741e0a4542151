//! File descriptors: every connection takes one.

/// Descriptors that are not for connections: indexes, files that are read, the listener.
const RESERVED: u64 = 256;

/// How many connections may be open at a time, at most `wanted`. The soft limit of the process is raised for them as far as it may be.
#[cfg(unix)]
pub(crate) fn for_connections(wanted: usize) -> usize {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let needed = (wanted as u64).saturating_add(RESERVED);
    let limit = getrlimit(Resource::Nofile);
    // No limit is as good as the highest one.
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

/// How many connections may be open at a time.
#[cfg(not(unix))]
pub(crate) fn for_connections(wanted: usize) -> usize {
    wanted
}
