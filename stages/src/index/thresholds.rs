//! Thresholds for failed rows and for values in custom columns.

use aurora_pipeline::Thresholds;
use aurora_storage::{Snapshot, StorageError};

use super::column_state::{ColumnState, column_states};
use super::options::IndexOptions;

/// Returns descriptions of the thresholds that an index does not meet, each as a sentence without a full stop. `stages`
/// are the stages of the pipeline with their thresholds. Thresholds in `options` take precedence.
///
/// # Errors
/// Fails if the dictionary cannot be read.
pub(super) fn violations(
    snapshot: &Snapshot,
    stages: &[(String, Thresholds)],
    options: &IndexOptions,
) -> Result<Vec<String>, StorageError> {
    let unfinished = &snapshot.manifest().unfinished;
    let columns = column_states(snapshot)?;
    let mut found = Vec::new();
    for (stage, thresholds) in stages {
        let requested = options.max_failed_rows.iter().rev().find(|(name, _)| name == stage);
        let max_failed = requested.map(|(_, rows)| *rows).or(thresholds.max_failed_rows).unwrap_or(0);
        let without_row = unfinished.failures.iter().filter(|failure| failure.stage == *stage).count();
        let failed = unfinished.for_stage(stage).failed + without_row as u64;
        if failed > max_failed {
            let rows = if failed == 1 { "row" } else { "rows" };
            let allowed = if max_failed > 0 { format!(", more than {max_failed}") } else { String::new() };
            found.push(format!(
                "`{stage}` could not process {failed} {rows}{allowed}: the index has no values for them; the next run tries \
                 again"
            ));
        }
        for column in columns.iter().filter(|column| column.stage == *stage) {
            let requested = options.min_columns.iter().rev().find(|(name, _)| *name == column.name);
            let min_percent = requested.map(|(_, percent)| *percent).or(thresholds.min_values);
            found.extend(
                min_percent
                    .filter(|min_percent| column.percent() < *min_percent)
                    .map(|min_percent| too_few(column, min_percent)),
            );
        }
    }
    let unknown_stages =
        options.max_failed_rows.iter().filter(|(name, _)| stages.iter().all(|(stage, _)| stage != name));
    found.extend(unknown_stages.map(|(name, _)| format!("the pipeline has no stage `{name}`")));
    let unknown_columns =
        options.min_columns.iter().filter(|(name, _)| columns.iter().all(|column| column.name != *name));
    found.extend(unknown_columns.map(|(name, _)| format!("no stage of the pipeline writes a column `{name}`")));
    Ok(found)
}

fn too_few(column: &ColumnState, min_percent: f64) -> String {
    // Round down, so that a share below the threshold is not displayed as equal to the threshold.
    let percent = (column.percent() * 100.0).floor() / 100.0;
    format!("{percent}% of the chunks have a value in column `{}`, less than {min_percent}%", column.name)
}
