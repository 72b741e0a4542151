//! The custom columns of a plan, as the index declares them.

use aurora_pipeline::{CellType, Diagnostic, Diagnostics, DynamicType, Plan, PlannedStage, code};
use aurora_storage::{BUILT_IN_METADATA, ColumnDeclaration, ColumnKind};

/// The custom columns that the stages of a plan write, sorted by name.
///
/// # Errors
/// Every column whose values could not be told from those of another one.
pub fn declarations(plan: &Plan) -> Result<Vec<ColumnDeclaration>, Diagnostics> {
    declarations_of(plan.stages())
}

/// The same for stages that are not in order.
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
                // The check of a stage reports a column that it declares twice.
                if full_names[at] == column.name() && other.stage == stage.name() {
                    continue;
                }
                // A stage that changed the values of another one would get its own as input when these are restored.
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
