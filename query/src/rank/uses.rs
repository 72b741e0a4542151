//! When a chunk was used, and how long ago.

use aurora_storage::{AccessRecord, ChunkRecord};

/// Seconds of a day.
pub const DAY: f64 = 86_400.0;
/// Days of a year, leap years included.
pub const YEAR: f64 = 365.25;

/// When a chunk was used: committed to, or shown to somebody.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct UseHistory {
    /// Times of the commits that the chunk's lines come from; of a memory, its date.
    pub commits: Vec<i64>,
    /// Times of recent accesses.
    pub accesses: Vec<i64>,
    /// Number of accesses, of which the recent ones are a part.
    pub shown: u64,
}

impl UseHistory {
    /// The history of a stored chunk.
    pub(crate) fn of(chunk: ChunkRecord<'_>, access: Option<&AccessRecord>) -> Self {
        let commits = chunk.commit_times().unwrap_or_else(|| chunk.date().into_iter().collect());
        let (accesses, shown) = access.map(|access| (access.recent.clone(), access.count)).unwrap_or_default();
        Self { commits, accesses, shown }
    }

    /// The newest use.
    pub fn last(&self) -> Option<i64> {
        self.commits.iter().chain(&self.accesses).copied().max()
    }
}

/// Days from `time` to `now`; a time in the future counts as now.
pub(crate) fn days_between(time: i64, now: i64) -> f64 {
    now.saturating_sub(time).max(0) as f64 / DAY
}
