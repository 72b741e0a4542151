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
    pub(crate) use aurora_query::memory::column::*;

    /// Separates condition and action of a retention rule.
    pub(crate) const RULE_SEPARATOR: char = '\n';
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
