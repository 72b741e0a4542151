//! Counts the rows for which stages have no result yet, and determines whether an index has all results.

use std::collections::BTreeSet;

use crate::column::ColumnDeclaration;
use crate::error::StorageError;
use crate::read::files::FileOutcome;
use crate::read::snapshot::Snapshot;
use crate::unfinished::RowExtent;

impl Snapshot {
    /// Whether the last run processed everything that it was to index, and every stage has a result for every row. An
    /// outdated value in a custom column counts as a result.
    ///
    /// # Errors
    /// Fails if the index is damaged.
    pub fn is_complete(&self) -> Result<bool, StorageError> {
        if let Some(known) = self.inner.completeness.get() {
            return Ok(*known);
        }
        let unfinished = &self.manifest().unfinished;
        let mut is_complete =
            self.manifest().complete && unfinished.failures.is_empty() && unfinished.absent.is_empty();
        for rows in &unfinished.rows {
            is_complete = is_complete && rows.failed == 0 && self.waiting_rows(&rows.stage)? == 0;
        }
        Ok(*self.inner.completeness.get_or_init(|| is_complete))
    }

    /// Returns the lowest share of rows with a result among all stages, from 0 to 1. The rows of a stage that processes
    /// files are files, and the rows of any other stage are chunks.
    ///
    /// # Errors
    /// Fails if the index is damaged.
    pub fn finished_share(&self) -> Result<f64, StorageError> {
        let manifest = self.manifest();
        if manifest.unfinished.rows.is_empty() {
            return Ok(1.0);
        }
        let (mut files, mut stages_of_files) = (0, BTreeSet::new());
        for file in self.files() {
            let file = file?;
            // A file on which a stage failed may also be stored as skipped. Such a file counts. A file that was skipped
            // without a failure does not count.
            files += u64::from(file.outcome == FileOutcome::Indexed || !file.unfinished.is_empty());
            let of_file = file.unfinished.into_iter().filter(|row| row.extent == RowExtent::File);
            stages_of_files.extend(of_file.map(|row| row.stage));
        }
        let mut least = 1.0_f64;
        for rows in &manifest.unfinished.rows {
            let all = if stages_of_files.contains(&rows.stage) { files } else { manifest.chunk_count };
            let unfinished = rows.failed + self.waiting_rows(&rows.stage)?;
            if unfinished > 0 && all > 0 {
                least = least.min(all.saturating_sub(unfinished) as f64 / all as f64);
            }
        }
        Ok(least)
    }

    /// Returns the number of rows on which a stage was not run. If the stage has columns, rows that have a value from
    /// an earlier run are not counted. If the stage has several columns, returns the number for the column with the
    /// most missing values.
    ///
    /// # Errors
    /// Fails if the index is damaged.
    pub fn waiting_rows(&self, stage: &str) -> Result<u64, StorageError> {
        let manifest = self.manifest();
        let mut of_columns: Option<u64> = None;
        for column in manifest.columns.iter().filter(|column| column.stage == stage) {
            of_columns = of_columns.max(Some(self.waiting_for(column)?));
        }
        Ok(of_columns.unwrap_or_else(|| manifest.unfinished.for_stage(stage).waiting))
    }

    /// Returns the number of rows on which the stage of a column was not run and that have no value in the column from
    /// an earlier run.
    ///
    /// # Errors
    /// Fails if the index is damaged.
    pub fn waiting_for(&self, column: &ColumnDeclaration) -> Result<u64, StorageError> {
        let waiting = self.manifest().unfinished.for_stage(&column.stage).waiting;
        let valued = self.chunks_with_column(&column.name)?;
        if waiting == 0 || valued.is_empty() {
            return Ok(waiting);
        }
        let mut count = 0;
        for file in self.files() {
            let file = file?;
            for row in file.unfinished.iter().filter(|row| row.stage == column.stage && row.reason.is_none()) {
                let chunks = match row.extent.chunk() {
                    Some(chunk) => file.chunks.get(chunk as usize).map_or(&[][..], std::slice::from_ref),
                    None => file.chunks.as_slice(),
                };
                let without_value = chunks.iter().filter(|id| !valued.contains(id.0)).count() as u64;
                count += match row.extent {
                    _ if file.chunks.is_empty() => 1,
                    RowExtent::File => without_value.min(1),
                    RowExtent::Chunks | RowExtent::Chunk(_) => without_value,
                };
            }
        }
        Ok(count)
    }
}
