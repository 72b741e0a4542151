//! `graph`: the relations of a definition.

use aurora_live::LiveProject;
use aurora_project::{Names, RelatedChunk, RelationReport, definition, relations};
use aurora_query::{MAX_TREE_DEPTH, MIN_CONFIDENCE, Relation, RelationIndex, TreeOptions};
use serde::Deserialize;

use crate::tools::common::{ToolError, budget_after, within_budget};

/// Last line of an answer that does not show all relations.
const MORE: &str = "(there are more; use a smaller depth or a larger budget)\n";

#[derive(Debug, Deserialize)]
pub(crate) struct Arguments {
    pub(super) name: String,
    #[serde(default = "callers")]
    relation: Relation,
    depth: Option<u32>,
}

fn callers() -> Relation {
    Relation::Callers
}

pub(super) fn answer(
    arguments: &Arguments,
    root: &LiveProject,
    name: &str,
    budget: usize,
) -> Result<String, ToolError> {
    let searcher = root.searcher()?;
    let snapshot = searcher.snapshot();
    let index = RelationIndex::new(snapshot);
    let named = definition(&Names::for_searcher(&searcher), &index, name)?;
    let options = TreeOptions {
        relation: arguments.relation,
        depth: arguments.depth.unwrap_or(1).clamp(1, MAX_TREE_DEPTH),
        min_confidence: MIN_CONFIDENCE,
    };
    let tree = index.tree(&named, &options).map_err(aurora_project::ProjectError::from)?;
    Ok(format_report(&relations(snapshot, &tree, &options)?, budget))
}

fn format_report(report: &RelationReport, budget: usize) -> String {
    let mut lines = vec![format!("{} of {}", report.relation, line_of(&report.root))];
    lines.extend(report.declarations.iter().map(|place| format!("declared in {}:{}", place.file, place.line_start)));
    let head = lines.len();
    push_children(report.root.children.as_deref().unwrap_or_default(), 1, &mut lines);
    if lines.len() == head {
        lines.push("  none found".to_owned());
    }
    if !report.external.is_empty() {
        lines.push(format!("outside of the repository: {}", report.external.join(", ")));
    }
    if report.left_out > 0 {
        lines.push(format!("{} unlikely relations omitted", report.left_out));
    }
    let (mut out, left) = within_budget(lines, budget_after(budget, [MORE]));
    if left > 0 || !report.complete {
        out.push_str(MORE);
    }
    out
}

fn push_children(children: &[RelatedChunk], depth: usize, lines: &mut Vec<String>) {
    for child in children {
        let certainty =
            child.confidence.map(|confidence| format!(" ({}, {confidence})", child.reason.unwrap_or_default()));
        let end = child.end.map(|end| format!(" [{end}]")).unwrap_or_default();
        lines.push(format!("{}{}{}{end}", "  ".repeat(depth), line_of(child), certainty.unwrap_or_default()));
        push_children(child.children.as_deref().unwrap_or_default(), depth + 1, lines);
    }
}

fn line_of(chunk: &RelatedChunk) -> String {
    format!("{} {} {}:{}-{}", chunk.chunk_type, chunk.name, chunk.file, chunk.line_start, chunk.line_end)
}
