//! Thresholds for failed rows and for values in custom columns.

use aurora_pipeline::Thresholds;
use aurora_storage::{Snapshot, StorageError};

use super::column_state::{ColumnState, column_states};
use super::options::IndexOptions;

/// Describes the thresholds that an index does not meet, each in a sentence without a full stop. `stages` are the
/// stages of the pipeline with their thresholds. The options override these thresholds.
///
/// # Errors
/// If the dictionary cannot be read.
pub(super) fn violations(
    snapshot: &Snapshot,
    stages: &[(String, Thresholds)],
    options: &IndexOptions,
) -> Result<Vec<String>, StorageError> {
    let unfinished = &snapshot.manifest().unfinished;
    let columns = column_states(snapshot)?;
    let mut found = Vec::new();
    for (stage, thresholds) in stages {
        let asked = options.max_failed_rows.iter().rev().find(|(name, _)| name == stage);
        let most = asked.map(|(_, rows)| *rows).or(thresholds.max_failed_rows).unwrap_or(0);
        let without_row = unfinished.failures.iter().filter(|failure| failure.stage == *stage).count();
        let failed = unfinished.for_stage(stage).failed + without_row as u64;
        if failed > most {
            let rows = if failed == 1 { "row" } else { "rows" };
            let allowed = if most > 0 { format!(", more than {most}") } else { String::new() };
            found.push(format!(
                "`{stage}` could not process {failed} {rows}{allowed}: the index has no values for them; the next run tries \
                 again"
            ));
        }
        for column in columns.iter().filter(|column| column.stage == *stage) {
            let asked = options.min_columns.iter().rev().find(|(name, _)| *name == column.name);
            let least = asked.map(|(_, percent)| *percent).or(thresholds.min_values);
            found.extend(least.filter(|least| column.percent() < *least).map(|least| too_few(column, least)));
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

fn too_few(column: &ColumnState, least: f64) -> String {
    // Round down, so that a share below the threshold is not displayed as equal to the threshold.
    let percent = (column.percent() * 100.0).floor() / 100.0;
    format!("{percent}% of the chunks have a value in column `{}`, less than {least}%", column.name)
}
