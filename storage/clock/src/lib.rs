//! The current time, on which scores, ages and retention depend.
//!
//! Deliberately absent: durations, which [`Instant`] measures, and file timestamps, which are compared only with the
//! system clock.
//!
//! ```
//! assert!(aurora_clock::now_seconds() > 0);
//! ```
#![forbid(unsafe_code)]
#![warn(missing_docs)]

use std::sync::OnceLock;
use std::time::Instant;

use jiff::{SignedDuration, Timestamp};

/// Environment variable with the time that the first call of [`now`] returns, in RFC 3339 (`2100-01-01T00:00:00Z`).
/// Only tests set it. They cannot use libfaketime, because the program would hang: its first allocation reads the
/// clock, and libfaketime allocates memory to read the clock.
pub const VARIABLE: &str = "AURORA_TEST_NOW";

/// Returns the current time.
pub fn now() -> Timestamp {
    static SET: OnceLock<Option<(Timestamp, Instant)>> = OnceLock::new();
    let set = SET.get_or_init(|| Some((std::env::var(VARIABLE).ok()?.parse().ok()?, Instant::now())));
    match set {
        Some((start, began)) => SignedDuration::try_from(began.elapsed())
            .ok()
            .and_then(|elapsed| start.checked_add(elapsed).ok())
            .unwrap_or(*start),
        None => Timestamp::now(),
    }
}

/// Returns the current time in seconds since the epoch.
pub fn now_seconds() -> i64 {
    now().as_second()
}
