//! Reports of unused definitions.

use aurora_query::{RelationIndex, UnusedOptions};
use aurora_storage::{Snapshot, StorageError};
use serde::Serialize;

use crate::relations::{RelatedChunk, described, rounded};

/// Maximum number of unused definitions in a report.
const MAX_UNUSED: usize = 5_000;

/// The definitions that nothing in the repository uses, for programs.
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct UnusedReport {
    /// Minimum confidence of the definitions.
    pub min_confidence: f64,
    /// Number of definitions that were examined.
    pub examined: usize,
    /// The unused definitions, ordered by path and line.
    pub unused: Vec<RelatedChunk>,
    /// Number of definitions that were left out because of low confidence.
    pub left_out: usize,
    /// Number of source files that are not indexed, such as minified or very large files. They may use the definitions.
    pub not_indexed: usize,
    /// Whether the report is complete: nothing was left out because of limits, and all source files are indexed.
    pub complete: bool,
}

/// Returns the report of unused definitions.
///
/// # Errors
/// Fails if the index cannot be read.
pub fn unused(
    snapshot: &Snapshot,
    relations: &RelationIndex<'_>,
    options: &UnusedOptions,
) -> Result<UnusedReport, StorageError> {
    let found = relations.unused(options)?;
    let mut unused = Vec::new();
    for one in &found.list {
        if let Some(chunk) = described(snapshot, one.id)? {
            let (reason, confidence) = (Some(one.reason.as_str()), Some(rounded(one.confidence)));
            unused.push(RelatedChunk { reason, confidence, ..chunk });
        }
    }
    unused.sort_by(|a, b| (&a.file, a.line_start, &a.id).cmp(&(&b.file, b.line_start, &b.id)));
    let complete = !found.is_cut && found.not_indexed == 0 && unused.len() <= MAX_UNUSED;
    unused.truncate(MAX_UNUSED);
    Ok(UnusedReport {
        min_confidence: rounded(options.min_confidence),
        examined: found.examined,
        unused,
        left_out: found.left_out,
        not_indexed: found.not_indexed,
        complete,
    })
}
