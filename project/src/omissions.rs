//! What is not indexed, and why.

use std::collections::BTreeMap;

use aurora_stages::index::{self as indexing, IndexError, IndexOptions, NotIndexed};
use serde::Serialize;

/// Every file and directory that the tree has now and that is not indexed, for programs.
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct OmissionReport {
    /// The indexed directory.
    pub root: String,
    /// How many there are.
    pub total: usize,
    /// Files and directories by reason.
    pub reasons: BTreeMap<String, usize>,
    /// The files and directories, by path.
    #[cfg_attr(feature = "schema", schema(value_type = Vec<OmittedEntry>))]
    pub entries: Vec<NotIndexed>,
}

/// The shape of an entry, for the schema only: the crate that makes entries knows no schemas.
#[cfg(feature = "schema")]
#[derive(utoipa::ToSchema)]
#[allow(dead_code, reason = "the derived schema is what is used")]
struct OmittedEntry {
    /// Path below the root.
    path: String,
    /// Why.
    reason: String,
    /// Name of the stage that leaves it out.
    stage: String,
    /// Whether it should be indexed, but could not be read.
    failed: bool,
}

/// Walks the tree and tells what a run would not index now.
///
/// # Errors
/// When the pipeline is wrong or the tree cannot be read.
pub fn omissions(options: &IndexOptions) -> Result<OmissionReport, IndexError> {
    let entries = indexing::not_indexed(options)?;
    let mut reasons = BTreeMap::new();
    for entry in &entries {
        *reasons.entry(entry.reason.clone()).or_default() += 1;
    }
    let root = aurora_redact::masked(options.root.display().to_string());
    Ok(OmissionReport { root, total: entries.len(), reasons, entries })
}
