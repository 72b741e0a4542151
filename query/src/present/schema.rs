//! JSON shapes of the parts of a hit whose serialization differs from their types. Used only for the schema of the
//! answers.

use aurora_storage::HistoryTier;
use utoipa::ToSchema;

use crate::present::freshness::FileState;

/// History of a chunk's lines. Without history, the values are `null` or an empty list.
#[derive(ToSchema)]
#[allow(dead_code, reason = "only the derived schema is used")]
pub(crate) struct GitFacts {
    /// `tracked`, `untracked`, `pending`, `unavailable` or `none`.
    status: String,
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
    #[schema(required = false)]
    reason: Option<String>,
}

/// Accesses to a chunk and verdicts on it.
#[derive(ToSchema)]
#[allow(dead_code, reason = "only the derived schema is used")]
pub(crate) struct AccessFacts {
    /// Number of accesses.
    count: u64,
    /// Time of the last access.
    last: Option<String>,
    /// Number of verdicts of each kind.
    #[schema(required = false)]
    feedback: Option<JudgementFacts>,
}

/// Number of verdicts of each kind.
#[derive(ToSchema)]
#[allow(dead_code, reason = "only the derived schema is used")]
pub(crate) struct JudgementFacts {
    good: u32,
    helpful: u32,
    unhelpful: u32,
    bad: u32,
    /// Time of the last verdict.
    last: Option<String>,
}

/// The file on disk compared with the index.
#[derive(ToSchema)]
#[allow(dead_code, reason = "only the derived schema is used")]
pub(crate) struct FileFacts {
    /// Whether the index is out of date for the file; `null` if unknown.
    changed_since_index: Option<bool>,
    /// State of the file.
    file_state: FileState,
}
