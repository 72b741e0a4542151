//! Statistics of the last index runs, stored in a file in the project's directory.

use std::path::Path;

use aurora_cachefile::{CacheFile, Format};
use aurora_pipeline::{Outcome, StageReport};
use aurora_storage::{Environment, OpenMode, ProjectDirectory, Snapshot};
use serde::{Deserialize, Serialize};

use super::summary::IndexSummary;
use crate::services::CacheFiles;

/// Maximum number of runs that [`runs`] returns, and number of runs that remain when the oldest runs are dropped.
const MAX_RUNS: usize = 50;
/// Maximum number of runs in the file. When a run exceeds the limit, the oldest runs are dropped.
const MAX_RECORDS: usize = 100;
/// Maximum size of the file in bytes, enough for 100 runs of pipelines with 300 stages.
const MAX_FILE_BYTES: u64 = 16 << 20;

/// Statistics of an index run.
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
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
        }
    }
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

/// Returns the last runs that changed the index of a project, newest first. Does not include updates before a search,
/// or runs of an earlier index that was replaced.
pub fn runs(root: &Path, snapshot: &Snapshot) -> Vec<RunRecord> {
    let Some(file) = file(root, snapshot) else { return Vec::new() };
    let (mut records, _) = read(&file);
    records.reverse();
    records.truncate(MAX_RUNS);
    records
}

/// Appends a run to the file, unless the run changed nothing. Errors are ignored, so that a run succeeds even if its
/// record cannot be written.
pub(super) fn record_run(summary: &IndexSummary, root: &Path) {
    if summary.nothing_changed {
        return;
    }
    let environment = Environment::open(ProjectDirectory::in_root(root).path(), OpenMode::Existing);
    let snapshot = environment.and_then(|environment| environment.snapshot());
    let Some(file) = snapshot.ok().and_then(|snapshot| file(root, &snapshot)) else { return };
    let (mut records, end) = read(&file);
    records.push(RunRecord::from_summary(summary));
    let (added, mut end) = match end {
        Some(end) if records.len() <= MAX_RECORDS => (records.len() - 1, Some(end)),
        _ => (records.len().saturating_sub(MAX_RUNS), None),
    };
    for record in &records[added..] {
        let Ok(text) = serde_json::to_vec(record) else { return };
        let Ok(next) = file.append(&format(), end, &text) else { return };
        end = Some(next);
    }
}

fn file(root: &Path, snapshot: &Snapshot) -> Option<CacheFile> {
    let project = ProjectDirectory::in_root(root).open().ok()?;
    Some(CacheFiles::new(project, &snapshot.id()?).file(ProjectDirectory::RUNS, MAX_FILE_BYTES))
}

/// Returns the records of a file, oldest first, and the end offset of the last record.
fn read(file: &CacheFile) -> (Vec<RunRecord>, Option<usize>) {
    let Some(bytes) = file.read(&format()) else { return (Vec::new(), None) };
    let mut segments = file.segments(&bytes, &format());
    let records = segments.by_ref().map_while(|range| serde_json::from_slice(&bytes[range]).ok()).collect();
    (records, Some(segments.end()))
}

fn format() -> Format {
    Format::new(b"AURRUNS\n", 1, b"")
}
