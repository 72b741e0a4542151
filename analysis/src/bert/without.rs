//! A placeholder for the BERT models in a program that is built without them.

use std::path::Path;

use crate::embedder::{EmbedError, Embedder, QueryEmbedder};
use crate::inference_error::InferenceError;
use crate::model_error::ModelError;
use crate::passage::Passage;
use crate::reranker::Reranker;

/// An embedder and reranker that can never be created, because loading always fails.
pub(crate) enum MissingModel {}

impl MissingModel {
    pub(crate) fn is_in(_: &Path) -> Result<bool, ModelError> {
        Ok(false)
    }

    pub(crate) fn load(_: &Path, name: &str) -> Result<Self, ModelError> {
        Err(ModelError::NotCompiled { name: name.to_owned() })
    }

    pub(crate) fn load_known(folder: &Path, id: &str) -> Result<Self, ModelError> {
        Self::load(folder, id)
    }

    pub(crate) fn max_tokens(&self) -> usize {
        match *self {}
    }
}

impl QueryEmbedder for MissingModel {
    fn id(&self) -> &str {
        match *self {}
    }

    fn dimensions(&self) -> usize {
        match *self {}
    }

    fn embed_query(&self, _: &str) -> Result<Vec<f32>, EmbedError> {
        match *self {}
    }
}

impl Embedder for MissingModel {
    fn embed_unless(
        &self,
        _: &[Passage<'_>],
        _: &(dyn Fn() -> bool + Sync),
    ) -> Option<Vec<Result<Vec<f32>, EmbedError>>> {
        match *self {}
    }
}

impl Reranker for MissingModel {
    fn id(&self) -> &str {
        match *self {}
    }

    fn scores(&self, _: &str, _: &[Passage<'_>]) -> Result<Vec<f32>, InferenceError> {
        match *self {}
    }
}
