//! The recorded searches of a session.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// A chunk that a search returned in a session.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Retrieved {
    /// The `.aurora` directory whose access history contains the chunk.
    pub home: PathBuf,
    /// The key of the chunk.
    pub key: String,
}

/// The queries that were searched in a session, and the chunks that the searches returned.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct SessionSearches {
    pub(crate) retrieved: Vec<Retrieved>,
    pub(crate) queries: Vec<String>,
}
