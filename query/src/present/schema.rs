//! The shapes that parts of a hit have in JSON, where these differ from their types: for the schema of the answers only.

use aurora_storage::HistoryTier;
use utoipa::ToSchema;

use crate::present::freshness::FileState;

/// History of a chunk's lines; `null` and an empty list where there is none.
#[derive(ToSchema)]
#[allow(dead_code, reason = "the derived schema is what is used")]
pub(crate) struct GitFacts {
    /// `tracked`, `untracked`, `pending`, `unavailable` or `none`.
    status: String,
    /// What the commits have touched.
    tier: Option<HistoryTier>,
    /// Commits that the lines come from.
    commits: Option<u32>,
    /// Commits that ever touched them.
    touches: Option<u32>,
    /// When the newest was made.
    last_modified: Option<String>,
    /// Names of the authors.
    authors: Vec<String>,
    /// Hash of the newest.
    last_commit: Option<String>,
    /// Why the history is not available.
    #[schema(required = false)]
    reason: Option<String>,
}

/// How often a chunk was shown, and what was said of it.
#[derive(ToSchema)]
#[allow(dead_code, reason = "the derived schema is what is used")]
pub(crate) struct AccessFacts {
    /// How often.
    count: u64,
    /// When last.
    last: Option<String>,
    /// How often each verdict was given.
    #[schema(required = false)]
    feedback: Option<JudgementFacts>,
}

/// How often each verdict was given.
#[derive(ToSchema)]
#[allow(dead_code, reason = "the derived schema is what is used")]
pub(crate) struct JudgementFacts {
    good: u32,
    helpful: u32,
    unhelpful: u32,
    bad: u32,
    /// When the last one was given.
    last: Option<String>,
}

/// The file on disk compared with the index.
#[derive(ToSchema)]
#[allow(dead_code, reason = "the derived schema is what is used")]
pub(crate) struct FileFacts {
    /// Whether what the index says of the file is out of date; `null` where that is unknown.
    changed_since_index: Option<bool>,
    /// How it compares.
    file_state: FileState,
}
