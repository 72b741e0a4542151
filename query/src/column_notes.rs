//! Notes about missing or outdated results of custom stages, for the answers that depend on these results.

use aurora_storage::{CHUNK_STAGE_PREFIX, ColumnDeclaration, Manifest};

use crate::filter::FilterSpec;
use crate::present::Hit;
use crate::rank::Boosts;
use crate::searcher::Searcher;

/// Returns notes about the columns that an answer depends on: the columns in the filter, the columns that affect the
/// ranking (if the answer is ranked), and the columns with a stale or missing value in a hit.
pub(crate) fn column_notes(searchers: &[&Searcher], filter: &FilterSpec, is_ranked: bool, hits: &[Hit]) -> Vec<String> {
    let mut notes = Vec::new();
    for (at, searcher) in searchers.iter().enumerate() {
        let manifest = searcher.snapshot().manifest();
        let boosts = &searcher.boosts;
        for column in &manifest.columns {
            let is_used = filter.names(&column.name) || is_ranked && affects_ranking(column, boosts);
            let mut of_root = hits.iter().filter(|hit| hit.root_place == at);
            if !is_used && !of_root.any(|hit| shows_defect(hit, column, searcher)) {
                continue;
            }
            let place = searcher.display_name(searchers).map_or_else(String::new, |name| format!(" of {name}"));
            notes.extend(note(column, searcher).map(|state| format!("Column `{}`{place} {state}", column.name)));
        }
    }
    notes
}

/// Returns notes about stages that failed or were not run, so that chunks, documents or vectors may be missing. Missing
/// vectors are reported only if the ranking uses vectors (`uses_vectors`).
pub(crate) fn stage_notes(searchers: &[&Searcher], uses_vectors: bool) -> Vec<String> {
    let mut notes = Vec::new();
    for searcher in searchers {
        let manifest = searcher.snapshot().manifest();
        let place = searcher.display_name(searchers).map_or_else(String::new, |name| format!(" of {name}"));
        for rows in &manifest.unfinished.rows {
            let has_columns = manifest.columns.iter().any(|column| column.stage == rows.stage);
            let missing = match makes_chunks(manifest, &rows.stage) {
                Some(true) => "chunks",
                None if !has_columns => "chunks",
                Some(false) if !has_columns && uses_vectors => "vectors",
                _ => continue,
            };
            let states = [("failed on", rows.failed), ("was not run on", rows.waiting)];
            let states = states.into_iter().filter(|(_, rows)| *rows > 0);
            let states: Vec<String> = states.map(|(state, rows)| format!("{state} {}", format_rows(rows))).collect();
            let (stage, states) = (&rows.stage, states.join(" and "));
            notes.push(format!("Stage `{stage}`{place} {states}, so {missing} may be missing"));
        }
        let mut failed: Vec<&str> = manifest.unfinished.failures.iter().map(|failure| &*failure.stage).collect();
        failed.sort_unstable();
        failed.dedup();
        notes.extend(
            failed.iter().map(|stage| format!("Stage `{stage}`{place} has failed, so documents may be missing")),
        );
    }
    notes
}

/// Returns whether chunks depend on a stage; `None` if the index does not record this.
fn makes_chunks(manifest: &Manifest, stage: &str) -> Option<bool> {
    let recorded = manifest.fingerprints.iter().find(|(name, _)| name == stage);
    recorded.map(|(_, state)| state.starts_with(CHUNK_STAGE_PREFIX))
}

fn format_rows(rows: u64) -> String {
    if rows == 1 { "1 row".to_owned() } else { format!("{rows} rows") }
}

/// Returns whether a hit shows a stale value of a column, or lacks a value while some rows have no result yet.
fn shows_defect(hit: &Hit, column: &ColumnDeclaration, searcher: &Searcher) -> bool {
    let unfinished = &searcher.snapshot().manifest().unfinished;
    if hit.metadata.iter().any(|(name, _)| *name == column.name) {
        return with_sources(column, searcher)
            .any(|column| searcher.is_refused(column) || searcher.has_changed(&column.stage));
    }
    let rows = |column: &ColumnDeclaration| unfinished.for_stage(&column.stage);
    with_sources(column, searcher).map(rows).any(|rows| rows.failed + rows.waiting > 0)
}

/// Yields a column, followed by the columns that it is computed from.
fn with_sources<'r>(
    column: &'r ColumnDeclaration,
    searcher: &'r Searcher,
) -> impl Iterator<Item = &'r ColumnDeclaration> {
    let manifest = searcher.snapshot().manifest();
    let sources = manifest.unfinished.sources(&column.name);
    std::iter::once(column).chain(manifest.columns.iter().filter(move |source| sources.contains(&source.name)))
}

/// Returns whether the values of a column affect the ranking: as numbers, as terms, or as a part of the embedded text.
fn affects_ranking(column: &ColumnDeclaration, boosts: &Boosts) -> bool {
    column.terms.is_some() || column.embed || boosts.has(&column.name)
}

/// Describes the defects of a column and of the columns that it is computed from. Returns `None` if all these columns
/// are complete and up to date.
fn note(column: &ColumnDeclaration, searcher: &Searcher) -> Option<String> {
    let mut states: Vec<String> = Vec::new();
    for state in with_sources(column, searcher).flat_map(|column| own_states(column, searcher)) {
        if !states.contains(&state) {
            states.push(state);
        }
    }
    (!states.is_empty()).then(|| states.join(", and "))
}

/// Describes the defects of a column, ignoring the columns that it is computed from.
fn own_states(column: &ColumnDeclaration, searcher: &Searcher) -> Vec<String> {
    let unfinished = &searcher.snapshot().manifest().unfinished;
    let values = searcher.snapshot().chunks_with_column(&column.name).map_or(0, |chunks| chunks.len());
    let missing = searcher.snapshot().manifest().chunk_count.saturating_sub(values);
    let (rows, stage) = (unfinished.for_stage(&column.stage), &column.stage);
    let is_refused = searcher.is_refused(column);
    // A row for which the stage was not run does not count if it still has a value from an earlier run.
    let waiting = rows.waiting.min(missing);
    let mut states = Vec::new();
    if is_refused && values > 0 {
        states.push(format!("has stale values, because the program of stage `{stage}` is not allowed"));
    } else if searcher.has_changed(stage) && (values > 0 || waiting == 0) {
        states.push(format!("has stale values, because the program of stage `{stage}`, or a file that it depends on, has changed since the last index run"));
    }
    if rows.failed > 0 {
        states.push(format!("lacks values, because stage `{stage}` failed on {}", format_rows(rows.failed)));
    }
    if waiting > 0 {
        let reason = if is_refused && values == 0 { ", and its program is not allowed" } else { "" };
        states
            .push(format!("is not complete, because stage `{stage}` was not run on {}{reason}", format_rows(waiting)));
    }
    states
}
