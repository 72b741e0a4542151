//! The summary of an index run.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use aurora_confined::read_regular_to_string;
use aurora_pipeline::{Outcome, RunReport, Tally, TallyEntry};
use aurora_storage::{ChunkType, Compaction, Label, Manifest, ProjectDirectory, Snapshot, StorageError};
use serde::Serialize;

use super::column_state::{ColumnState, column_states};
use crate::incremental::{SECRETS_COUNTER, SECRETS_WARNING};
use crate::services::UnreadPaths;
use crate::store::UNCHANGED_CHUNKS;

/// The result of an index run.
#[derive(Debug, Clone, Serialize)]
pub struct IndexSummary {
    /// Absolute path of the indexed directory.
    pub root: String,
    /// The git work tree whose index was copied as the starting point of this index.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub adopted: Option<String>,
    /// Numbers of files by outcome.
    pub files: FileCounts,
    /// Number of chunks in the index, by type.
    pub chunks: ChunkCounts,
    /// Masked secrets in the files that this run read.
    pub secrets: MaskedSecrets,
    /// Number of chunks that this run stored. A chunk of which only custom columns were computed again is counted only
    /// if a value has changed.
    pub changed_chunks: u64,
    /// Errors, each with its reason and examples of files that could not be indexed.
    pub errors: Vec<String>,
    /// Files and directories that could not be read. Their indexed data stays unchanged, and the next run tries to read
    /// them again.
    pub unreadable: Unreadable,
    /// Warnings and remarks.
    pub warnings: Vec<String>,
    /// State of the keyword index.
    pub bm25: KeywordIndex,
    /// Number of vectors and the model that computed them.
    pub embeddings: Embeddings,
    /// The columns of custom stages with their completeness.
    pub columns: Vec<ColumnState>,
    /// The stages that were not run because their programs are not allowed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub not_run: Vec<StageNotRun>,
    /// Names of the columns that this run removed from the index.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub removed_columns: Vec<String>,
    /// Descriptions of the thresholds that the index does not meet: thresholds for failed rows and for values in
    /// columns.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub violations: Vec<String>,
    /// Work and timing of every stage.
    pub report: RunReport,
    /// Wall-clock time of the whole run in milliseconds, including opening and publishing.
    pub elapsed_ms: u64,
    /// Processor time of the process during the run in seconds, if the system reports it.
    pub cpu_seconds: Option<f64>,
    /// Share of the processor time that more cores would not shorten, from 0 to 1, if the system reports it. The serial
    /// time consists of the time of stages limited to one worker, and the time in which only one thread was runnable.
    pub serial_cpu_share: Option<f64>,
    /// Peak resident set size of the process so far in bytes, if the system reports it.
    pub peak_memory_bytes: Option<u64>,
    /// Number of lines of source that were parsed.
    pub lines: u64,
    /// Number of bytes of source that were parsed.
    pub source_bytes: u64,
    /// Size of the index on disk, in bytes.
    pub index_bytes: u64,
    /// Number of files in the index. Unlike `files`, it includes files without content, which are skipped.
    pub file_count: u64,
    /// Size of the tables of the index in bytes, without free pages.
    pub table_bytes: u64,
    /// The compaction at the end of the run, if more than half of the index was free.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub compacted: Option<Compaction>,
    /// Number of the published generation.
    pub generation: u64,
    /// Whether the run published a generation. A run that is stopped after the configuration has changed publishes
    /// nothing.
    pub published: bool,
    /// Whether the index is complete: the run completed, all files could be read, and every stage has a result for
    /// every row.
    pub complete: bool,
    /// Whether the index was already up to date: no file was added, changed or removed, no column was removed, and
    /// everything could be read.
    pub nothing_changed: bool,
    /// The lower of two shares, from 0 to 1: the share of files that are in the index among all files that should be,
    /// and the share of rows for which custom stages have a result. Stale values count as results.
    pub coverage: f64,
}

/// A stage that was not run because its program is not allowed or because the user removed the stage from the pipeline.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct StageNotRun {
    /// Name of the stage.
    pub stage: String,
    /// Whether the earlier results of the stage are still in the index.
    pub results: EarlierResults,
    /// Number of rows without a result of the stage.
    pub waiting: u64,
}

/// Whether the earlier results of a stage that was not run are still in the index.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum EarlierResults {
    /// There were no earlier results.
    None,
    /// Rows with unchanged text keep their values or definitions, which may be outdated.
    Kept,
    /// The documents of the stage were kept. They may be outdated.
    KeptDocuments,
    /// The stage supplies documents, but the index has no documents of the stage.
    NoDocuments,
    /// The user removed the stage from the pipeline. Its values, definitions and documents were removed from the index.
    Removed,
}

/// Numbers of files of the tree by outcome.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct FileCounts {
    /// Number of files and directories that the walk found.
    pub scanned: u64,
    /// Number of files whose chunks were built in this run.
    pub indexed: u64,
    /// Number of files whose chunks stayed the same.
    pub unchanged: u64,
    /// Number of files whose stored chunks got a new history or new derived data.
    pub refreshed: u64,
    /// Number of files whose chunks were removed.
    pub deleted: u64,
    /// Number of indexed files that were moved.
    pub renamed: u64,
    /// Number of indexed files whose comments state that a program generated them.
    pub generated: u64,
    /// Files and directories that are not indexed, by reason.
    pub skipped: BTreeMap<String, Skipped>,
}

/// Secrets that were masked before the texts were indexed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct MaskedSecrets {
    /// Number of secrets.
    pub count: u64,
    /// Number of files with secrets. The warnings contain the first few of these files.
    pub files: u64,
    /// Number of secrets by rule.
    pub rules: BTreeMap<String, u64>,
}

/// Files and directories that could not be read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Unreadable {
    /// Number of files and directories.
    pub entries: u64,
    /// Number of indexed files at or below the unreadable paths. Their chunks stay unchanged.
    pub kept_files: u64,
}

/// Files that were skipped for the same reason.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Skipped {
    /// Number of files.
    pub count: u64,
    /// The first few files.
    pub examples: Vec<String>,
}

/// Numbers of live chunks by type.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct ChunkCounts {
    /// Chunks of source code.
    pub code: u64,
    /// Reasoning patterns.
    pub reasoning: u64,
    /// Phases of conversations, notes and turns.
    pub knowledge: u64,
    /// Sections of Markdown and similar documents.
    pub kb: u64,
    /// Sections of other documents.
    pub doc: u64,
    /// All chunks.
    pub total: u64,
}

/// State of the keyword index.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct KeywordIndex {
    /// `built`, `updated`, `unchanged` or `off`.
    pub status: &'static str,
    /// Number of chunks in the keyword index.
    pub chunks: u64,
}

/// State of the vectors.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Embeddings {
    /// Id of the model, or `None` in an index without vectors.
    pub model: Option<String>,
    /// Number of chunks for which embedding failed in this run.
    pub failed: u64,
}

impl ChunkCounts {
    /// Counts the live chunks of a snapshot.
    ///
    /// # Errors
    /// Fails if the index cannot be read.
    pub fn from_snapshot(snapshot: &Snapshot) -> Result<Self, StorageError> {
        let mut counts = Self::default();
        for &kind in ChunkType::ALL {
            let chunks = snapshot.label(Label::Type(kind))?.len();
            counts.total += chunks;
            *match kind {
                ChunkType::Reasoning => &mut counts.reasoning,
                ChunkType::Knowledge | ChunkType::Note | ChunkType::Turn => &mut counts.knowledge,
                ChunkType::Kb => &mut counts.kb,
                ChunkType::Doc => &mut counts.doc,
                _ => &mut counts.code,
            } += chunks;
        }
        Ok(counts)
    }
}

/// The state after the new generation was published.
pub(super) struct PublishedState {
    pub(super) published: Manifest,
    pub(super) snapshot: Snapshot,
    /// Remarks about the git history.
    pub(super) remarks: Vec<String>,
    /// Warnings about the configuration of the pipeline.
    pub(super) warnings: Vec<String>,
    /// Files and directories that could not be read.
    pub(super) unread: UnreadPaths,
    /// Thresholds that the index does not meet.
    pub(super) violations: Vec<String>,
    /// The stages that were not run because their programs are not allowed.
    pub(super) not_run: Vec<StageNotRun>,
}

impl IndexSummary {
    pub(super) fn new(
        root: &Path,
        before: &Manifest,
        after: PublishedState,
        report: RunReport,
        elapsed: Duration,
    ) -> Result<Self, StorageError> {
        let PublishedState { published, snapshot, remarks, mut warnings, unread, violations, not_run } = after;
        let columns = column_states(&snapshot)?;
        let is_gone = |name: &&String| published.columns.iter().all(|column| column.name != **name);
        let removed_columns: Vec<String> =
            before.columns.iter().map(|column| &column.name).filter(is_gone).cloned().collect();
        let has_removed_columns = !removed_columns.is_empty();
        let counter = |name: &str| report.counters.get(name).copied().unwrap_or(0);
        let files = FileCounts::from_report(&report);
        let unreadable = Unreadable { entries: unread.len(), kept_files: unread.known_files() };
        let is_untouched = before.generation > 0 && files.indexed + files.refreshed + files.deleted == 0;
        let is_whole = report.outcome == Outcome::Completed;
        let chunks = ChunkCounts::from_snapshot(&snapshot)?;
        warnings.extend(remarks);
        warnings.extend(lines_of(&report.warnings));
        let mut errors = lines_of(&report.errors);
        for (stage, rows) in &report.failures {
            errors.extend(lines_of(rows).iter().map(|line| format!("stage `{stage}` has no values, {line}")));
        }
        let has_postings = report.stages.iter().any(|stage| stage.name == "bm25");
        let covered = files.indexed + files.unchanged + files.refreshed;
        // Files below an unreadable directory are also missing.
        let missed = report.errors.total() + unread.below();
        let share = |of: u64, all: u64| if all == 0 { 1.0 } else { of as f64 / all as f64 };
        Ok(Self {
            root: root.display().to_string(),
            adopted: None,
            compacted: None,
            columns,
            not_run,
            removed_columns,
            violations,
            chunks,
            secrets: MaskedSecrets::from_report(&report),
            changed_chunks: counter("chunks").saturating_sub(counter(UNCHANGED_CHUNKS)),
            errors,
            unreadable,
            warnings,
            bm25: KeywordIndex {
                status: match (has_postings, is_untouched, before.generation) {
                    (false, ..) => "off",
                    (_, true, _) => "unchanged",
                    (_, _, 0) => "built",
                    _ => "updated",
                },
                chunks: if has_postings { published.chunk_count } else { 0 },
            },
            embeddings: Embeddings {
                model: published.model.as_ref().map(|model| model.id.clone()),
                failed: counter("embeddings.failed"),
            },
            elapsed_ms: u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX),
            cpu_seconds: None,
            serial_cpu_share: None,
            peak_memory_bytes: peak_memory(),
            lines: counter("lines"),
            source_bytes: counter("bytes"),
            index_bytes: ProjectDirectory::in_root(root).index_bytes().unwrap_or(0),
            file_count: published.file_count,
            table_bytes: snapshot.table_bytes(),
            generation: published.generation,
            published: published.generation != before.generation,
            complete: snapshot.is_complete()? && unread.is_empty() && is_whole,
            // Files that were not read may have changed, so the run must be complete.
            nothing_changed: is_untouched && unread.is_empty() && is_whole && !has_removed_columns,
            coverage: share(covered, covered + missed).min(snapshot.finished_share()?),
            files,
            report,
        })
    }
}

impl IndexSummary {
    /// Combines the summary of this pass with the summary `last` of a later pass that only added attributions.
    pub(super) fn followed_by(self, last: Self, elapsed: Duration) -> Self {
        let mut warnings = self.warnings;
        warnings
            .extend(last.warnings.iter().filter(|warning| !warnings.contains(warning)).cloned().collect::<Vec<_>>());
        let mut errors = self.errors;
        errors.extend(last.errors.iter().filter(|error| !errors.contains(error)).cloned().collect::<Vec<_>>());
        let elapsed_ms = u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX);
        // If this pass changed nothing, the last pass did all the work.
        let (files, secrets, changed_chunks, report) = if self.nothing_changed {
            (last.files, last.secrets, last.changed_chunks, last.report)
        } else {
            (self.files, self.secrets, self.changed_chunks, self.report)
        };
        let nothing_changed = self.nothing_changed && last.nothing_changed;
        let bm25 = if self.nothing_changed { last.bm25 } else { self.bm25 };
        let published = self.published || last.published;
        let removed_columns = if last.removed_columns.is_empty() { self.removed_columns } else { last.removed_columns };
        Self {
            published,
            removed_columns,
            files,
            secrets,
            changed_chunks,
            report,
            nothing_changed,
            bm25,
            warnings,
            errors,
            elapsed_ms,
            ..last
        }
    }
}

impl MaskedSecrets {
    fn from_report(report: &RunReport) -> Self {
        let rule_count =
            |(name, count): (&String, &u64)| Some((name.strip_prefix(SECRETS_COUNTER)?.to_owned(), *count));
        let rules: BTreeMap<String, u64> = report.counters.iter().filter_map(rule_count).collect();
        let files = report.warnings.get(SECRETS_WARNING).map_or(0, |entry| entry.count);
        Self { count: rules.values().sum(), files, rules }
    }
}

impl FileCounts {
    pub(super) fn from_report(report: &RunReport) -> Self {
        let counter = |name: &str| report.counters.get(name).copied().unwrap_or(0);
        let skipped = report.skipped.iter().map(|(reason, rows)| {
            let examples = rows.examples.iter().cloned().collect();
            (reason.to_owned(), Skipped { count: rows.count, examples })
        });
        let mut files = Self {
            scanned: 0,
            indexed: (counter("files.added") + counter("files.modified") + counter("files.renamed"))
                .saturating_sub(counter("files.left_out")),
            unchanged: counter("files.unchanged"),
            refreshed: counter("files.refreshed"),
            deleted: counter("files.deleted"),
            renamed: counter("files.renamed"),
            generated: counter("files.generated"),
            skipped: skipped.collect(),
        };
        files.scanned =
            files.indexed + files.unchanged + files.refreshed + report.skipped.total() + report.errors.total();
        files
    }
}

/// Formats one line per reason: the reason, its count, and some examples.
fn lines_of(tally: &Tally) -> Vec<String> {
    let line = |(reason, rows): (&str, &TallyEntry)| {
        let examples: Vec<&str> = rows.examples.iter().map(String::as_str).take(3).collect();
        let more = if rows.count > examples.len() as u64 { ", …" } else { "" };
        format!("{reason}: {} ({}{more})", rows.count, examples.join(", "))
    };
    tally.iter().map(line).collect()
}

/// Returns the peak resident set size of this process so far in bytes, if the kernel reports it.
fn peak_memory() -> Option<u64> {
    let status = read_regular_to_string(Path::new("/proc/self/status"), 1 << 20).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()? * 1024)
}
