//! `status`: the contents of the index, and whether it is up to date.

use aurora_live::LiveProject;
use aurora_project::{ContentsReport, contents};

use crate::first_answer::progress_text;
use crate::tools::common::ToolError;

/// Maximum number of languages that are listed.
const MAX_LANGUAGES: usize = 12;

pub(super) fn answer(root: &LiveProject) -> Result<String, ToolError> {
    let project = root.project();
    let mut lines = vec![format!("root {}: {}", root.name(), project.root().display())];
    for (kind, names) in [("groups", &root.labels().groups), ("owners", &root.labels().owners)] {
        if !names.is_empty() {
            lines.push(format!("{kind}: {}", names.iter().map(String::as_str).collect::<Vec<_>>().join(", ")));
        }
    }
    if !root.is_missing() {
        let searcher = root.searcher()?;
        lines.extend(contents_lines(&contents(project, searcher.snapshot())?));
    }
    let run = root.status().borrow().clone();
    if run.is_running() {
        lines.push(format!("an index run is in progress: {}", progress_text(&run)));
    } else if let Some(error) = run.error {
        lines.push(format!("the last index run failed: {error}"));
    }
    Ok(lines.join("\n"))
}

fn contents_lines(report: &ContentsReport) -> Vec<String> {
    let shares: Vec<String> = report
        .languages
        .iter()
        .take(MAX_LANGUAGES)
        .map(|language| format!("{} {}", language.name, language.chunks))
        .collect();
    let whole = if report.complete { "complete" } else { "not complete yet" };
    let mut lines = vec![
        format!(
            "{} files, {} chunks, generation {} of {}, {whole}",
            report.files, report.chunks, report.generation, report.updated
        ),
        format!("chunks by language: {}", shares.join(", ")),
        format!("commit: {}", report.head_commit.as_deref().unwrap_or("none")),
    ];
    let states = report.column_states.iter();
    lines.extend(states.filter_map(|column| Some(format!("column {}: {}", column.name, column.shortfall()?))));
    lines
}
