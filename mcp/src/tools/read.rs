//! `read`: the text of a file, of lines, or of a chunk.

use aurora_live::LiveProject;
use aurora_project::{FileReport, Names, ProjectError, file_report};
use aurora_query::{FileState, Searcher};
use aurora_storage::Chunk;
use serde::Deserialize;

use crate::places::{Lines, path_and_lines};
use crate::tools::common::{ToolError, budget_after, within_budget};

#[derive(Debug, Deserialize)]
pub(crate) struct Arguments {
    pub(super) place: String,
}

pub(super) fn answer(root: &LiveProject, place: &str, budget: usize) -> Result<String, ToolError> {
    let searcher = root.searcher()?;
    let snapshot = searcher.snapshot();
    if let Some((id, _)) = snapshot.chunk_by_key(place)?
        && let Some(chunk) = snapshot.chunk_with_text(id)?
    {
        root.record([place].into_iter(), aurora_clock::now_seconds());
        return Ok(read_chunk(&chunk, budget));
    }
    read_file(&searcher, place, budget)
}

fn read_chunk(chunk: &Chunk, budget: usize) -> String {
    let header = format!("{}:{}-{} {}", chunk.path, chunk.line_start, chunk.line_end, chunk.qualified_name);
    let rest = |left: usize| format!("({left} further lines)\n");
    let room = budget_after(budget, [&*header, &*rest(chunk.text.lines().count())]);
    let (text, left) = within_budget(chunk.text.lines().map(str::to_owned), room);
    let rest = if left > 0 { rest(left) } else { String::new() };
    format!("{header}\n{text}{rest}")
}

fn read_file(searcher: &Searcher, place: &str, budget: usize) -> Result<String, ToolError> {
    // The name of a file may look like a path with a range of lines.
    let (path, lines) = match Names::for_searcher(searcher).find_file(place)? {
        Some(_) => (place, None),
        None => path_and_lines(place),
    };
    let file = Names::for_searcher(searcher).file(path)?;
    let report = file_report(searcher, &file)?;
    let text = match &report {
        FileReport { skipped: Some(reason), .. } => {
            return Ok(format!("{} is not indexed: {reason}.", report.file));
        }
        FileReport { content: Some(text), .. } => text,
        _ => return Err(ProjectError::UnknownFile { path: path.to_owned() }.into()),
    };
    let lines = lines.unwrap_or(Lines::ALL);
    let total = text.lines().count();
    let numbered = (1u32..).zip(text.lines()).filter(|(number, _)| lines.contains(*number));
    let width = total.to_string().len();
    let state = match report.file_state {
        FileState::Changed => ", changed since it was indexed",
        _ => "",
    };
    let first = lines.first as usize;
    let header = |last: usize| format!("{}:{first}-{last} of {total} lines{state}", report.file);
    let rest = |left: usize, next: usize| format!("({left} further lines: read {}:{next}-)\n", report.file);
    // Reserve room for the header and the last line with the largest numbers that they can contain.
    let room = budget_after(budget, [&*header(total), &*rest(total, total)]);
    let (shown, left) = within_budget(numbered.map(|(number, line)| format!("{number:>width$}  {line}")), room);
    if shown.is_empty() {
        return match left {
            0 => Err(ToolError::Arguments(format!("{} has {total} lines", report.file))),
            _ => Ok(rest(left, first)),
        };
    }
    let last = first + shown.lines().count() - 1;
    let rest = if left > 0 { rest(left, last + 1) } else { String::new() };
    Ok(format!("{}\n{shown}{rest}", header(last)))
}
