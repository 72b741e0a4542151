//! The rows for which stages have no result, and whether an index has all results.

use crate::column::ColumnDeclaration;
use crate::error::StorageError;
use crate::snapshot::Snapshot;

impl Snapshot {
    /// Whether the last run has covered all that it was asked to, and every stage has a result for every row. A value that may be
    /// out of date is a result.
    ///
    /// # Errors
    /// When the index is damaged.
    pub fn is_complete(&self) -> Result<bool, StorageError> {
        let manifest = self.manifest();
        let (failures, absent) = (&manifest.unfinished.failures, &manifest.unfinished.absent);
        Ok(manifest.complete && failures.is_empty() && absent.is_empty() && self.unfinished_rows()? == 0)
    }

    /// Number of rows without a result of the stage that lacks most.
    ///
    /// # Errors
    /// When the index is damaged.
    pub fn unfinished_rows(&self) -> Result<u64, StorageError> {
        let mut most = 0;
        for rows in &self.manifest().unfinished.rows {
            most = most.max(rows.failed + self.waiting_rows(&rows.stage)?);
        }
        Ok(most)
    }

    /// Number of rows that wait for a stage: of its columns, that which lacks most values of them counts.
    ///
    /// # Errors
    /// When the index is damaged.
    pub fn waiting_rows(&self, stage: &str) -> Result<u64, StorageError> {
        let manifest = self.manifest();
        let mut of_columns: Option<u64> = None;
        for column in manifest.columns.iter().filter(|column| column.stage == stage) {
            of_columns = of_columns.max(Some(self.waiting_for(column)?));
        }
        Ok(of_columns.unwrap_or_else(|| manifest.unfinished.for_stage(stage).waiting))
    }

    /// Number of rows that wait for the stage of a column, and have no earlier value in the column. A file without chunks counts as a
    /// row.
    ///
    /// # Errors
    /// When the index is damaged.
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
                let chunks = match row.chunk {
                    Some(chunk) => file.chunks.get(chunk as usize).map_or(&[][..], std::slice::from_ref),
                    None => file.chunks.as_slice(),
                };
                let rows = chunks.iter().filter(|id| !valued.contains(id.0)).count();
                count += if file.chunks.is_empty() { 1 } else { rows as u64 };
            }
        }
        Ok(count)
    }
}
