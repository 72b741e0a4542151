//! The figures of the last index runs, in a file of the project's directory.

use std::path::Path;

use aurora_cachefile::{CacheFile, Format};
use aurora_pipeline::{Outcome, StageReport};
use aurora_storage::{Environment, OpenMode, ProjectDirectory, Snapshot};
use serde::{Deserialize, Serialize};

use super::summary::IndexSummary;
use crate::services::CacheFiles;

/// Runs that are kept.
const KEPT: usize = 50;
/// Runs in the file before the older ones are dropped.
const MOST: usize = 100;
/// Most bytes of the file: 100 runs of pipelines with 300 stages.
const MOST_BYTES: u64 = 16 << 20;

/// The figures of an index run.
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunRecord {
    /// When it ended, in Unix seconds.
    pub ended: i64,
    /// Wall-clock time of the whole run, milliseconds.
    pub elapsed_ms: u64,
    /// Whether it came to its end; otherwise it was stopped, and has kept what was finished.
    pub completed: bool,
    /// The generation that it has published.
    pub generation: u64,
    /// Files and directories that the walk has found.
    pub scanned: u64,
    /// Files whose chunks were made.
    pub indexed: u64,
    /// Files whose chunks stayed as they were, or got a new history only.
    pub unchanged: u64,
    /// Files whose chunks were removed.
    pub deleted: u64,
    /// Files that were left out.
    pub skipped: u64,
    /// Kinds of errors of files that should have been indexed.
    pub errors: u64,
    /// Kinds of warnings.
    pub warnings: u64,
    /// Chunks in the index after the run.
    pub chunks: u64,
    /// Chunks that the run has made or changed.
    pub changed_chunks: u64,
    /// Lines of source that were parsed.
    pub lines: u64,
    /// Largest resident set of the process so far, bytes, where the system tells.
    pub peak_memory_bytes: Option<u64>,
    /// The stage that was at work for the largest share of the run.
    pub bottleneck: Option<String>,
    /// The stages in the order of the pipeline.
    pub stages: Vec<RunStage>,
}

/// The figures of one stage of a run. Times are in milliseconds.
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunStage {
    /// Name of the stage.
    pub name: String,
    /// Number of workers.
    pub workers: usize,
    /// When its first piece of work began, since the start of the pipeline.
    pub first_ms: f64,
    /// When its last piece of work ended, since the start of the pipeline.
    pub last_ms: f64,
    /// Time spent processing, summed over the workers.
    pub busy_ms: f64,
    /// Time that the workers waited for input, summed.
    pub starved_ms: f64,
    /// Time that the workers waited to send, or for memory, summed.
    pub blocked_ms: f64,
    /// Share of the run that the workers spent processing, on average, 0 to 1.
    pub utilisation: f64,
    /// Files that were sent on.
    pub files: u64,
    /// Chunks that were sent on.
    pub chunks: u64,
}

impl RunRecord {
    /// The figures of a run that has just ended.
    pub fn of(summary: &IndexSummary) -> Self {
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
            stages: summary.report.stages.iter().map(RunStage::of).collect(),
        }
    }
}

impl RunStage {
    fn of(report: &StageReport) -> Self {
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

/// The last runs of a project that have changed its index, newest first. Runs of an index that was set aside are not among
/// them, nor are updates before a search.
pub fn runs(root: &Path, snapshot: &Snapshot) -> Vec<RunRecord> {
    let Some(file) = file(root, snapshot) else { return Vec::new() };
    let (mut records, _) = read(&file);
    records.reverse();
    records.truncate(KEPT);
    records
}

/// Adds a run to the file, unless it has changed nothing. A run never fails because of it.
pub(super) fn remember(summary: &IndexSummary, root: &Path) {
    if summary.nothing_changed {
        return;
    }
    let environment = Environment::open(ProjectDirectory::of(root).path(), OpenMode::Existing);
    let snapshot = environment.and_then(|environment| environment.snapshot());
    let Some(file) = snapshot.ok().and_then(|snapshot| file(root, &snapshot)) else { return };
    let (mut records, end) = read(&file);
    records.push(RunRecord::of(summary));
    let (added, mut end) = match end {
        Some(end) if records.len() <= MOST => (records.len() - 1, Some(end)),
        _ => (records.len().saturating_sub(KEPT), None),
    };
    for record in &records[added..] {
        let Ok(text) = serde_json::to_vec(record) else { return };
        let Ok(next) = file.append(&format(), end, &text) else { return };
        end = Some(next);
    }
}

fn file(root: &Path, snapshot: &Snapshot) -> Option<CacheFile> {
    let home = ProjectDirectory::of(root).open().ok()?;
    Some(CacheFiles::new(home, &snapshot.id()?).file(ProjectDirectory::RUNS, MOST_BYTES))
}

/// The records of a file, oldest first, and where the last one ends.
fn read(file: &CacheFile) -> (Vec<RunRecord>, Option<usize>) {
    let Some(bytes) = file.read(&format()) else { return (Vec::new(), None) };
    let mut segments = file.segments(&bytes, &format());
    let records = segments.by_ref().map_while(|range| serde_json::from_slice(&bytes[range]).ok()).collect();
    (records, Some(segments.end()))
}

fn format() -> Format {
    Format::new(b"AURRUNS\n", 1, b"")
}
