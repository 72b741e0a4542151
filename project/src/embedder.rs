//! The embedder of queries. It must be the embedder that computed the vectors in the index.

use std::fmt;
use std::sync::Arc;

use aurora_analysis::{Embedder, ModelError, QueryEmbedder, STATIC};
use aurora_query::Mode;
use aurora_stages::index::{self as indexing, StageEmbedder};
use aurora_storage::Snapshot;

use crate::advice::chain;
use crate::error::ProjectError;
use crate::project::Project;
use crate::{programs, user};

/// An embedder of queries.
#[derive(Clone)]
pub enum IndexEmbedder {
    /// A model that was installed or is built into the program.
    Model(Arc<dyn QueryEmbedder>),
    /// A stage of the project's pipeline, which may run a program. [`StageEmbedder::stop`] ends the program.
    Stage(Arc<StageEmbedder>),
}

impl IndexEmbedder {
    /// Returns the embedder of the model with this id, or of a newer version of the model. The caller must check the id
    /// of the embedder, because vectors of different versions may not be comparable.
    ///
    /// # Errors
    /// Fails if there is no such model, or if the stage that embedded the chunks cannot be run.
    pub fn for_model(id: &str, project: &Project) -> Result<Self, ProjectError> {
        match indexing::embedding_stage(id) {
            Some(stage) => stage_embedder(stage, project).map(Self::Stage),
            None => Ok(Self::Model(model_embedder(id)?)),
        }
    }

    /// Returns the embedder for queries to an index, and a notice about the embedder for the user. Returns no embedder
    /// if the index has no vectors, or the mode does not use vectors. In mode `hybrid`, an embedder that cannot be used
    /// is not an error: the search then uses only keywords.
    ///
    /// # Errors
    /// Fails in mode `dense` if [`Self::for_model`] fails.
    pub fn for_index(
        project: &Project,
        snapshot: &Snapshot,
        mode: Mode,
    ) -> Result<(Option<Self>, Option<EmbedderNotice>), ProjectError> {
        let stored = snapshot.manifest().model.as_ref().filter(|_| mode != Mode::Sparse);
        let Some(stored) = stored else { return Ok((None, None)) };
        match Self::for_model(&stored.id, project) {
            Ok(found) => {
                let id = found.embedder().id().to_owned();
                let notice = (id != stored.id).then_some(EmbedderNotice::Newer(id));
                Ok((Some(found), notice))
            }
            Err(error) if mode == Mode::Dense => Err(error),
            Err(error) => Ok((None, Some(EmbedderNotice::Unusable(chain(&error))))),
        }
    }

    /// Returns the embedder as a trait object.
    pub fn embedder(&self) -> Arc<dyn QueryEmbedder> {
        match self {
            Self::Model(model) => Arc::clone(model),
            Self::Stage(stage) => Arc::clone(stage) as _,
        }
    }
}

/// A notice for the user about the embedder of an index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EmbedderNotice {
    /// The program has a newer version of the model, with this id.
    Newer(String),
    /// The embedder cannot be used, for this reason.
    Unusable(String),
}

impl fmt::Display for EmbedderNotice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Newer(id) => write!(f, "`aur mem index` embeds the chunks again with {id}"),
            Self::Unusable(reason) => write!(f, "{reason}; searching by keywords only"),
        }
    }
}

/// Returns the custom stage of the project's pipeline that embedded the chunks.
fn stage_embedder(stage: &str, project: &Project) -> Result<Arc<StageEmbedder>, ProjectError> {
    let options = project.options()?;
    let plan = indexing::plan(&options)?;
    let programs = programs::from_plan(&plan, &options)?;
    if programs.iter().any(|program| program.stage == stage && !program.is_allowed) {
        return Err(ProjectError::NoEmbedder(format!(
            "the program of stage `{stage}` is not allowed here; `aur plugin trust {stage}` shows it"
        )));
    }
    let embedder = indexing::query_embedder(&options)?;
    let missing = || ProjectError::NoEmbedder(format!("the pipeline has no stage `{stage}` that makes vectors"));
    embedder.map(Arc::new).ok_or_else(missing)
}

/// Returns the embedder of a model that was installed or is built into the program.
fn model_embedder(id: &str) -> Result<Arc<dyn Embedder>, ModelError> {
    let models = user::models()?;
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
