//! The stored attribution of a file: the commit of every line.

use aurora_history::{BlameEntry, FileBlame};
use aurora_stages::git_signal::from_stored;
use aurora_storage::{ChunkHistory, FileOutcome, FileRecord, HistoryTier, Snapshot, StorageError};
use serde::Serialize;

use crate::error::ProjectError;
use crate::stamp;

/// Returns the commit of every line of a file, as of the time when the file was indexed.
///
/// # Errors
/// Returns [`ProjectError::NotAttributed`] if the lines have no attribution. Also fails if the index cannot be read.
pub fn attribution(snapshot: &Snapshot, file: &FileRecord) -> Result<FileBlame, ProjectError> {
    if let Some(blame) = stored(snapshot, file)? {
        return Ok(blame);
    }
    Err(ProjectError::NotAttributed { path: file.path.clone(), reason: missing_reason(snapshot, file)? })
}

fn stored(snapshot: &Snapshot, file: &FileRecord) -> Result<Option<FileBlame>, StorageError> {
    let Some(&first) = file.chunks.first() else { return Ok(None) };
    Ok(snapshot.blame(first)?.and_then(from_stored).map(|blame| blame.worktree()))
}

/// Returns the reason why the lines of an indexed file have no attribution.
fn missing_reason(snapshot: &Snapshot, file: &FileRecord) -> Result<String, StorageError> {
    if let FileOutcome::Skipped(reason) = &file.outcome {
        return Ok(format!("it was skipped, {reason}"));
    }
    let Some(&first) = file.chunks.first() else { return Ok("it has no chunks".to_owned()) };
    Ok(match snapshot.text(first)?.map(|text| text.git) {
        Some(ChunkHistory::Untracked) => "it is not in the commit at HEAD".to_owned(),
        Some(ChunkHistory::Pending) => "its history has not been read yet; `aur mem index` continues".to_owned(),
        Some(ChunkHistory::Unavailable { reason }) => reason,
        Some(ChunkHistory::Tracked(history)) if history.tier == HistoryTier::File => {
            "the pipeline attributes whole files (`tier = \"file\"` in [stage.git-signal])".to_owned()
        }
        Some(ChunkHistory::Tracked(_)) => "all of its lines are older than the history in this index".to_owned(),
        Some(ChunkHistory::None) | None => "there is no git repository".to_owned(),
    })
}

/// The attribution of a file, for programs.
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct AttributionReport {
    /// Path below the root.
    pub file: String,
    /// Whether the commit of every committed line was found.
    pub complete: bool,
    /// Groups of consecutive lines from one commit, in the order of the file.
    pub runs: Vec<AttributedRun>,
}

/// Consecutive lines from one commit.
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct AttributedRun {
    /// First line, from 1.
    pub line: u32,
    /// Number of lines.
    pub lines: u32,
    /// The commit; `None` for uncommitted lines.
    pub commit: Option<String>,
    /// Name of the author.
    pub author: Option<String>,
    /// Email address of the author.
    pub email: Option<String>,
    /// Author date, as `2025-12-29T08:00:00Z`.
    pub time: Option<String>,
}

impl AttributionReport {
    /// Creates the report of an attribution.
    pub fn new(path: &str, blame: &FileBlame) -> Self {
        let run = |entry: &BlameEntry| {
            let commit = blame.commits.get(entry.commit as usize);
            AttributedRun {
                line: entry.start_line + 1,
                lines: entry.len,
                commit: commit.map(|commit| commit.id.to_string()),
                author: commit.map(|commit| commit.author.name.to_string()),
                email: commit.map(|commit| commit.author.email.to_string()),
                time: commit.map(|commit| stamp(commit.author_time)),
            }
        };
        Self { file: path.to_owned(), complete: !blame.incomplete, runs: blame.entries.iter().map(run).collect() }
    }
}
