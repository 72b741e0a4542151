//! What the searches of a session have shown, as it is stored.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// A chunk that was shown in a session.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Retrieved {
    /// The `.aurora` directory whose access history knows the chunk.
    pub home: PathBuf,
    /// Its key.
    pub key: String,
}

/// What a session has asked for.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct SessionSearches {
    pub(crate) retrieved: Vec<Retrieved>,
    pub(crate) queries: Vec<String>,
}
