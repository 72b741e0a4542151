//! The indexed part of an entry.

use aurora_memory_policy::Scope;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::store::Version;

pub(crate) use aurora_query::memory::ENTRIES_PREFIX as DIRECTORY;

/// The language of the rows: prose, whose lines can be long.
pub(crate) const ENTRY_LANGUAGE: &str = "markdown";

/// Columns of the chunks.
pub(crate) mod column {
    pub(crate) use aurora_query::memory::column::*;

    /// Separates the condition and the action of a retention rule.
    pub(crate) const RULE_SEPARATOR: char = '\n';
}

/// The indexed part of an entry: everything that ranking and filters need, and nothing that depends on the history of the entry.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct IndexedEntry {
    pub(crate) id: String,
    pub(crate) scope: Scope,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) session: Option<String>,
    pub(crate) created: i64,
    pub(crate) edited: i64,
    pub(crate) document: Map<String, Value>,
    /// The texts of the turns directly before and after a turn.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) beside: Vec<String>,
}

impl IndexedEntry {
    /// Creates the indexed part of the newest version, without adjacent turns; `None` if the entry was removed.
    pub(crate) fn new(id: &str, version: Version) -> Option<Self> {
        let Version { created, edited, scope, session, document, .. } = version;
        Some(Self { id: id.to_owned(), scope, session, created, edited, document: document?, beside: Vec::new() })
    }
}

/// Returns the indexed path of an entry.
pub(crate) fn indexed_path(id: &str) -> String {
    format!("{DIRECTORY}{id}")
}
