//! The indexed part of an entry.

use aurora_memory_policy::Scope;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::store::Version;

pub(crate) use aurora_query::memory::ENTRIES_PREFIX as DIRECTORY;

/// Language of the indexed entries. A run skips files with long lines, because they are probably minified. This does
/// not apply to languages for prose, such as this one.
pub(crate) const ENTRY_LANGUAGE: &str = "markdown";

/// Names of the chunk columns.
pub(crate) mod column {
    pub(crate) use aurora_query::memory::column::*;

    /// Separator between the condition and the action of a retention rule.
    pub(crate) const RULE_SEPARATOR: char = '\n';
}

/// The indexed part of an entry: everything that ranking and filters need. It does not depend on the earlier versions
/// of the entry.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct IndexedEntry {
    pub(crate) id: String,
    pub(crate) scope: Scope,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) session: Option<String>,
    pub(crate) created: i64,
    pub(crate) edited: i64,
    pub(crate) document: Map<String, Value>,
    /// If the entry is a turn: the texts of the turns directly before and after it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) beside: Vec<String>,
}

impl IndexedEntry {
    /// Creates the indexed part from the newest version of an entry, without adjacent turns. Returns `None` if the
    /// entry was removed.
    pub(crate) fn new(id: &str, version: Version) -> Option<Self> {
        let Version { created, edited, scope, session, document, .. } = version;
        Some(Self { id: id.to_owned(), scope, session, created, edited, document: document?, beside: Vec::new() })
    }
}

/// Returns the indexed path of an entry.
pub(crate) fn indexed_path(id: &str) -> String {
    format!("{DIRECTORY}{id}")
}
