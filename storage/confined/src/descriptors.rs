//! The limit on the number of open files.

/// Raises this process's limit on open files to `wanted`, or to the hard limit if that is lower. Never lowers the
/// limit. Returns the limit that now applies.
pub fn raise_open_file_limit(wanted: u64) -> u64 {
    #[cfg(unix)]
    {
        use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

        let limit = getrlimit(Resource::Nofile);
        // `None` means unlimited.
        let allowed = limit.current.unwrap_or(u64::MAX);
        let raised = wanted.min(limit.maximum.unwrap_or(u64::MAX));
        let can_raise = || setrlimit(Resource::Nofile, Rlimit { current: Some(raised), ..limit }).is_ok();
        if allowed < raised && can_raise() { raised } else { allowed }
    }
    #[cfg(not(unix))]
    {
        let _ = wanted;
        u64::MAX
    }
}
