//! Selects the rows of a batch that a stage must process: the rows of files whose content is indexed in this run,
//! except rows for which the values that the last run stored can be reused.

use aurora_pipeline::{BatchView, CHUNK_STORED, FILE_STORED, StageContext, StageError, ValueRef};

use super::outcome::BatchOutcome;
use super::rows::{RowSet, row_sets};
use crate::declaration::RowUnit;

/// Statuses of files whose content is not indexed in this run.
const WITHOUT_CONTENT: [&str; 3] = ["deleted", "skipped", "touched"];

/// Restores the values that the last run stored, if they are current. Returns the remaining rows of files whose content
/// is indexed in this run and whose language is in `languages`, in sets of at most `most` units. If `languages` is
/// empty, all languages are accepted.
///
/// # Errors
/// Returns an error if the stage's access was not created by [`Declaration`](crate::declaration::Declaration).
pub fn rows_to_process(
    batch: &BatchView<'_>,
    outcome: &mut BatchOutcome<'_>,
    languages: &[String],
    most: usize,
    cx: &StageContext<'_>,
) -> Result<Vec<RowSet>, StageError> {
    let has_content = files_to_process(batch, languages)?;
    let stored = restore(batch, outcome, cx)?;
    let file_of = |unit: usize| match outcome.unit() {
        RowUnit::File => unit,
        RowUnit::Chunk => batch.chunk_files()[unit] as usize,
    };
    let wanted = |unit: usize| has_content[file_of(unit)] && !stored.get(unit).copied().unwrap_or(false);
    Ok(row_sets(batch, outcome.unit(), most, wanted))
}

/// Restores the values that the last run stored if they are current. Returns for each unit whether its values were
/// restored. The result is empty if the stage cannot reuse stored values at all.
fn restore(
    batch: &BatchView<'_>,
    outcome: &mut BatchOutcome<'_>,
    cx: &StageContext<'_>,
) -> Result<Vec<bool>, StageError> {
    let declaration = outcome.declaration;
    let column = match declaration.unit {
        RowUnit::File => FILE_STORED,
        RowUnit::Chunk => CHUNK_STORED,
    };
    let is_restored = declaration.is_stored() && cx.is_current();
    let Some(stored) = batch.read_optional(column)?.filter(|_| is_restored) else {
        return Ok(Vec::new());
    };
    let done: Vec<bool> = stored.iter().map(|values| values.is_current(cx.stage())).collect();
    for (row, values) in stored.iter().enumerate().filter(|(row, _)| done[*row]) {
        for column in &declaration.written {
            outcome.restore(&column.name, row, values.get(column.short_name()).cloned());
        }
    }
    let reused = done.iter().filter(|is_done| **is_done).count();
    if reused > 0 {
        cx.count(&format!("{}.reused", cx.stage()), reused as u64);
    }
    Ok(done)
}

/// Returns for each file of the batch whether its content is indexed in this run and its language is in `languages`. If
/// `languages` is empty, all languages are accepted.
fn files_to_process(batch: &BatchView<'_>, languages: &[String]) -> Result<Vec<bool>, StageError> {
    let mut wanted = vec![true; batch.files()];
    if let Some(statuses) = batch.optional_values("file.status")? {
        let has_content = |status: Option<ValueRef<'_>>| match status {
            Some(ValueRef::String(status)) => !WITHOUT_CONTENT.contains(&&*status),
            _ => true,
        };
        wanted.iter_mut().zip(statuses.iter()).for_each(|(wanted, status)| *wanted &= has_content(status));
    }
    if let Some(names) = batch.optional_values("file.language")?.filter(|_| !languages.is_empty()) {
        let is_listed = |name: Option<ValueRef<'_>>| match name {
            Some(ValueRef::String(name)) => languages.iter().any(|language| *language == *name),
            _ => false,
        };
        wanted.iter_mut().zip(names.iter()).for_each(|(wanted, name)| *wanted &= is_listed(name));
    }
    Ok(wanted)
}
