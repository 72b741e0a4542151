//! Places at which a test lets the process die.
//!
//! Compiled in for tests only (feature `fault-points`, which no dependency of the program switches on): elsewhere
//! [`point`] is nothing.

/// Names the variable with the number of the point at which the process dies, counted from 1.
#[cfg(feature = "fault-points")]
const VARIABLE: &str = "AURORA_DIE_AT_POINT";

/// A step of writing is about to be taken, or has just been: a process may die here.
#[cfg(feature = "fault-points")]
pub(crate) fn point() {
    use std::sync::LazyLock;
    use std::sync::atomic::{AtomicU64, Ordering};

    static LAST: LazyLock<Option<u64>> = LazyLock::new(|| std::env::var(VARIABLE).ok()?.parse().ok());
    static PASSED: AtomicU64 = AtomicU64::new(0);
    if LAST.is_some_and(|last| PASSED.fetch_add(1, Ordering::Relaxed) + 1 == last) {
        // Nothing is unwound and nothing flushed, as when the system kills it.
        std::process::abort();
    }
}

/// Nothing.
#[cfg(not(feature = "fault-points"))]
pub(crate) fn point() {}
