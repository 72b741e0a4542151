//! Decides which file timestamps are reliable.
//!
//! A file that is written twice within one tick of the file system's clock has the same timestamp both times. A run
//! therefore trusts only timestamps that precede its start by more than a tick, as git does for "racy" index entries.

use std::time::{SystemTime, UNIX_EPOCH};

use aurora_storage::FileStamp;

/// Maximum tick of a clock whose timestamps have a fraction of a second, in nanoseconds.
const FINE_TICK_NS: i64 = 20_000_000;
/// Tick of the coarsest file system clock in use, in nanoseconds.
const COARSE_TICK_NS: i64 = 2_000_000_000;

/// The start of the run.
pub(crate) struct RunClock {
    /// Start of the run, in nanoseconds since the epoch.
    started: i64,
}

impl RunClock {
    /// Returns the clock of a run that starts now.
    pub(crate) fn start() -> Self {
        Self { started: now_ns() }
    }

    /// Whether a change after the start of the run would get a timestamp other than `time`.
    pub(crate) fn is_settled(&self, time: i64) -> bool {
        let tick = if time % 1_000_000_000 == 0 { COARSE_TICK_NS } else { FINE_TICK_NS };
        time < self.started - tick
    }

    /// Returns the stamp to store for a file. Returns the empty stamp if the content could still change without a
    /// change of the stamp.
    pub(crate) fn stamp_to_store(&self, stamp: FileStamp) -> FileStamp {
        let is_settled = self.is_settled(stamp.modified) && self.is_settled(stamp.changed);
        if is_settled { stamp } else { FileStamp::default() }
    }
}

/// Returns the system time, which is also the source of file timestamps.
fn now_ns() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_nanos()).unwrap_or(i64::MAX)
}
