//! Notes about custom columns whose values are out of date or incomplete, for answers that depend on them.

use aurora_storage::ColumnDeclaration;

use crate::filter::FilterSpec;
use crate::rank::Boosts;
use crate::retriever::{Retriever, Root};

/// The notes about the columns by which an answer is filtered, and ranked if it is.
pub(crate) fn column_notes(roots: &[Root<'_>], filter: &FilterSpec, is_ranked: bool) -> Vec<String> {
    let mut notes = Vec::new();
    for root in roots {
        let manifest = root.retriever.snapshot().manifest();
        let boosts = root.retriever.boosts();
        let is_used = |column: &&ColumnDeclaration| filter.names(&column.name) || is_ranked && ranks(column, boosts);
        for column in manifest.columns.iter().filter(is_used) {
            let place = root.shown_name(roots).map_or_else(String::new, |name| format!(" of {name}"));
            notes.extend(note(column, root.retriever).map(|state| format!("Column `{}`{place} {state}", column.name)));
        }
    }
    notes
}

/// Whether the values of a column change ranks: as numbers, as terms, or as a part of the embedded text.
fn ranks(column: &ColumnDeclaration, boosts: &Boosts) -> bool {
    column.terms.is_some() || column.embed || boosts.has(&column.name)
}

/// The state of a column in words; `None` if every row has a result of the stage's present program.
fn note(column: &ColumnDeclaration, retriever: &Retriever) -> Option<String> {
    let unfinished = &retriever.snapshot().manifest().unfinished;
    let (rows, stage) = (unfinished.for_stage(&column.stage), &column.stage);
    let count = |rows: u64| if rows == 1 { "1 row".to_owned() } else { format!("{rows} rows") };
    let mut states = Vec::new();
    if unfinished.is_stale(&column.name) {
        states.push(format!("has stale values, because the program of stage `{stage}` is not allowed"));
    } else if retriever.has_changed(stage) {
        states.push(format!("has stale values, because the program of stage `{stage}`, or a file that it depends on, has changed since the last index run"));
    }
    if rows.failed > 0 {
        states.push(format!("lacks values, because stage `{stage}` failed on {}", count(rows.failed)));
    }
    if rows.waiting > 0 {
        states.push(format!("is not complete, because stage `{stage}` was not run on {}", count(rows.waiting)));
    }
    (!states.is_empty()).then(|| states.join(", and "))
}
