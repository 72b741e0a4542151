//! A stored version of an entry.

use aurora_memory_policy::Scope;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The kind of change that created a version of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Change {
    /// The entry was added.
    Add,
    /// The document of the entry was replaced.
    Edit,
    /// The tags of the entry were changed.
    Tag,
    /// The links of the entry were changed.
    Link,
    /// The entry was removed by its id.
    Remove,
    /// A retention policy removed the entry.
    Prune,
    /// An earlier change was undone.
    Undo,
    /// The entry was imported.
    Import,
}

/// One version of an entry.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Version {
    /// The number of the version, from 1.
    #[serde(rename = "v")]
    pub number: u32,
    /// The number of the version that an undo restores; 0 if the entry did not exist before.
    #[serde(rename = "b")]
    pub(crate) before: u32,
    /// The change that created the version.
    #[serde(rename = "o")]
    pub change: Change,
    /// The time at which the version was created, in Unix seconds.
    #[serde(rename = "t")]
    pub time: i64,
    /// The time at which the entry was added, in Unix seconds.
    #[serde(rename = "c")]
    pub created: i64,
    /// The time at which the document was added or last replaced, in Unix seconds. Changes of tags and links do not
    /// count.
    #[serde(rename = "e")]
    pub edited: i64,
    /// The scope of the entry.
    #[serde(rename = "s")]
    pub scope: Scope,
    /// The session that the entry belongs to.
    #[serde(rename = "q", default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// The document; `None` if the entry was removed.
    #[serde(rename = "d")]
    pub document: Option<Map<String, Value>>,
}

impl Version {
    pub(crate) fn encode(&self) -> Vec<u8> {
        serde_json::to_vec(self).expect("the keys of a document are strings")
    }

    pub(crate) fn decode(bytes: &[u8]) -> Option<Self> {
        serde_json::from_slice(bytes).ok()
    }
}
