//! What the index holds of an entry.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::scope::Scope;
use crate::store::Version;

pub(crate) use aurora_query::memory::ENTRIES_PREFIX as DIRECTORY;

/// The language of the rows: prose, whose lines may be long.
pub(crate) const LANGUAGE_OF_ENTRIES: &str = "markdown";

/// Columns of the chunks.
pub(crate) mod column {
    pub(crate) use aurora_query::memory::column::{LINKS, REPLY_TO, SCOPE};

    /// Name of the session.
    pub(crate) const SESSION: &str = "session";
    /// Who has said a turn.
    pub(crate) const SPEAKER: &str = "speaker";
    /// Place of a turn in its session, from 1.
    pub(crate) const ORDER: &str = "order";
    /// Tags.
    pub(crate) const TAGS: &str = "tags";
    /// When the entry was changed the last time, in Unix seconds.
    pub(crate) const EDITED: &str = "edited";
    /// Retention rules: condition and action, with [`RULE_SEPARATOR`] between them.
    pub(crate) const RULES: &str = "retention_rules";
    pub(crate) const RULE_SEPARATOR: char = '\n';
    /// What the entry is about: `security`, `performance`, ….
    pub(crate) const DOMAIN: &str = "domain";
    /// What the entry is for.
    pub(crate) const ROLE: &str = "semantic_role";
    /// Whether the score marks the entry as a pattern.
    pub(crate) const PATTERN: &str = "is_pattern";
    /// Score of a reasoning pattern, or confidence of knowledge.
    pub(crate) const SCORE: &str = "score";
}

/// What the index holds of an entry: all that ranking and filters need, and nothing that depends on how the entry came to be.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct IndexedEntry {
    pub(crate) id: String,
    pub(crate) scope: Scope,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) session: Option<String>,
    pub(crate) created: i64,
    pub(crate) edited: i64,
    pub(crate) document: Map<String, Value>,
    /// What was said right before and right after a turn.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) beside: Vec<String>,
}

impl IndexedEntry {
    /// Of the newest version, without the turns beside it; `None` where the entry was removed.
    pub(crate) fn of(id: &str, version: Version) -> Option<Self> {
        let Version { created, edited, scope, session, document, .. } = version;
        Some(Self { id: id.to_owned(), scope, session, created, edited, document: document?, beside: Vec::new() })
    }
}

/// The indexed path of an entry.
pub(crate) fn path_of(id: &str) -> String {
    format!("{DIRECTORY}{id}")
}
