//! Rows of a batch for which a stage has no result.

use std::sync::Arc;

use crate::column::Entity;

/// The reason for dropping a row if a stage that may drop rows has no result for it. Such a row is not kept, because
/// the stage might have dropped it.
pub const NO_RESULT: &str = "no result";

/// A row for which a stage has no result, because the stage failed on the row or did not process it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct MissingResult {
    /// Name of the stage.
    pub stage: String,
    /// Entity of the row. If the row is a file, the result is also missing for all chunks of the file.
    pub entity: Entity,
    /// Index of the row.
    pub row: u32,
    /// Reason of the failure; `None` if the stage did not process the row.
    pub reason: Option<Arc<str>>,
}

/// Updates the results of an entity after rows were dropped: renumbers the rows and removes the results of dropped
/// rows.
pub(crate) fn retain(results: &mut Vec<MissingResult>, entity: Entity, keep: &[bool]) {
    if results.is_empty() {
        return;
    }
    let mut next = 0;
    let moved: Vec<u32> = keep
        .iter()
        .map(|keep| {
            next += u32::from(*keep);
            next
        })
        .collect();
    results.retain_mut(|result| {
        if result.entity != entity {
            return true;
        }
        let row = result.row as usize;
        result.row = moved.get(row).map_or(0, |after| after.saturating_sub(1));
        keep.get(row).copied().unwrap_or(false)
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_keep_their_missing_results_when_others_are_dropped() {
        let missing = |entity, row| MissingResult { stage: "owner".to_owned(), entity, row, reason: None };
        let mut results = vec![missing(Entity::Chunk, 0), missing(Entity::Chunk, 2), missing(Entity::File, 2)];
        retain(&mut results, Entity::Chunk, &[false, true, true]);
        assert_eq!(results, [missing(Entity::Chunk, 1), missing(Entity::File, 2)]);
    }
}
