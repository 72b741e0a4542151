//! Unfinished work of stages: rows without a result, and columns whose values are out of date.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// A missing result of a stage for a file or for the file's chunks. The next run executes the stage again for these
/// rows.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct UnfinishedRow {
    /// Name of the stage.
    pub stage: String,
    /// The rows of the stage that have no result.
    pub extent: RowExtent,
    /// The reason why the stage failed; `None` if it was not run on the row.
    pub reason: Option<String>,
}

/// The rows of one file that an [`UnfinishedRow`] describes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub enum RowExtent {
    /// The file, which is one row of the stage.
    File,
    /// All chunks of the file, each of which is a row of the stage.
    Chunks,
    /// The chunk at this index in the list of the file's chunks.
    Chunk(u32),
}

impl RowExtent {
    /// Returns the index of the chunk; `None` if the extent is the file or all of its chunks.
    pub fn chunk(self) -> Option<u32> {
        match self {
            Self::File | Self::Chunks => None,
            Self::Chunk(position) => Some(position),
        }
    }

    /// Returns the number of rows that the extent covers in a file with `chunks` chunks.
    fn rows(self, chunks: usize) -> u64 {
        match self {
            Self::File | Self::Chunk(_) => 1,
            Self::Chunks => chunks.max(1) as u64,
        }
    }
}

/// Unfinished work of the stages of a generation.
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unfinished {
    /// Names of the columns whose values may be out of date, because the program of their stage is not allowed, sorted.
    pub stale: Vec<String>,
    /// The columns that are computed from other columns, directly or indirectly, each with those columns, sorted.
    #[serde(default)]
    pub derived: BTreeMap<String, Vec<String>>,
    /// Names of the stages without any results in the index because their programs are not allowed: stages that were
    /// left out, and stages that supply documents but have none.
    #[serde(default)]
    pub absent: Vec<String>,
    /// Rows without a result by stage, sorted by name. Set by the writer.
    pub rows: Vec<UnfinishedRows>,
    /// Failures of the last run that concern no row of the index, for example of a listing of documents.
    pub failures: Vec<StageFailure>,
    /// Whether the index was imported, and every later run has left out programs that were not allowed.
    #[serde(default)]
    pub imported: bool,
}

/// Number of rows without a result of a stage: files for a stage of files, otherwise chunks.
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnfinishedRows {
    /// Name of the stage.
    pub stage: String,
    /// Number of rows on which the stage failed.
    pub failed: u64,
    /// Number of rows on which the stage was not run.
    pub waiting: u64,
}

/// A failure that concerns no row.
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct StageFailure {
    /// Name of the stage.
    pub stage: String,
    /// Path of the document that failed, or the directory of all documents of the stage.
    pub place: String,
    /// Reason of the failure.
    pub reason: String,
}

impl Unfinished {
    /// Whether the values of a column may be out of date, because the program of its stage is not allowed.
    pub fn is_refused(&self, column: &str) -> bool {
        self.stale.iter().any(|stale| stale == column)
    }

    /// Whether the values of a column, or of a column that it is computed from, may be out of date, because the program
    /// of the stage is not allowed. Such columns are not part of the digest of an index.
    pub fn is_stale(&self, column: &str) -> bool {
        self.is_refused(column) || self.sources(column).iter().any(|source| self.is_refused(source))
    }

    /// Returns the names of the columns from which a column is computed.
    pub fn sources(&self, column: &str) -> &[String] {
        self.derived.get(column).map_or(&[], Vec::as_slice)
    }

    /// Returns the numbers of rows for which a stage has no result.
    pub fn for_stage(&self, stage: &str) -> UnfinishedRows {
        let known = self.rows.iter().find(|rows| rows.stage == stage).cloned();
        known.unwrap_or_else(|| UnfinishedRows { stage: stage.to_owned(), ..UnfinishedRows::default() })
    }

    /// Adds the unfinished work of another part of the same tree.
    pub(crate) fn append(&mut self, other: Self) {
        for added in other.rows {
            match self.rows.binary_search_by(|rows| rows.stage.cmp(&added.stage)) {
                Ok(at) => {
                    let rows = &mut self.rows[at];
                    rows.failed = rows.failed.saturating_add(added.failed);
                    rows.waiting = rows.waiting.saturating_add(added.waiting);
                }
                Err(at) => self.rows.insert(at, added),
            }
        }
        self.failures.extend(other.failures);
        self.failures.sort_unstable();
        self.failures.dedup();
        self.imported |= other.imported;
    }

    /// Adds the unfinished rows of a file with `chunks` chunks.
    pub(crate) fn add(&mut self, rows: &[UnfinishedRow], chunks: usize) {
        self.count(rows, chunks, u64::saturating_add);
    }

    /// Subtracts the unfinished rows of a file with `chunks` chunks.
    pub(crate) fn subtract(&mut self, rows: &[UnfinishedRow], chunks: usize) {
        self.count(rows, chunks, u64::saturating_sub);
        self.rows.retain(|rows| rows.failed + rows.waiting > 0);
    }

    fn count(&mut self, rows: &[UnfinishedRow], chunks: usize, change: fn(u64, u64) -> u64) {
        for row in rows {
            let count = row.extent.rows(chunks);
            let at = match self.rows.binary_search_by(|rows| rows.stage.as_str().cmp(&row.stage)) {
                Ok(at) => at,
                Err(at) => {
                    self.rows.insert(at, UnfinishedRows { stage: row.stage.clone(), ..UnfinishedRows::default() });
                    at
                }
            };
            let rows = &mut self.rows[at];
            let counted = if row.reason.is_some() { &mut rows.failed } else { &mut rows.waiting };
            *counted = change(*counted, count);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_column_computed_from_a_stale_column_is_stale() {
        let unfinished = Unfinished {
            stale: vec!["owner".to_owned()],
            derived: BTreeMap::from([("team".to_owned(), vec!["owner".to_owned()])]),
            ..Unfinished::default()
        };
        let states = ["owner", "team", "churn"].map(|name| (unfinished.is_stale(name), unfinished.is_refused(name)));
        assert_eq!(states, [(true, true), (true, false), (false, false)]);
    }

    #[test]
    fn rows_are_counted_by_stage_and_removed_with_their_file() {
        let row = |stage: &str, extent, reason: Option<&str>| UnfinishedRow {
            stage: stage.to_owned(),
            extent,
            reason: reason.map(str::to_owned),
        };
        let rows = [
            row("owner", RowExtent::Chunk(1), Some("it hangs")),
            row("churn", RowExtent::Chunks, None),
            row("notes", RowExtent::File, Some("it hangs")),
            row("licence", RowExtent::File, None),
        ];
        let mut unfinished = Unfinished::default();
        unfinished.add(&rows, 3);
        assert_eq!((unfinished.for_stage("owner").failed, unfinished.for_stage("churn").waiting), (1, 3));
        assert_eq!((unfinished.for_stage("notes").failed, unfinished.for_stage("licence").waiting), (1, 1));
        let mut without_chunks = Unfinished::default();
        without_chunks.add(&rows, 0);
        assert_eq!(without_chunks.for_stage("churn").waiting, 1);
        without_chunks.subtract(&rows, 0);
        assert_eq!(without_chunks, Unfinished::default());
    }
}
