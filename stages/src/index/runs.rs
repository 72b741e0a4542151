//! Statistics of the last index runs, stored in a file in the project's directory.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use aurora_cachefile::{CacheFile, Format};
use aurora_pipeline::{Outcome, StageReport};
use aurora_storage::{Environment, OpenMode, ProjectDirectory, Snapshot};
use serde::{Deserialize, Serialize};

use super::summary::IndexSummary;
use crate::services::CacheFiles;

/// Maximum number of runs that [`runs`] returns, and number of runs that remain when the oldest runs are dropped.
const MAX_RUNS: usize = 100;
/// Maximum number of runs in the file. When a run exceeds the limit, the oldest runs are dropped.
const MAX_RECORDS: usize = 200;
/// Maximum size of the file in bytes, enough for 200 runs of pipelines with 300 stages.
const MAX_FILE_BYTES: u64 = 32 << 20;
/// Size of the file in bytes at which the oldest runs are dropped. Only the scores of the last good run are then kept.
const MAX_GROWN_BYTES: usize = 16 << 20;
/// Maximum number of reasons for which a record has the number of skipped files.
const MAX_SKIP_REASONS: usize = 100;
/// Maximum number of scores that are stored for a run.
const MAX_SCORES: usize = 20_000;

/// Statistics of an index run.
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct RunRecord {
    /// End of the run, in Unix seconds.
    pub ended: i64,
    /// Wall-clock time of the whole run, in milliseconds.
    pub elapsed_ms: u64,
    /// Whether the run completed. If false, the run was stopped and published its finished work.
    pub completed: bool,
    /// The generation that the run published.
    pub generation: u64,
    /// Number of files and directories that the walk found.
    pub scanned: u64,
    /// Number of files whose chunks were built.
    pub indexed: u64,
    /// Number of files whose chunks stayed the same. The history or derived data of the chunks may have changed.
    pub unchanged: u64,
    /// Number of files whose chunks were removed.
    pub deleted: u64,
    /// Number of files that were skipped.
    pub skipped: u64,
    /// Number of different reasons why files could not be indexed.
    pub errors: u64,
    /// Number of different warnings.
    pub warnings: u64,
    /// Number of chunks in the index after the run.
    pub chunks: u64,
    /// Number of chunks that the run built or changed.
    pub changed_chunks: u64,
    /// Number of lines of source that were parsed.
    pub lines: u64,
    /// Peak resident set size of the process so far in bytes, if the system reports it.
    pub peak_memory_bytes: Option<u64>,
    /// The stage that was busy for the largest share of the run.
    pub bottleneck: Option<String>,
    /// The stages in the order of the pipeline.
    pub stages: Vec<RunStage>,
    /// Number of files in the index after the run.
    #[serde(default)]
    pub files: u64,
    /// Number of skipped files and directories for each of the most frequent reasons.
    #[serde(default)]
    pub skips: BTreeMap<String, u64>,
    /// Number of secrets that were masked in the files that the run read.
    #[serde(default)]
    pub secrets: u64,
    /// Size of the index on disk after the run, in bytes.
    #[serde(default)]
    pub index_bytes: u64,
    /// Size of the tables of the index after the run in bytes, without free pages; 0 in records of earlier versions.
    #[serde(default)]
    pub table_bytes: u64,
    /// The lower of two shares, from 0 to 1: the share of indexable files that are indexed, and the share of rows with
    /// results of custom stages.
    #[serde(default)]
    pub coverage: Option<f64>,
    /// Processor time of the run in seconds, if the system reports it.
    #[serde(default)]
    pub cpu_seconds: Option<f64>,
    /// Share of the processor time that more cores would not shorten, from 0 to 1, if the system reports it.
    #[serde(default)]
    pub serial_cpu_share: Option<f64>,
    /// The commit that was checked out during the run.
    #[serde(default)]
    pub commit: Option<String>,
    /// Results of the golden sets that thresholds name.
    #[serde(default)]
    pub quality: Vec<RunQuality>,
    /// Descriptions of the thresholds that the run does not meet.
    #[serde(default)]
    pub violations: Vec<String>,
    /// Whether the run completed, could read all files, and violates no threshold; `None` in records of earlier
    /// versions.
    #[serde(default)]
    pub good: Option<bool>,
    /// The error that ended the run. The index is unchanged, and most numbers of such a record are 0.
    #[serde(default)]
    pub error: Option<String>,
}

/// A metric of a golden set after a run.
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunQuality {
    /// The golden file, the set if one is selected, and the metric, such as `golden.jsonl exact nDCG@10`.
    pub name: String,
    /// Number of questions.
    pub questions: u64,
    /// Mean of the metric, from 0 to 1.
    pub mean: f64,
    /// Lower end of the 95 % confidence interval of the mean, at least 0.
    pub low: f64,
    /// Upper end of the 95 % confidence interval of the mean, at most 1.
    pub high: f64,
}

/// A metric of each question of a golden set after a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct QuestionScores {
    /// See [`RunQuality::name`].
    pub name: String,
    /// Hash of a question, and its value of the metric.
    pub scores: Vec<(u32, f32)>,
}

/// A record of a run as it is stored.
#[derive(Serialize, Deserialize)]
struct StoredRun {
    #[serde(flatten)]
    record: RunRecord,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    scores: Vec<QuestionScores>,
}

/// The last runs of an index.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RunHistory {
    /// The runs, newest first.
    pub runs: Vec<RunRecord>,
    /// The scores of the last good run.
    pub good_scores: Vec<QuestionScores>,
}

impl RunHistory {
    /// Reads the history of an index. The history is empty if there is no index, or if the index has been replaced.
    pub fn load(root: &Path, snapshot: &Snapshot) -> Self {
        let Some(file) = file(root, snapshot) else { return Self::default() };
        let mut stored = read(&file).0;
        stored.reverse();
        let good = stored.iter_mut().find(|run| run.record.is_good());
        let good_scores = good.map(|run| std::mem::take(&mut run.scores)).unwrap_or_default();
        let runs = stored.into_iter().take(MAX_RUNS).map(|run| run.record).collect();
        Self { runs, good_scores }
    }

    /// The last run without an error.
    pub fn previous(&self) -> Option<&RunRecord> {
        self.runs.iter().find(|run| run.error.is_none())
    }

    /// The last run that completed without violations.
    pub fn last_good(&self) -> Option<&RunRecord> {
        self.runs.iter().find(|run| run.is_good())
    }
}

/// Statistics of one stage of a run. Times are in milliseconds.
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunStage {
    /// Name of the stage.
    pub name: String,
    /// Number of workers.
    pub workers: usize,
    /// Start of the stage's first work, since the start of the pipeline.
    pub first_ms: f64,
    /// End of the stage's last work, since the start of the pipeline.
    pub last_ms: f64,
    /// Time spent processing, summed over the workers.
    pub busy_ms: f64,
    /// Time that the workers waited for input, summed over the workers.
    pub starved_ms: f64,
    /// Time that the workers waited for memory or for space in the output queue, summed over the workers.
    pub blocked_ms: f64,
    /// Share of the run that a worker spent processing on average, from 0 to 1.
    pub utilisation: f64,
    /// Number of files that the stage passed on.
    pub files: u64,
    /// Number of chunks that the stage passed on.
    pub chunks: u64,
}

impl RunRecord {
    /// Creates the record of a run that has just ended.
    pub fn from_summary(summary: &IndexSummary) -> Self {
        let files = &summary.files;
        Self {
            ended: aurora_clock::now_seconds(),
            elapsed_ms: summary.elapsed_ms,
            completed: summary.report.outcome == Outcome::Completed,
            generation: summary.generation,
            scanned: files.scanned,
            indexed: files.indexed,
            unchanged: files.unchanged + files.refreshed,
            deleted: files.deleted,
            skipped: files.skipped.values().map(|skipped| skipped.count).sum(),
            errors: summary.errors.len() as u64,
            warnings: summary.warnings.len() as u64,
            chunks: summary.chunks.total,
            changed_chunks: summary.changed_chunks,
            lines: summary.lines,
            peak_memory_bytes: summary.peak_memory_bytes,
            bottleneck: summary.report.bottleneck.clone(),
            stages: summary.report.stages.iter().map(RunStage::from_report).collect(),
            files: summary.file_count,
            skips: most_frequent(files.skipped.iter().map(|(reason, skipped)| (reason.clone(), skipped.count))),
            secrets: summary.secrets.count,
            index_bytes: summary.index_bytes,
            table_bytes: summary.table_bytes,
            coverage: Some(summary.coverage),
            cpu_seconds: summary.cpu_seconds,
            serial_cpu_share: summary.serial_cpu_share,
            commit: None,
            quality: Vec::new(),
            violations: summary.violations.clone(),
            good: Some(
                summary.report.outcome == Outcome::Completed
                    && summary.unreadable.entries == 0
                    && summary.violations.is_empty(),
            ),
            error: None,
        }
    }

    /// Creates the record of a run that an error has just ended.
    pub fn from_error(error: String, elapsed: Duration) -> Self {
        Self {
            ended: aurora_clock::now_seconds(),
            elapsed_ms: u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX),
            good: Some(false),
            error: Some(error),
            ..Self::default()
        }
    }

    /// Whether the run completed without violations.
    pub fn is_good(&self) -> bool {
        self.good == Some(true)
    }
}

fn most_frequent(reasons: impl Iterator<Item = (String, u64)>) -> BTreeMap<String, u64> {
    let mut reasons: Vec<(String, u64)> = reasons.collect();
    reasons.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    reasons.truncate(MAX_SKIP_REASONS);
    reasons.into_iter().collect()
}

impl RunStage {
    fn from_report(report: &StageReport) -> Self {
        let ms = |time: std::time::Duration| time.as_secs_f64() * 1e3;
        Self {
            name: report.name.clone(),
            workers: report.workers,
            first_ms: ms(report.first),
            last_ms: ms(report.last),
            busy_ms: ms(report.busy),
            starved_ms: ms(report.input_empty),
            blocked_ms: ms(report.output_full + report.memory_wait),
            utilisation: report.utilisation,
            files: report.files_out,
            chunks: report.chunks_out,
        }
    }
}

/// Returns the last recorded runs of a project's index, newest first: the runs that changed the index, and the runs of
/// jobs with thresholds or a report. Does not include updates before a search, or runs of an earlier index that was
/// replaced.
pub fn runs(root: &Path, snapshot: &Snapshot) -> Vec<RunRecord> {
    RunHistory::load(root, snapshot).runs
}

/// Returns the last of the runs that [`runs`] returns.
pub fn last_run(root: &Path, snapshot: &Snapshot) -> Option<RunRecord> {
    let file = file(root, snapshot)?;
    let bytes = file.read(&format())?;
    let last = file.segments(&bytes, &format()).last()?;
    serde_json::from_slice(&bytes[last]).ok().map(|run: StoredRun| run.record)
}

/// Appends a run to the file. Returns the record with the commit, which is read from the index. Errors are ignored, so
/// that a run succeeds even if its record cannot be written.
pub fn record_run(root: &Path, mut record: RunRecord, scores: Vec<QuestionScores>) -> RunRecord {
    let environment = Environment::open(ProjectDirectory::in_root(root).path(), OpenMode::Existing);
    let Ok(snapshot) = environment.and_then(|environment| environment.snapshot()) else { return record };
    let manifest = snapshot.manifest();
    record.generation = manifest.generation;
    if record.error.is_none() {
        record.commit = manifest.head_commit.clone();
    }
    if let Some(file) = file(root, &snapshot) {
        append(&file, record.clone(), scores);
    }
    record
}

fn append(file: &CacheFile, record: RunRecord, mut scores: Vec<QuestionScores>) {
    if scores.iter().map(|set| set.scores.len()).sum::<usize>() > MAX_SCORES {
        scores.clear();
    }
    let (mut stored, end) = read(file);
    stored.push(StoredRun { record, scores });
    let (added, mut end) = match end.filter(|end| *end <= MAX_GROWN_BYTES) {
        Some(end) if stored.len() <= MAX_RECORDS => (stored.len() - 1, Some(end)),
        _ => {
            // Only the scores of the last good run are compared with later runs.
            let good = stored.iter().rposition(|run| run.record.is_good());
            let others = stored.iter_mut().enumerate().filter(|(at, _)| Some(*at) != good);
            others.for_each(|(_, run)| run.scores.clear());
            (stored.len().saturating_sub(MAX_RUNS), None)
        }
    };
    for run in &stored[added..] {
        let Ok(text) = serde_json::to_vec(run) else { return };
        let Ok(next) = file.append(&format(), end, &text) else { return };
        end = Some(next);
    }
}

fn file(root: &Path, snapshot: &Snapshot) -> Option<CacheFile> {
    let project = ProjectDirectory::in_root(root).open().ok()?;
    Some(CacheFiles::new(project, &snapshot.id()?).file(ProjectDirectory::RUNS, MAX_FILE_BYTES))
}

/// Returns the records of a file, oldest first, and the end offset of the last record.
fn read(file: &CacheFile) -> (Vec<StoredRun>, Option<usize>) {
    let Some(bytes) = file.read(&format()) else { return (Vec::new(), None) };
    let mut segments = file.segments(&bytes, &format());
    let records = segments.by_ref().map_while(|range| serde_json::from_slice(&bytes[range]).ok()).collect();
    (records, Some(segments.end()))
}

fn format() -> Format {
    Format::new(b"AURRUNS\n", 1, b"")
}

#[cfg(test)]
mod tests {
    use aurora_confined::Directory;

    use super::*;

    #[test]
    fn records_of_earlier_versions_are_read() {
        let text = r#"{"ended":1,"elapsed_ms":2,"completed":true,"generation":3,"scanned":4,"indexed":5,"unchanged":6,
            "deleted":7,"skipped":8,"errors":9,"warnings":10,"chunks":11,"changed_chunks":12,"lines":13,
            "peak_memory_bytes":null,"bottleneck":null,"stages":[]}"#;
        let stored: StoredRun = serde_json::from_str(text).expect("the record is readable");
        assert_eq!((stored.record.chunks, stored.record.good, stored.scores.len()), (11, None, 0));
        assert!(!stored.record.is_good());
    }

    #[test]
    fn the_file_is_bounded_and_keeps_the_scores_of_the_last_good_run() {
        let directory = tempfile::tempdir().expect("a temporary directory can be created");
        let open = || Directory::open_root(directory.path()).expect("the directory can be opened");
        let file = CacheFile::new(open(), "runs", b"secret", MAX_FILE_BYTES);
        let scores = |value| vec![QuestionScores { name: "q".to_owned(), scores: vec![(1, value)] }];
        let good_at = MAX_RECORDS as i64 - 10;
        for ended in 0..=MAX_RECORDS as i64 {
            let record = RunRecord { ended, good: Some(ended <= good_at), ..RunRecord::default() };
            append(&file, record, scores(ended as f32));
        }
        let (stored, _) = read(&file);
        assert_eq!(stored.len(), MAX_RUNS);
        assert_eq!(stored.last().map(|run| run.record.ended), Some(MAX_RECORDS as i64));
        let with_scores: Vec<_> = stored.iter().filter(|run| !run.scores.is_empty()).collect();
        assert_eq!(with_scores.len(), 1);
        assert_eq!((with_scores[0].record.ended, &with_scores[0].scores), (good_at, &scores(good_at as f32)));
    }
}
