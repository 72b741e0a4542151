//! Which time stamps can be relied on.
//!
//! A file that is written twice within one tick of the file system's clock has the same time stamp both times. As git does
//! for "racy" index entries, a run relies only on time stamps that are older than its start by more than a tick.

use std::time::{SystemTime, UNIX_EPOCH};

use aurora_storage::FileStamp;

/// A time stamp with a fraction of a second comes from a clock that ticks at least this often.
const FINE_TICK_NS: i64 = 20_000_000;
/// The coarsest clock of a file system in use.
const COARSE_TICK_NS: i64 = 2_000_000_000;

/// The start of the run.
pub(crate) struct RunClock {
    /// Nanoseconds since the epoch.
    started: i64,
}

impl RunClock {
    /// A run that starts now.
    pub(crate) fn start() -> Self {
        Self { started: now_ns() }
    }

    /// Whether something that changed at `time` would get another time stamp if it changed again after the run has
    /// started.
    pub(crate) fn is_settled(&self, time: i64) -> bool {
        let tick = if time % 1_000_000_000 == 0 { COARSE_TICK_NS } else { FINE_TICK_NS };
        time < self.started - tick
    }

    /// The stamp to store for a file: one that proves nothing, if the content could still change without a change of the stamp.
    pub(crate) fn recorded(&self, stamp: FileStamp) -> FileStamp {
        let is_settled = self.is_settled(stamp.modified) && self.is_settled(stamp.changed);
        if is_settled { stamp } else { FileStamp::default() }
    }
}

/// The system's time, by which files are stamped.
fn now_ns() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_nanos()).unwrap_or(i64::MAX)
}
