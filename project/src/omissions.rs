//! Files and directories that are not indexed, with the reasons.

use std::collections::BTreeMap;

use aurora_stages::index::{self as indexing, IndexError, IndexOptions, NotIndexed};
use serde::Serialize;

/// Files and directories that exist in the tree but are not indexed, for programs.
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct OmissionReport {
    /// The indexed directory.
    pub root: String,
    /// Number of files and directories.
    pub total: usize,
    /// Numbers of files and directories, by reason.
    pub reasons: BTreeMap<String, usize>,
    /// The files and directories, sorted by path.
    pub entries: Vec<NotIndexed>,
}

/// Walks the tree, and reports everything that a run would not index now.
///
/// # Errors
/// Fails if the pipeline is invalid or the tree cannot be read.
pub fn omissions(options: &IndexOptions) -> Result<OmissionReport, IndexError> {
    let entries = indexing::not_indexed(options)?;
    let mut reasons = BTreeMap::new();
    for entry in &entries {
        *reasons.entry(entry.reason.clone()).or_default() += 1;
    }
    let root = aurora_redact::masked(options.root.display().to_string());
    Ok(OmissionReport { root, total: entries.len(), reasons, entries })
}
