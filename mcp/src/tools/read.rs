//! `read`: the text of a file, of lines, or of a chunk.

use aurora_live::LiveProject;
use aurora_project::{FileReport, Names, ProjectError, file_report};
use aurora_query::{FileState, Searcher};
use aurora_storage::Chunk;
use serde::Deserialize;

use crate::places::{Lines, path_and_lines};
use crate::tools::common::{ToolError, budget_after, notable_complexity, within_budget};

/// Maximum number of imports that are listed for a chunk.
const MAX_IMPORTS: usize = 12;

#[derive(Debug, Deserialize)]
pub(crate) struct Arguments {
    pub(super) place: String,
}

pub(super) fn answer(root: &LiveProject, place: &str, budget: usize) -> Result<String, ToolError> {
    let searcher = root.searcher()?;
    let snapshot = searcher.snapshot();
    if let Some((id, _)) = snapshot.chunk_by_key(place)?
        && let Some(chunk) = snapshot.whole_chunk(id)?
    {
        root.record([place].into_iter(), aurora_clock::now_seconds());
        return Ok(read_chunk(&chunk, budget));
    }
    read_file(&searcher, place, budget)
}

fn read_chunk(chunk: &Chunk, budget: usize) -> String {
    let place = format!("{}:{}-{} {}", chunk.path, chunk.line_start, chunk.line_end, chunk.qualified_name);
    let header = [Some(place), notable_complexity(&chunk.complexity), imports(chunk)];
    let header = header.into_iter().flatten().collect::<Vec<_>>().join("\n");
    let rest = |left: usize| format!("({left} further lines)\n");
    let room = budget_after(budget, [&*header, &*rest(chunk.text.lines().count())]);
    let (text, left) = within_budget(chunk.text.lines().map(str::to_owned), room);
    let rest = if left > 0 { rest(left) } else { String::new() };
    format!("{header}\n{text}{rest}")
}

/// Lists the imports of the file that a chunk uses. Returns `None` if the chunk uses no imports.
fn imports(chunk: &Chunk) -> Option<String> {
    let more = match chunk.imports.len().saturating_sub(MAX_IMPORTS) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let shown: Vec<&str> = chunk.imports.iter().take(MAX_IMPORTS).map(String::as_str).collect();
    (!shown.is_empty()).then(|| format!("imports {}{more}", shown.join(", ")))
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

#[cfg(test)]
mod tests {
    use aurora_storage::{ChunkType, Complexity};

    use super::*;

    fn chunk(decisions: u32, imports: usize) -> Chunk {
        Chunk {
            path: "a.py".to_owned(),
            qualified_name: "run".to_owned(),
            line_start: 3,
            line_end: 4,
            text: "def run():\n    pass".to_owned(),
            imports: (0..imports).map(|number| format!("m{number}")).collect(),
            complexity: Complexity {
                branches: decisions,
                loops: 1,
                score: (decisions + 1) as f32 / (decisions + 11) as f32,
            },
            ..Chunk::empty("code:a.py:run".to_owned(), ChunkType::Function)
        }
    }

    #[test]
    fn a_chunk_has_its_imports_and_its_complexity_if_it_is_notable() {
        let body = "def run():\n    pass\n";
        assert_eq!(read_chunk(&chunk(2, 0), 100), format!("a.py:3-4 run\n{body}"));
        let header = "a.py:3-4 run\ncomplexity 0.57 (12 branches, 1 loop)\nimports m0, m1";
        assert_eq!(read_chunk(&chunk(12, 2), 100), format!("{header}\n{body}"));
        let many = read_chunk(&chunk(0, 40), 100);
        assert!(many.contains("m10, m11 and 28 more\n") && !many.contains("m12"), "{many}");
    }
}
