//! The custom stage that computes the vectors of an index in place of a stage of the type `embed`.

use aurora_pipeline::{ColumnSpec, Diagnostic, Diagnostics, Fingerprint, Plan, PlannedStage, StageConfig, code};

use crate::columns::EMBEDDING;
use crate::embed::Embed;

/// Prefix of the model ids that represent custom stages. Names of models do not contain a colon.
const PREFIX: &str = "stage:";
/// Number of digits of the digest in an id.
const DIGITS: usize = 16;

/// A custom stage that fills `chunk.embedding`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct EmbeddingStage {
    pub(super) name: String,
    pub(super) dimensions: usize,
}

impl EmbeddingStage {
    /// Returns the embedding stage of a plan, or `None` if the plan has no such stage.
    ///
    /// # Errors
    /// Fails if another stage also computes vectors, or if the stage does not declare the number of dimensions.
    pub(super) fn in_plan(plan: &Plan) -> Result<Option<Self>, Diagnostics> {
        Self::find(plan.stages())
    }

    /// Like [`in_plan`](Self::in_plan), for stages in any order.
    pub(super) fn find(stages: &[PlannedStage]) -> Result<Option<Self>, Diagnostics> {
        let writes = |stage: &&PlannedStage| stage.access().written().any(is_embedding);
        let makers: Vec<&PlannedStage> = stages.iter().filter(writes).collect();
        let Some(stage) = makers.iter().find(|stage| stage.type_name() != Embed::TYPE) else { return Ok(None) };
        if let Some(other) = makers.iter().find(|other| other.name() != stage.name()) {
            let message =
                format!("stages `{}` and `{}` both compute the vectors of chunks", other.name(), stage.name());
            let help = format!("leave one out: `enabled = false` in `[stage.{}]`", other.name());
            return Err(refusal(code::UNORDERED_WRITERS, stage, message, help));
        }
        let declared = stage.access().written().find(|column| is_embedding(column)).and_then(ColumnSpec::dimensions);
        let Some(dimensions) = declared else {
            let column = EMBEDDING.name();
            let message = format!("stage `{}` writes column `{column}` but declares no dimensions", stage.name());
            return Err(refusal(
                code::INVALID_VALUE,
                stage,
                message,
                "declare the column with `with_dimensions`".to_owned(),
            ));
        };
        Ok(Some(Self { name: stage.name().to_owned(), dimensions }))
    }

    /// Returns the id of the model that the stage represents. Stages with the same id compute the same vectors.
    pub(super) fn model_id(&self, fingerprint: &Fingerprint) -> String {
        let digest = blake3::hash(fingerprint.to_string().as_bytes()).to_hex();
        format!("{PREFIX}{}@{}", self.name, &digest[..DIGITS])
    }
}

fn is_embedding(column: &ColumnSpec) -> bool {
    column.name() == EMBEDDING.name()
}

fn refusal(code: &'static str, stage: &PlannedStage, message: String, help: String) -> Diagnostics {
    let mut found = Diagnostics::default();
    found.push(Diagnostic::error(code, stage.location().cloned(), message).with_help(Some(help)));
    found
}

/// Returns the name of the stage that a model id represents, or `None` if the id does not represent a stage.
pub fn embedding_stage(model: &str) -> Option<&str> {
    let rest = model.strip_prefix(PREFIX)?;
    Some(rest.rsplit_once('@').map_or(rest, |(stage, _)| stage))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn model_ids_contain_the_name_of_the_stage() {
        let stage = EmbeddingStage { name: "embed".to_owned(), dimensions: 3 };
        let id = stage.model_id(&Fingerprint::new("process", 1));
        assert_eq!(embedding_stage(&id), Some("embed"));
        assert_ne!(id, stage.model_id(&Fingerprint::new("process", 2)));
        assert_eq!(embedding_stage("static-256@0123"), None);
    }
}
