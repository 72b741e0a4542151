//! Facts about a hit in the form of JSON answers.

use aurora_storage::{AccessRecord, ChunkHistory, HistoryTier, Verdict};
use serde::Serialize;
use serde::ser::Serializer;

use crate::present::freshness::FileState;

/// History of a chunk's lines. Without history, the values are `null` or an empty list.
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[derive(Serialize)]
pub(crate) struct GitFacts {
    /// `tracked`, `untracked`, `pending`, `unavailable` or `none`.
    status: &'static str,
    /// Precision of the history: whether it covers lines or the file.
    tier: Option<HistoryTier>,
    /// Number of commits from which the lines come.
    commits: Option<u32>,
    /// Number of commits that ever changed the lines.
    touches: Option<u32>,
    /// Time of the newest commit.
    last_modified: Option<String>,
    /// Names of the authors.
    authors: Vec<String>,
    /// Hash of the newest commit.
    last_commit: Option<String>,
    /// Reason why the history is unavailable.
    #[cfg_attr(feature = "schema", schema(required = false))]
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
}

/// Accesses to a chunk and verdicts on it.
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[derive(Serialize)]
pub(crate) struct AccessFacts {
    /// Number of accesses.
    count: u64,
    /// Time of the last access.
    last: Option<String>,
    /// Number of verdicts of each kind.
    #[cfg_attr(feature = "schema", schema(required = false))]
    #[serde(skip_serializing_if = "Option::is_none")]
    feedback: Option<JudgementFacts>,
}

/// Number of verdicts of each kind.
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[derive(Serialize)]
pub(crate) struct JudgementFacts {
    good: u32,
    helpful: u32,
    unhelpful: u32,
    bad: u32,
    /// Time of the last verdict.
    last: Option<String>,
}

/// The file on disk compared with the index.
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[derive(Serialize)]
pub(crate) struct FileFacts {
    /// Whether the index is out of date for the file; `null` if unknown.
    changed_since_index: Option<bool>,
    /// State of the file.
    file_state: FileState,
}

/// Serializes as [`GitFacts`].
pub(crate) fn git<S: Serializer>(git: &ChunkHistory, serializer: S) -> Result<S::Ok, S::Error> {
    let (status, history, reason) = match git {
        ChunkHistory::Tracked(history) => ("tracked", Some(history), None),
        ChunkHistory::Untracked => ("untracked", None, None),
        ChunkHistory::Pending => ("pending", None, None),
        ChunkHistory::Unavailable { reason } => ("unavailable", None, Some(reason)),
        ChunkHistory::None => ("none", None, None),
    };
    let facts = GitFacts {
        status,
        tier: history.map(|history| history.tier),
        commits: history.map(|history| history.commits),
        touches: history.map(|history| history.touches),
        last_modified: history.and_then(|history| rfc3339(history.newest_time)),
        authors: history.map_or_else(Vec::new, |history| history.authors.clone()),
        last_commit: history.map(|history| history.newest_commit.clone()),
        reason: reason.cloned(),
    };
    facts.serialize(serializer)
}

/// Serializes as [`AccessFacts`].
pub(crate) fn access<S: Serializer>(access: &Option<AccessRecord>, serializer: S) -> Result<S::Ok, S::Error> {
    let shown = access.as_ref().filter(|access| access.count > 0);
    let judged = access.as_ref().map(|access| access.judgements).filter(|judgements| !judgements.is_empty());
    let feedback = judged.map(|judgements| JudgementFacts {
        good: judgements.count(Verdict::Good),
        helpful: judgements.count(Verdict::Helpful),
        unhelpful: judgements.count(Verdict::Unhelpful),
        bad: judgements.count(Verdict::Bad),
        last: judgements.last().and_then(rfc3339),
    });
    let (count, last) = (shown.map_or(0, |access| access.count), shown.and_then(|access| rfc3339(access.last)));
    AccessFacts { count, last, feedback }.serialize(serializer)
}

/// Serializes as [`FileFacts`], or without keys if the file was not examined.
pub(crate) fn file_state<S: Serializer>(state: &Option<FileState>, serializer: S) -> Result<S::Ok, S::Error> {
    let facts = state.map(|state| FileFacts { changed_since_index: state.is_stale(), file_state: state });
    facts.serialize(serializer)
}

/// Formats Unix seconds as `2025-12-29T08:00:00Z`; `None` if the time is out of range.
pub(crate) fn rfc3339(seconds: i64) -> Option<String> {
    jiff::Timestamp::from_second(seconds).ok().map(|time| time.to_string())
}
