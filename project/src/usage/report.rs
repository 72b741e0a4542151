//! Statistics about the recorded searches and verdicts.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use aurora_storage::Verdict;
use serde::Serialize;

use super::{UsageEvent, UsageRecord, file, names};
use crate::stamp;
use crate::user_settings::UsageSettings;

/// Maximum number of queries without a close result in a report.
const MAX_QUERIES: usize = 20;
/// Seconds per day.
const DAY: i64 = 86_400;

/// Statistics about the searches and verdicts in a period.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct UsageReport {
    /// Start of the period.
    pub since: String,
    /// End of the period.
    pub until: String,
    /// The project; `None` for all projects.
    pub root: Option<String>,
    /// Time of the oldest record of any project. Older records may have been dropped.
    pub recorded_since: Option<String>,
    /// All searches.
    #[serde(flatten)]
    pub all: UsageGroup,
    /// The searches by interface.
    pub by_interface: BTreeMap<String, UsageGroup>,
    /// The searches by mode.
    pub by_mode: BTreeMap<String, UsageGroup>,
    /// The verdicts.
    pub feedback: FeedbackCounts,
    /// Every day with a search or a verdict, oldest first, in UTC.
    pub days: Vec<DayUsage>,
    /// The most frequent queries without a close result, if texts of queries are recorded.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub queries_without_close_result: Vec<(String, u64)>,
}

/// Statistics about a group of searches.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct UsageGroup {
    /// Number of searches.
    pub searches: u64,
    /// Durations of the searches; `None` without searches.
    pub latency_ms: Option<Latencies>,
    /// Number of searches without a close result.
    pub without_close_result: u64,
    /// Share of searches without a close result, from 0 to 1; `None` without searches.
    pub share_without_close_result: Option<f64>,
}

/// Percentiles of durations in milliseconds, by the nearest-rank method.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Latencies {
    /// The median.
    pub p50: f64,
    /// The 95th percentile.
    pub p95: f64,
    /// The 99th percentile.
    pub p99: f64,
    /// The maximum.
    pub max: f64,
}

/// Number of verdicts. A verdict counts once for each of its results.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct FeedbackCounts {
    /// Verdicts `good`, also partial ones.
    pub good: u64,
    /// Verdicts `bad`, also partial ones.
    pub bad: u64,
}

/// Statistics about a day.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct DayUsage {
    /// The date, such as `2026-01-31`.
    pub date: String,
    /// The searches.
    #[serde(flatten)]
    pub searches: UsageGroup,
    /// The verdicts.
    pub feedback: FeedbackCounts,
}

impl UsageReport {
    /// Computes the statistics for the period from `since` to `until`, in Unix seconds, from the records in the user's
    /// directory. Lines that are not records are skipped.
    ///
    /// # Errors
    /// Fails if a file of records cannot be read.
    pub fn load(settings: &UsageSettings, root: Option<&Path>, since: i64, until: i64) -> io::Result<Self> {
        let files = file(settings).map(|file| file.read()).transpose()?.unwrap_or_default();
        let lines = files.iter().flat_map(|file| file.split(|byte| *byte == b'\n'));
        let records = lines.filter_map(|line| serde_json::from_slice(line).ok());
        let root = root.and_then(|root| names(&[root]).pop());
        Ok(Self::from_records(records, root, since, until))
    }

    fn from_records(records: impl Iterator<Item = UsageRecord>, root: Option<String>, since: i64, until: i64) -> Self {
        let mut report = Self { since: stamp(since), until: stamp(until), ..Self::default() };
        let (mut all, mut oldest) = (Durations::default(), i64::MAX);
        let mut interfaces: BTreeMap<String, Durations> = BTreeMap::new();
        let mut modes: BTreeMap<String, Durations> = BTreeMap::new();
        let mut days: BTreeMap<i64, (Durations, FeedbackCounts)> = BTreeMap::new();
        let mut queries: BTreeMap<String, u64> = BTreeMap::new();
        for record in records {
            oldest = oldest.min(record.time);
            let is_selected = root.as_ref().is_none_or(|root| record.roots.contains(root));
            if !is_selected || !(since..=until).contains(&record.time) {
                continue;
            }
            let day = days.entry(record.time.div_euclid(DAY)).or_default();
            match record.event {
                UsageEvent::Search { mode, ms, close, query, .. } => {
                    let groups = [
                        &mut all,
                        &mut day.0,
                        interfaces.entry(record.via.as_str().to_owned()).or_default(),
                        modes.entry(mode.as_str().to_owned()).or_default(),
                    ];
                    groups.into_iter().for_each(|group| group.add(ms, close));
                    if let Some(query) = query.filter(|query| !close && !query.is_empty()) {
                        *queries.entry(query).or_default() += 1;
                    }
                }
                UsageEvent::Feedback { verdict, chunks } => {
                    for counts in [&mut day.1, &mut report.feedback] {
                        let count = if matches!(verdict, Verdict::Good | Verdict::Helpful) {
                            &mut counts.good
                        } else {
                            &mut counts.bad
                        };
                        *count += chunks as u64;
                    }
                }
            }
        }
        let groups = |groups: BTreeMap<String, Durations>| {
            groups.into_iter().map(|(name, group)| (name, group.finish())).collect()
        };
        let mut queries: Vec<(String, u64)> = queries.into_iter().collect();
        queries.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        queries.truncate(MAX_QUERIES);
        let day = |(day, (searches, feedback)): (i64, (Durations, FeedbackCounts))| {
            let date = stamp(day.saturating_mul(DAY)).chars().take_while(|letter| *letter != 'T').collect();
            DayUsage { date, searches: searches.finish(), feedback }
        };
        Self {
            root,
            recorded_since: (oldest < i64::MAX).then(|| stamp(oldest)),
            all: all.finish(),
            by_interface: groups(interfaces),
            by_mode: groups(modes),
            days: days.into_iter().map(day).collect(),
            queries_without_close_result: queries,
            ..report
        }
    }
}

/// The durations of a group of searches.
#[derive(Default)]
struct Durations {
    milliseconds: Vec<f64>,
    without_close_result: u64,
}

impl Durations {
    fn add(&mut self, milliseconds: f64, is_close: bool) {
        self.milliseconds.push(milliseconds);
        self.without_close_result += u64::from(!is_close);
    }

    fn finish(mut self) -> UsageGroup {
        self.milliseconds.sort_unstable_by(f64::total_cmp);
        let sorted = &self.milliseconds;
        // Nearest rank: the smallest value that is at least as large as the given share of all values.
        let percentile = |percent: usize| sorted[(sorted.len() * percent).div_ceil(100).max(1) - 1];
        let (searches, without) = (sorted.len() as u64, self.without_close_result);
        let is_empty = sorted.is_empty();
        UsageGroup {
            searches,
            latency_ms: (!is_empty).then(|| Latencies {
                p50: percentile(50),
                p95: percentile(95),
                p99: percentile(99),
                max: percentile(100),
            }),
            without_close_result: without,
            share_without_close_result: (!is_empty).then(|| without as f64 / searches as f64),
        }
    }
}

#[cfg(test)]
mod tests {
    use aurora_query::Mode;

    use super::*;
    use crate::usage::{Interface, encode};

    fn search(time: i64, ms: f64, results: usize, root: &str) -> UsageRecord {
        let query = Some(format!("query {results}"));
        let event = UsageEvent::Search { mode: Mode::Hybrid, ms, results, close: results > 0, query };
        UsageRecord { time, via: Interface::Cli, roots: vec![root.to_owned()], event }
    }

    #[test]
    fn searches_of_a_period_and_a_project_are_counted() {
        let event = UsageEvent::Feedback { verdict: Verdict::Bad, chunks: 2 };
        let mut records: Vec<UsageRecord> =
            (1..=200).map(|n| search(DAY + n, n as f64, usize::from(n > 50), "/a")).collect();
        records.push(search(DAY + 1, 9_000.0, 1, "/b"));
        records.push(search(DAY - 1, 9_000.0, 1, "/a"));
        records.push(UsageRecord { time: 2 * DAY, via: Interface::Http, roots: vec!["/a".to_owned()], event });
        let report = UsageReport::from_records(records.clone().into_iter(), Some("/a".to_owned()), DAY, 3 * DAY);
        assert_eq!((report.all.searches, report.all.without_close_result), (200, 50));
        assert_eq!(report.all.share_without_close_result, Some(0.25));
        assert_eq!(report.all.latency_ms, Some(Latencies { p50: 100.0, p95: 190.0, p99: 198.0, max: 200.0 }));
        assert_eq!(report.feedback, FeedbackCounts { good: 0, bad: 2 });
        assert_eq!(report.days.iter().map(|day| day.date.as_str()).collect::<Vec<_>>(), ["1970-01-02", "1970-01-03"]);
        assert_eq!(report.queries_without_close_result, [("query 0".to_owned(), 50)]);
        assert_eq!(report.recorded_since.as_deref(), Some("1970-01-01T23:59:59Z"));
        assert_eq!(UsageReport::from_records(records.into_iter(), None, DAY, 3 * DAY).all.searches, 201);
        let empty = UsageReport::from_records(std::iter::empty(), None, 0, DAY);
        assert_eq!((empty.all.latency_ms, empty.all.share_without_close_result), (None, None));
    }

    #[test]
    fn a_record_can_be_read_again() {
        let record = search(1, 0.5, 3, "/a");
        let mut line = Vec::new();
        encode(record.clone(), &mut line);
        assert_eq!(
            String::from_utf8_lossy(&line),
            r#"{"time":1,"via":"cli","roots":["/a"],"event":"search","mode":"hybrid","ms":0.5,"results":3,"close":true,"query":"query 3"}
"#
        );
        assert_eq!(serde_json::from_slice::<UsageRecord>(&line).unwrap(), record);
    }
}
