//! One version of an entry, as it is stored.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::scope::Scope;

/// What made a version of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Change {
    /// It was added.
    Add,
    /// Its document was replaced.
    Edit,
    /// Its tags were changed.
    Tag,
    /// Its links were changed.
    Link,
    /// It was removed by its id.
    Remove,
    /// A retention policy removed it.
    Prune,
    /// The change before was taken back.
    Undo,
    /// It came from elsewhere.
    Import,
}

/// One version of an entry.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Version {
    /// Its number, from 1.
    #[serde(rename = "v")]
    pub number: u32,
    /// The version that an undo goes back to; 0 where there was no entry.
    #[serde(rename = "b")]
    pub(crate) before: u32,
    /// What made it.
    #[serde(rename = "o")]
    pub change: Change,
    /// When it was made, in Unix seconds.
    #[serde(rename = "t")]
    pub time: i64,
    /// When the entry was added, in Unix seconds.
    #[serde(rename = "c")]
    pub created: i64,
    /// When its content was changed the last time, in Unix seconds.
    #[serde(rename = "e")]
    pub edited: i64,
    /// Who may find it.
    #[serde(rename = "s")]
    pub scope: Scope,
    /// The session that it belongs to.
    #[serde(rename = "q", default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// The document; `None` where the entry was removed.
    #[serde(rename = "d")]
    pub document: Option<Map<String, Value>>,
}

impl Version {
    pub(crate) fn encode(&self) -> Vec<u8> {
        serde_json::to_vec(self).expect("a document has text as keys")
    }

    pub(crate) fn decode(bytes: &[u8]) -> Option<Self> {
        serde_json::from_slice(bytes).ok()
    }
}
