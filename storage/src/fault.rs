//! Fault points: steps of writing at which a test aborts the process.
//!
//! Only compiled with the feature `fault-points`, which no dependency of the program enables. Without the feature,
//! [`point`] does nothing.

/// Environment variable with the number of the point at which the process aborts, counted from 1.
#[cfg(feature = "fault-points")]
const VARIABLE: &str = "AURORA_DIE_AT_POINT";

/// Aborts the process if this is the call whose number is in [`VARIABLE`]. Called before and after each step of
/// writing.
#[cfg(feature = "fault-points")]
pub(crate) fn point() {
    use std::sync::LazyLock;
    use std::sync::atomic::{AtomicU64, Ordering};

    static LAST: LazyLock<Option<u64>> = LazyLock::new(|| std::env::var(VARIABLE).ok()?.parse().ok());
    static PASSED: AtomicU64 = AtomicU64::new(0);
    if LAST.is_some_and(|last| PASSED.fetch_add(1, Ordering::Relaxed) + 1 == last) {
        // Nothing is unwound or flushed, as if the system had killed the process.
        std::process::abort();
    }
}

/// Does nothing.
#[cfg(not(feature = "fault-points"))]
pub(crate) fn point() {}
