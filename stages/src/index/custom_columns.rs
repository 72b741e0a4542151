//! The custom columns of a plan, in the form in which the index declares them.

use std::collections::{BTreeMap, BTreeSet};

use aurora_pipeline::{CellType, ColumnSpec, Diagnostic, Diagnostics, DynamicType, Plan, PlannedStage, code};
use aurora_storage::{BUILT_IN_METADATA, ColumnDeclaration, ColumnKind};

/// Returns the custom columns that the stages of a plan write, sorted by name.
///
/// # Errors
/// Fails if a column has a type that only built-in columns have, or if searches could not distinguish the column from
/// another column. Reports all such columns.
pub fn declarations(plan: &Plan) -> Result<Vec<ColumnDeclaration>, Diagnostics> {
    declarations_of(plan.stages())
}

/// Like [`declarations`], for stages in any order.
pub(super) fn declarations_of(stages: &[PlannedStage]) -> Result<Vec<ColumnDeclaration>, Diagnostics> {
    let mut columns: Vec<ColumnDeclaration> = Vec::new();
    let mut full_names = Vec::new();
    let mut found = Diagnostics::default();
    for stage in stages {
        for column in stage.access().written() {
            let CellType::Dynamic(cell) = column.cell() else { continue };
            let name = column.short_name();
            let Some(kind) = kind_of(cell) else {
                let message =
                    format!("column `{}` has the type `{cell}`, which only built-in columns have", column.name());
                found.push(refusal(
                    stage,
                    message,
                    "vectors are written to `chunk.embedding`, definitions to `file.definitions`",
                ));
                continue;
            };
            if BUILT_IN_METADATA.contains(&name) {
                let message =
                    format!("stage `{}` writes column `{name}`, which is built-in metadata of documents", stage.name());
                found.push(refusal(stage, message, "give the column another name"));
            } else if let Some(at) = columns.iter().position(|known| known.name == name) {
                let other = &columns[at];
                // If a stage declares a column twice, the check of the stage reports it.
                if full_names[at] == column.name() && other.stage == stage.name() {
                    continue;
                }
                // A stage must not change the values of another stage. When stored values are restored, the
                // second stage would receive its own values as input.
                let message = format!(
                    "stage `{}` writes column `{}`, and `{}` writes one that searches know by the same name",
                    stage.name(),
                    column.name(),
                    other.stage
                );
                let refusal = found.push(refusal(stage, message, "give the column another name"));
                if full_names[at] == column.name() {
                    refusal.code = code::UNORDERED_WRITERS;
                }
            } else {
                full_names.push(column.name().to_owned());
                let uses = column.uses();
                columns.push(ColumnDeclaration {
                    name: name.to_owned(),
                    stage: stage.name().to_owned(),
                    kind,
                    filter: uses.filter,
                    terms: uses.terms,
                    embed: uses.embed,
                    boost: uses.boost,
                });
            }
        }
    }
    columns.sort_by(|a, b| a.name.cmp(&b.name));
    if found.has_errors() { Err(found) } else { Ok(columns) }
}

/// Returns the custom columns that are computed from other custom columns, each with all direct and indirect source
/// columns. Also includes the columns of stages that are not run.
pub(super) fn sources(plan: &Plan) -> BTreeMap<String, Vec<String>> {
    let custom = |stage: &PlannedStage| -> BTreeSet<String> {
        let is_custom =
            |column: &&ColumnSpec| matches!(column.cell(), CellType::Dynamic(cell) if kind_of(cell).is_some());
        stage.access().written().filter(is_custom).map(|column| column.name().to_owned()).collect()
    };
    let all: BTreeSet<String> = plan.stages().iter().flat_map(custom).collect();
    let mut sources: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    // Stages are ordered after the stages whose columns they read.
    for stage in plan.stages() {
        let own = custom(stage);
        let is_source = |column: &&ColumnSpec| all.contains(column.name()) && !own.contains(column.name());
        let read: Vec<&str> = stage.access().all_reads().filter(is_source).map(ColumnSpec::short_name).collect();
        let indirect = read.iter().filter_map(|name| sources.get(*name)).flatten().cloned();
        let from: BTreeSet<String> = indirect.chain(read.iter().map(|name| (*name).to_owned())).collect();
        if from.is_empty() {
            continue;
        }
        for column in stage.access().written().filter(|column| own.contains(column.name())) {
            sources.insert(column.short_name().to_owned(), from.clone());
        }
    }
    sources.into_iter().map(|(column, from)| (column, from.into_iter().collect())).collect()
}

fn refusal(stage: &PlannedStage, message: String, help: &str) -> Diagnostic {
    Diagnostic::error(code::COLUMN_NAME, stage.location().cloned(), message).with_help(Some(help.to_owned()))
}

fn kind_of(cell: DynamicType) -> Option<ColumnKind> {
    match cell {
        DynamicType::String => Some(ColumnKind::String),
        DynamicType::Integer => Some(ColumnKind::Integer),
        DynamicType::Float => Some(ColumnKind::Float),
        DynamicType::Bool => Some(ColumnKind::Bool),
        DynamicType::Strings => Some(ColumnKind::Strings),
        DynamicType::Vector | DynamicType::Json => None,
    }
}
