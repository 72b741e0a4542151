//! Times of uses of a chunk.

use aurora_storage::{AccessRecord, ChunkRecord};

/// Seconds per day.
pub const DAY: f64 = 86_400.0;
/// Days per year, including leap years.
pub const YEAR: f64 = 365.25;

/// Times at which a chunk was used: committed or shown.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct UseHistory {
    /// Times of the commits that the chunk's lines come from. For an entry of memory, the date of the entry.
    pub commits: Vec<i64>,
    /// Times of recent accesses.
    pub accesses: Vec<i64>,
    /// Total number of accesses, including the accesses before the recent ones.
    pub shown: u64,
}

impl UseHistory {
    /// Returns the history of a stored chunk.
    pub(crate) fn from_chunk(chunk: ChunkRecord<'_>, access: Option<&AccessRecord>) -> Self {
        let commits = chunk.commit_times().unwrap_or_else(|| chunk.date().into_iter().collect());
        let (accesses, shown) = access.map(|access| (access.recent.clone(), access.count)).unwrap_or_default();
        Self { commits, accesses, shown }
    }

    /// Returns the time of the last use.
    pub fn last(&self) -> Option<i64> {
        self.commits.iter().chain(&self.accesses).copied().max()
    }
}

/// Returns the days from `time` to `now`; 0 for a time in the future.
pub(crate) fn days_between(time: i64, now: i64) -> f64 {
    now.saturating_sub(time).max(0) as f64 / DAY
}
