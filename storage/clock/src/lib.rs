//! The current time, on which scores, ages and retention depend.
//!
//! Deliberately absent: durations, which [`Instant`] measures, and the times of files, which are compared with the system's
//! clock only.
//!
//! ```
//! assert!(aurora_clock::now_seconds() > 0);
//! ```
#![forbid(unsafe_code)]
#![warn(missing_docs)]

use std::sync::OnceLock;
use std::time::Instant;

use jiff::{SignedDuration, Timestamp};

/// Environment variable that sets the clock when the program starts, as RFC 3339 (`2100-01-01T00:00:00Z`). It is for tests:
/// the program hangs under libfaketime. The first allocation asks the clock for the time, and libfaketime's clock allocates.
pub const VARIABLE: &str = "AURORA_TEST_NOW";

/// The current time.
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

/// The current time in seconds since the epoch.
pub fn now_seconds() -> i64 {
    now().as_second()
}
