//! `graph`: the relations of definitions and files.

use aurora_live::LiveProject;
use aurora_project::{
    AffectedChunk, ImpactReport, ImportReport, Names, ProjectError, RelatedChunk, RelationReport, UnusedReport,
    definition, impact_of, impact_of_changes, imported_by, imports, relations, source_changes, unused,
};
use aurora_query::{
    DEFAULT_IMPACT_DEPTH, ImpactOptions, MAX_TREE_DEPTH, MIN_CONFIDENCE, MIN_IMPACT_CONFIDENCE, MIN_UNUSED_CONFIDENCE,
    Relation, RelationIndex, TreeOptions, UnusedOptions,
};
use serde::Deserialize;

use crate::tools::common::{ToolError, budget_after, within_budget};

/// Last line of an answer that does not show all relations.
const MORE: &str = "(there are more; use a smaller depth or a larger budget)\n";
/// Prefix of a range of revisions, in place of a name.
const DIFF: &str = "diff:";

#[derive(Debug, Deserialize)]
pub(crate) struct Arguments {
    #[serde(default)]
    pub(super) name: String,
    #[serde(default)]
    relation: GraphRelation,
    depth: Option<u32>,
}

impl Arguments {
    /// Returns an error if the relation needs a name.
    pub(super) fn check(&self) -> Result<(), ToolError> {
        match self.name.is_empty() && self.relation != GraphRelation::Unused {
            true => Err(ToolError::Arguments("missing field `name`".to_owned())),
            false => Ok(()),
        }
    }
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum GraphRelation {
    #[default]
    Callers,
    Callees,
    Implementers,
    Impact,
    Unused,
    Imports,
    ImportedBy,
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
    let names = Names::for_searcher(&searcher);
    let depth = |otherwise: u32| arguments.depth.unwrap_or(otherwise).clamp(1, MAX_TREE_DEPTH);
    let relation = match arguments.relation {
        GraphRelation::Callers => Relation::Callers,
        GraphRelation::Callees => Relation::Callees,
        GraphRelation::Implementers => Relation::Implementers,
        GraphRelation::Impact => {
            let options = ImpactOptions { depth: depth(DEFAULT_IMPACT_DEPTH), min_confidence: MIN_IMPACT_CONFIDENCE };
            let report = match name.strip_prefix(DIFF) {
                Some(range) => impact_of_changes(snapshot, &index, source_changes(&names, range)?, &options)?,
                None => impact_of(snapshot, &index, &definition(&names, &index, name)?, &options)?,
            };
            return Ok(format_impact(&report, budget));
        }
        GraphRelation::Unused => {
            let path = Some(name.to_owned()).filter(|name| !name.is_empty());
            let options = UnusedOptions { min_confidence: MIN_UNUSED_CONFIDENCE, language: None, path };
            return Ok(format_unused(&unused(snapshot, &index, &options)?, budget));
        }
        GraphRelation::Imports => return Ok(format_imports(&imports(&names, &index, name)?, budget)),
        GraphRelation::ImportedBy => return Ok(format_imports(&imported_by(&names, &index, name)?, budget)),
    };
    let named = definition(&names, &index, name)?;
    let options = TreeOptions { relation, depth: depth(1), min_confidence: MIN_CONFIDENCE };
    let tree = index.tree(&named, &options).map_err(ProjectError::from)?;
    Ok(format_report(&relations(snapshot, &tree, &options)?, budget))
}

fn format_impact(report: &ImpactReport, budget: usize) -> String {
    let mut lines: Vec<String> = report
        .changed
        .iter()
        .map(|changed| format!("{} {} {}:{}", changed.change, changed.name, changed.file, changed.line_start))
        .collect();
    if report.changed.is_empty() {
        lines.push("no definition has changed".to_owned());
    }
    if !report.test_files.is_empty() {
        lines.push(format!("test files: {}", report.test_files.join(", ")));
    }
    for (title, list) in [("affected", &report.affected), ("affected tests", &report.tests)] {
        lines.push(format!("{title}: {}", list.len()));
        lines.extend(list.iter().map(affected_line));
    }
    if report.left_out > 0 {
        lines.push(format!("{} unlikely relations omitted", report.left_out));
    }
    finish(lines, report.complete, budget)
}

fn affected_line(one: &AffectedChunk) -> String {
    let steps: Vec<String> = one.chain.iter().map(|step| format!("{} {}", step.relation, step.name)).collect();
    format!("  {} ({}; {})", line_of(&one.chunk), one.chunk.confidence.unwrap_or_default(), steps.join(", "))
}

fn format_unused(report: &UnusedReport, budget: usize) -> String {
    let mut lines = vec![format!("{} of {} definitions are unused", report.unused.len(), report.examined)];
    lines.extend(report.unused.iter().map(|one| format!("  {}{}", line_of(one), certainty(one))));
    if report.left_out > 0 {
        lines.push(format!("{} unlikely or exported definitions omitted", report.left_out));
    }
    if report.not_indexed > 0 {
        lines.push(format!("source files that are not indexed, so their uses are unknown: {}", report.not_indexed));
    }
    finish(lines, report.complete || report.not_indexed > 0, budget)
}

fn format_imports(report: &ImportReport, budget: usize) -> String {
    let mut lines = vec![format!("{} of {}", report.relation, report.files.join(", "))];
    for importing in &report.importing {
        lines.push(importing.file.clone());
        for import in &importing.imports {
            let target = match (import.external, import.definitions.as_slice()) {
                (true, _) => "external".to_owned(),
                (false, []) => import.files.join(", "),
                (false, found) => found.iter().map(line_of).collect::<Vec<_>>().join(", "),
            };
            lines.push(format!("  {} -> {target}", import.path));
        }
    }
    if report.importing.iter().all(|importing| importing.imports.is_empty()) {
        lines.push("  none found".to_owned());
    }
    finish(lines, report.complete, budget)
}

/// Joins as many lines as fit the budget.
fn finish(lines: Vec<String>, is_complete: bool, budget: usize) -> String {
    let (mut out, left) = within_budget(lines, budget_after(budget, [MORE]));
    if left > 0 || !is_complete {
        out.push_str(MORE);
    }
    out
}

fn certainty(chunk: &RelatedChunk) -> String {
    let confidence =
        chunk.confidence.map(|confidence| format!(" ({}, {confidence})", chunk.reason.unwrap_or_default()));
    confidence.unwrap_or_default()
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
    finish(lines, report.complete, budget)
}

fn push_children(children: &[RelatedChunk], depth: usize, lines: &mut Vec<String>) {
    for child in children {
        let end = child.end.map(|end| format!(" [{end}]")).unwrap_or_default();
        lines.push(format!("{}{}{}{end}", "  ".repeat(depth), line_of(child), certainty(child)));
        push_children(child.children.as_deref().unwrap_or_default(), depth + 1, lines);
    }
}

fn line_of(chunk: &RelatedChunk) -> String {
    format!("{} {} {}:{}-{}", chunk.chunk_type, chunk.name, chunk.file, chunk.line_start, chunk.line_end)
}
