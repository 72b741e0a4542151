//! `history`: the commits that the lines of a file come from.

use std::collections::BTreeMap;

use aurora_live::LiveProject;
use aurora_project::{AttributedRun, AttributionReport, Names, attribution};

use crate::places::{Lines, path_and_lines};
use crate::tools::common::{ToolError, budget_after, within_budget};

/// Number of digits of a commit id in answers.
const DIGITS: usize = 12;

pub(super) fn answer(root: &LiveProject, place: &str, budget: usize) -> Result<String, ToolError> {
    let searcher = root.searcher()?;
    let (path, lines) = match Names::for_searcher(&searcher).find_file(place)? {
        Some(_) => (place, None),
        None => path_and_lines(place),
    };
    let lines = lines.unwrap_or(Lines::ALL);
    let file = Names::for_searcher(&searcher).file(path)?;
    let report = AttributionReport::new(&file.path, &attribution(searcher.snapshot(), &file)?);
    let runs: Vec<&AttributedRun> = report.runs.iter().filter(|run| touches(run, lines)).collect();
    let by_run = runs.iter().map(|run| line_of(run, lines));
    let head = format!("{}\n{}", report.file, authors(&runs, lines));
    let rest = |left: usize| format!("({left} further runs of lines; ask for fewer lines)\n");
    let (shown, left) = within_budget(by_run, budget_after(budget, [&*head, &*rest(runs.len())]));
    let rest = if left > 0 { rest(left) } else { String::new() };
    Ok(format!("{head}{shown}{rest}"))
}

fn touches(run: &AttributedRun, lines: Lines) -> bool {
    run.line <= lines.last && run.line + run.lines > lines.first
}

/// Returns the first and last line of the part of a run that is within `lines`.
fn ends(run: &AttributedRun, lines: Lines) -> (u32, u32) {
    (run.line.max(lines.first), (run.line + run.lines - 1).min(lines.last))
}

/// Formats a run, such as `12-40  1a2b3c  2025-12-15  Ada`.
fn line_of(run: &AttributedRun, lines: Lines) -> String {
    let (first, last) = ends(run, lines);
    match (&run.commit, &run.author, &run.time) {
        (Some(commit), author, time) => {
            let commit = commit.get(..DIGITS).unwrap_or(commit);
            let day = time.as_deref().and_then(|time| time.get(..10)).unwrap_or("-");
            format!("{first}-{last}  {commit}  {day}  {}", author.as_deref().unwrap_or("-"))
        }
        _ => format!("{first}-{last}  not committed"),
    }
}

/// Lists the authors with their numbers of lines, most lines first.
fn authors(runs: &[&AttributedRun], lines: Lines) -> String {
    let mut counts: BTreeMap<&str, u32> = BTreeMap::new();
    for run in runs {
        let (first, last) = ends(run, lines);
        *counts.entry(run.author.as_deref().unwrap_or("not committed")).or_default() += last - first + 1;
    }
    let mut counts: Vec<(&str, u32)> = counts.into_iter().collect();
    counts.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(b.0)));
    let listed: Vec<String> = counts.iter().take(5).map(|(author, lines)| format!("{author} {lines}")).collect();
    if listed.is_empty() { String::new() } else { format!("lines by author: {}\n", listed.join(", ")) }
}
