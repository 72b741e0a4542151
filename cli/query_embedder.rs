//! Which embedder makes the vectors of queries: the one that has made the vectors of the index.

use std::path::Path;
use std::sync::Arc;

use aurora_analysis::{Embedder, ModelError, QueryEmbedder, STATIC};
use aurora_query::Mode;
use aurora_stages::index as indexing;
use aurora_storage::Snapshot;

use crate::failure::{Failure, Outcome};
use crate::program::Program;
use crate::{findings, index, interrupt, place, programs};

/// The embedder of the queries to an index; `None` if it has no vectors. Without its embedder, a hybrid search goes by keywords.
pub(crate) fn of_index(
    root: &Path,
    snapshot: &Snapshot,
    mode: Mode,
    program: &Program,
) -> Outcome<Option<Arc<dyn QueryEmbedder>>> {
    let Some(stored) = &snapshot.manifest().model else {
        return Ok(None);
    };
    match of_model(&stored.id, root, program) {
        Ok(embedder) => {
            if embedder.id() != stored.id {
                program.terminal.note(&format!("`aur mem index` embeds again, with {}", embedder.id()));
            }
            Ok(Some(embedder))
        }
        Err(failure) if mode == Mode::Dense => Err(failure),
        Err(failure) => {
            program.terminal.warn(&format!("{}; searching by keywords only", failure.message()));
            Ok(None)
        }
    }
}

/// The embedder of the model with this id, or its successor of the same name: the caller must check whether the vectors of
/// both agree.
pub(crate) fn of_model(id: &str, root: &Path, program: &Program) -> Outcome<Arc<dyn QueryEmbedder>> {
    match indexing::embedding_stage(id) {
        Some(stage) => of_stage(stage, root, program),
        None => {
            let added: Arc<dyn QueryEmbedder> = added(id).map_err(|error| Failure::from_error(&error))?;
            Ok(added)
        }
    }
}

/// The custom stage of the project's pipeline that has embedded the chunks. Ctrl-C ends its program before this one.
fn of_stage(stage: &str, root: &Path, program: &Program) -> Outcome<Arc<dyn QueryEmbedder>> {
    let cannot = |reason: &str| Failure::new(format!("queries cannot be embedded: {reason}"));
    let failed = |error| cannot(&findings::failure(error, &program.terminal).message());
    let options = index::options(root.to_owned(), program)?;
    let plan = indexing::plan(&options).map_err(failed)?;
    let programs = programs::of_plan(&plan, &options)?;
    if programs.iter().any(|program| program.stage == stage && !program.is_allowed) {
        return Err(cannot(&format!(
            "the program of stage `{stage}` is not allowed here; `aur plugin trust {stage}` shows it"
        )));
    }
    let embedder = indexing::query_embedder(&options).map_err(failed)?;
    let missing = || cannot(&format!("the pipeline has no stage `{stage}` that makes vectors"));
    let embedder = Arc::new(embedder.ok_or_else(missing)?);
    let stopped = Arc::downgrade(&embedder);
    interrupt::ends(move || {
        if let Some(embedder) = stopped.upgrade() {
            embedder.stop();
        }
    });
    Ok(embedder)
}

/// The embedder of a model that was added or is part of the program.
fn added(id: &str) -> Result<Arc<dyn Embedder>, ModelError> {
    let models = place::models()?;
    let name = name_of(id);
    let added = aurora_analysis::embedder(name, &models);
    if let Err(ModelError::Unknown { .. } | ModelError::NotCompiled { .. }) = added {
        let built_in = aurora_analysis::embedder(STATIC, &models)?;
        if name_of(built_in.id()) == name {
            return Ok(built_in);
        }
    }
    added
}

fn name_of(id: &str) -> &str {
    id.split_once('@').map_or(id, |(name, _)| name)
}
