//! Stored queries and results of the searches in a session.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// A chunk that was shown in a session.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Retrieved {
    /// The `.aurora` directory whose access history contains the chunk.
    pub home: PathBuf,
    /// The key of the chunk.
    pub key: String,
}

/// The queries of a session and the chunks that they retrieved.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct SessionSearches {
    pub(crate) retrieved: Vec<Retrieved>,
    pub(crate) queries: Vec<String>,
}
