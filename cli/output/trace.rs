//! Prints the results of a dry run for every stage.

use std::fmt::Write as _;
use std::time::Duration;

use aurora_pipeline::Entity;
use aurora_stages::columns::DisplayColumn;
use aurora_stages::index::{ChunkRow, DroppedRow, DryRun, FailedRows, StageTrace};
use serde::Serialize;

use crate::output::{Painter, Role, sanitize, units, width};

/// Maximum number of lines of each kind in the output of a stage, unless the user has selected stages.
const MAX_ROWS: usize = 20;
/// Maximum width of a cell in columns, except for the last cell of a line.
const MAX_CELL_COLUMNS: usize = 48;
/// Width of the labels before the reports of a stage, such as `warning`, in columns.
const LABEL_COLUMNS: usize = 8;
/// Placeholder for a missing value.
const NONE: &str = "–";

/// The output of `--format json`.
#[derive(Serialize)]
pub(crate) struct TraceReport<'r> {
    path: &'r str,
    stages: Vec<&'r StageTrace>,
    error: Option<String>,
}

impl<'r> TraceReport<'r> {
    /// Returns the run with the stages that `only` names, or with all stages if `only` is empty.
    pub(crate) fn new(run: &'r DryRun, only: &'r [String]) -> Self {
        let error = run.error.as_ref().map(ToString::to_string);
        Self { path: &run.path, stages: visible_stages(run, only).collect(), error }
    }
}

/// Renders the run as text.
pub(crate) fn render(run: &DryRun, only: &[String], columns: Option<usize>, paint: Painter) -> String {
    let page = Page {
        width: columns.unwrap_or(usize::MAX),
        max_rows: if only.is_empty() { MAX_ROWS } else { usize::MAX },
        paint,
    };
    let mut text = format!("{}\n", paint.paint(Role::Path, &sanitize::line(&run.path)));
    let mut is_left_out = false;
    for stage in visible_stages(run, only) {
        // Later stages may receive a file that was left out, but without content, so their columns are not informative.
        let columns = if is_left_out { Vec::new() } else { page.columns(stage) };
        let reports = page.reports(stage, &run.path);
        if columns.is_empty() && reports.is_empty() && (is_left_out || !stage.has_file) {
            continue;
        }
        let _ = writeln!(text, "\n{}", page.head(stage));
        columns.iter().chain(&reports).for_each(|line| text.push_str(&format!("{line}\n")));
        is_left_out |= leaves_file_out(stage);
    }
    if is_left_out {
        text.push_str("\nThe file is not indexed\n");
    }
    text
}

/// Returns the stages that the user selected, and the stages that leave the file out, because the latter explain why
/// later stages receive nothing.
fn visible_stages<'r>(run: &'r DryRun, only: &'r [String]) -> impl Iterator<Item = &'r StageTrace> {
    run.stages.iter().filter(|stage| only.is_empty() || only.contains(&stage.stage) || leaves_file_out(stage))
}

fn leaves_file_out(stage: &StageTrace) -> bool {
    stage.dropped.iter().any(|row| row.chunk.is_none())
}

/// Layout of the output.
struct Page {
    /// Width of the terminal.
    width: usize,
    max_rows: usize,
    paint: Painter,
}

impl Page {
    /// Formats the name, type, number of chunks and time of a stage.
    fn head(&self, stage: &StageTrace) -> String {
        let name = self.paint.paint(Role::Heading, &sanitize::line(&stage.stage));
        let mut notes = Vec::new();
        notes.extend((stage.type_name != stage.stage).then(|| stage.type_name.clone()));
        let is_of_chunks = stage.columns.iter().any(|column| column.entity == Entity::Chunk);
        notes.extend(is_of_chunks.then(|| units::counted(stage.chunks.len() as u64, "chunk")));
        notes.push(time(stage.time));
        let notes = self.paint.paint(Role::Faint, &sanitize::line(&format!("({})", notes.join(", "))));
        format!("{name}  {notes}")
    }

    /// Formats the values that the stage has written.
    fn columns(&self, stage: &StageTrace) -> Vec<String> {
        let mut lines = self.file_lines(stage);
        lines.extend(self.chunk_table(stage));
        lines
    }

    /// Formats the rows that the stage has left out, and its reports.
    fn reports(&self, stage: &StageTrace, path: &str) -> Vec<String> {
        let failed = |failed: &FailedRows| format!("{} ({})", failed.reason, units::counted(failed.rows, "row"));
        let groups = [
            self.labelled(stage, Role::Warning, "left out", &stage.dropped, |row| dropped(row, path)),
            self.labelled(stage, Role::Error, "failed", &stage.failed, failed),
            self.labelled(stage, Role::Warning, "warning", &stage.warnings, String::clone),
            self.labelled(stage, Role::Faint, "log", &stage.log, String::clone),
        ];
        groups.concat()
    }

    /// Formats the columns of the file. A value may have several lines; the name precedes the first one.
    fn file_lines(&self, stage: &StageTrace) -> Vec<String> {
        let columns: Vec<&DisplayColumn> = informative_columns(stage, Entity::File).collect();
        let widest = columns.iter().map(|column| width::measure(&column.name)).max().unwrap_or(0);
        let mut lines = Vec::new();
        for column in columns {
            let values = column.values.first().map(|shown| shown.lines.as_slice()).unwrap_or_default();
            let none = [NONE.to_owned()];
            let values = if values.is_empty() { &none } else { values };
            let rest = values.len().saturating_sub(self.max_rows);
            for (number, value) in values.iter().take(self.max_rows).enumerate() {
                let name = if number == 0 { &column.name } else { "" };
                lines.push(self.line(&[(width::pad(name, widest), Some(Role::Faint)), (value.clone(), None)]));
            }
            lines.extend(self.more(rest, stage));
        }
        lines
    }

    /// Formats the columns of chunks as a table.
    fn chunk_table(&self, stage: &StageTrace) -> Vec<String> {
        let columns: Vec<&DisplayColumn> = informative_columns(stage, Entity::Chunk).collect();
        if columns.is_empty() || stage.chunks.is_empty() {
            return Vec::new();
        }
        let mut table = vec![["type", "name", "lines"].map(str::to_owned).to_vec()];
        table[0].extend(columns.iter().map(|column| column.name.trim_start_matches("chunk.").to_owned()));
        for (row, chunk) in stage.chunks.iter().enumerate().take(self.max_rows) {
            let value = |column: &&DisplayColumn| match column.values.get(row) {
                Some(shown) if !shown.lines.is_empty() => shown.lines.join("; "),
                _ => NONE.to_owned(),
            };
            let mut cells = vec![chunk.kind.clone(), chunk.name.clone(), lines_of(chunk)];
            cells.extend(columns.iter().map(value));
            table.push(cells);
        }
        let last = table[0].len() - 1;
        let safe = |(at, cell): (usize, &String)| {
            let cell = sanitize::line(cell);
            if at == last { cell } else { width::elide_middle(&cell, MAX_CELL_COLUMNS) }
        };
        let table: Vec<Vec<String>> = table.iter().map(|cells| cells.iter().enumerate().map(safe).collect()).collect();
        let widest = |at: usize| table.iter().map(|cells| width::measure(&cells[at])).max().unwrap_or(0);
        let widths: Vec<usize> = (0..last).map(widest).chain([0]).collect();
        let line = |(number, cells): (usize, &Vec<String>)| {
            let role = (number == 0).then_some(Role::Faint);
            let cells = cells.iter().zip(&widths).map(|(cell, widest)| (width::pad(cell, *widest), role));
            self.line(&cells.collect::<Vec<_>>())
        };
        let mut lines: Vec<String> = table.iter().enumerate().map(line).collect();
        lines.extend(self.more(stage.chunks.len().saturating_sub(self.max_rows), stage));
        lines
    }

    /// Formats the number of rows that are not shown.
    fn more(&self, rest: usize, stage: &StageTrace) -> Option<String> {
        let words = format!("… and {} more; `--only {}` shows all", units::count(rest as u64), stage.stage);
        (rest > 0).then(|| self.line(&[(words, Some(Role::Faint))]))
    }

    /// Formats each item as a line that begins with `label`.
    fn labelled<T>(
        &self,
        stage: &StageTrace,
        role: Role,
        label: &str,
        items: &[T],
        text: impl Fn(&T) -> String,
    ) -> Vec<String> {
        let line = |item| self.line(&[(width::pad(label, LABEL_COLUMNS), Some(role)), (text(item), None)]);
        let lines = items.iter().take(self.max_rows).map(line);
        lines.chain(self.more(items.len().saturating_sub(self.max_rows), stage)).collect()
    }

    /// Joins cells into an indented line, cut to the width of the terminal.
    fn line(&self, cells: &[(String, Option<Role>)]) -> String {
        let mut line = String::new();
        let mut room = self.width;
        for (cell, role) in cells {
            let cell = width::elide_end(&sanitize::line(cell), room.saturating_sub(2));
            room = room.saturating_sub(2 + width::measure(&cell));
            line.push_str("  ");
            line.push_str(&role.map_or_else(|| cell.clone(), |role| self.paint.paint(role, &cell)));
        }
        line.trim_end().to_owned()
    }
}

/// Returns the informative columns of the file or of the chunks.
fn informative_columns(stage: &StageTrace, entity: Entity) -> impl Iterator<Item = &DisplayColumn> {
    stage.columns.iter().filter(move |column| column.entity == entity && column.is_informative)
}

fn dropped(row: &DroppedRow, path: &str) -> String {
    let what = match (&row.chunk, &row.path) {
        (Some(chunk), _) => format!("{} {}, lines {}", chunk.kind, chunk.name, lines_of(chunk)),
        (None, Some(other)) if other != path => other.clone(),
        _ => "the file".to_owned(),
    };
    row.reason.as_ref().map_or_else(|| what.clone(), |reason| format!("{what}: {reason}"))
}

fn lines_of(chunk: &ChunkRow) -> String {
    let ChunkRow { line_start, line_end, .. } = chunk;
    if line_start == line_end { line_start.to_string() } else { format!("{line_start}–{line_end}") }
}

/// Formats a duration, with a decimal below ten milliseconds.
fn time(time: Duration) -> String {
    let milliseconds = time.as_secs_f64() * 1e3;
    if milliseconds < 9.95 { format!("{milliseconds:.1} ms") } else { units::duration(time) }
}
