//! Completeness of the columns of custom stages, and the rows on which stages failed.

use aurora_storage::{ColumnDeclaration, Snapshot, StorageError, UnfinishedRow};
use serde::Serialize;

/// Completeness of a custom column.
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ColumnState {
    /// Name of the column.
    pub name: String,
    /// Name of the stage that writes the column.
    pub stage: String,
    /// Number of chunks with a value.
    pub values: u64,
    /// Number of chunks without a value, for any reason. Many stages set no value for some chunks.
    pub missing: u64,
    /// Number of rows on which the stage failed, or on which a stage whose columns it reads failed. The next run
    /// processes these rows again.
    pub failed: u64,
    /// Number of rows on which the stage, or a stage whose columns it reads, has not run yet. The reason is that the
    /// user has not allowed the stage's program, or that no programs were run. Rows with an earlier value are not
    /// counted.
    pub waiting: u64,
    /// Number of values that may be outdated because the user has not allowed the program of the stage, or of a stage
    /// whose columns it reads. Stale values are also counted in `values`.
    pub stale: u64,
}

impl ColumnState {
    /// Returns a description of the numbers of stale values, failed rows and waiting rows, such as `12 stale values, 1
    /// failed row`. Returns `None` if all numbers are zero.
    pub fn shortfall(&self) -> Option<String> {
        let figures = [
            (self.stale, "stale value", "stale values"),
            (self.failed, "failed row", "failed rows"),
            (self.waiting, "row not processed", "rows not processed"),
        ];
        let figures = figures.into_iter().filter(|(count, ..)| *count > 0);
        let figures: Vec<String> =
            figures.map(|(count, one, more)| format!("{count} {}", if count == 1 { one } else { more })).collect();
        (!figures.is_empty()).then(|| figures.join(", "))
    }

    /// Returns the share of chunks that have a value, in percent, or 100 if there are no chunks.
    pub fn percent(&self) -> f64 {
        let chunks = self.values + self.missing;
        if chunks == 0 { 100.0 } else { self.values as f64 * 100.0 / chunks as f64 }
    }
}

/// Returns the completeness of the custom columns of an index, sorted by name. Failed and waiting rows of a column also
/// count for the columns that are computed from it.
///
/// # Errors
/// Fails if the dictionary or file rows cannot be read.
pub fn column_states(snapshot: &Snapshot) -> Result<Vec<ColumnState>, StorageError> {
    let manifest = snapshot.manifest();
    let unfinished = &manifest.unfinished;
    let state = |column: &ColumnDeclaration| {
        let values = snapshot.chunks_with_column(&column.name)?.len();
        Ok(ColumnState {
            name: column.name.clone(),
            stage: column.stage.clone(),
            values,
            missing: manifest.chunk_count.saturating_sub(values),
            failed: unfinished.for_stage(&column.stage).failed,
            waiting: snapshot.waiting_for(column)?,
            stale: if unfinished.is_stale(&column.name) { values } else { 0 },
        })
    };
    let own: Vec<ColumnState> = manifest.columns.iter().map(state).collect::<Result<_, StorageError>>()?;
    let with_sources = |column: &ColumnState| {
        let sources = unfinished.sources(&column.name);
        let sources: Vec<_> = own.iter().filter(|source| sources.contains(&source.name)).collect();
        let most = |figure: fn(&ColumnState) -> u64| {
            sources.iter().map(|source| figure(source)).fold(figure(column), u64::max)
        };
        ColumnState { failed: most(|column| column.failed), waiting: most(|column| column.waiting), ..column.clone() }
    };
    Ok(own.iter().map(with_sources).collect())
}

/// A row on which a stage failed.
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FailedRow {
    /// Name of the stage.
    pub stage: String,
    /// Path of the file or document, or the location of a failure that concerns no single row.
    pub path: String,
    /// Key of the chunk, or `None` if the stage failed on the whole file.
    pub key: Option<String>,
    /// First line of the chunk.
    pub line_start: Option<u32>,
    /// Last line of the chunk.
    pub line_end: Option<u32>,
    /// Reason why the stage failed.
    pub error: String,
}

/// Returns the rows on which stages failed. Failures that concern no single row come first, followed by rows sorted by
/// file path.
///
/// # Errors
/// Fails if file rows or chunks cannot be read.
pub fn failed_rows(snapshot: &Snapshot) -> Result<Vec<FailedRow>, StorageError> {
    let unfinished = &snapshot.manifest().unfinished;
    let without_row = unfinished.failures.iter().map(|failure| FailedRow {
        stage: failure.stage.clone(),
        path: failure.place.clone(),
        key: None,
        line_start: None,
        line_end: None,
        error: failure.reason.clone(),
    });
    let mut rows: Vec<FailedRow> = without_row.collect();
    if unfinished.rows.iter().all(|rows| rows.failed == 0) {
        return Ok(rows);
    }
    for file in snapshot.files() {
        let file = file?;
        for UnfinishedRow { stage, extent, reason } in file.unfinished {
            let Some(error) = reason else { continue };
            let id = extent.chunk().and_then(|chunk| file.chunks.get(chunk as usize));
            let record = id.map(|id| snapshot.chunk(*id)).transpose()?.flatten();
            rows.push(FailedRow {
                stage,
                path: file.path.clone(),
                key: record.as_ref().map(|record| record.key().into_owned()),
                line_start: record.as_ref().map(|record| record.line_start()),
                line_end: record.as_ref().map(|record| record.line_end()),
                error,
            });
        }
    }
    Ok(rows)
}
