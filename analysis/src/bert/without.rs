//! Placeholders for the BERT models in a program that is built without them.

use std::path::Path;

use crate::embedder::{EmbedError, Embedder, QueryEmbedder};
use crate::inference_error::InferenceError;
use crate::model_error::ModelError;
use crate::passage::Passage;
use crate::reranker::Reranker;

/// Placeholder for the embedder. It has no values, and loading always fails.
pub(crate) enum BertEmbedder {}

impl BertEmbedder {
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

impl QueryEmbedder for BertEmbedder {
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

impl Embedder for BertEmbedder {
    fn embed_unless(
        &self,
        _: &[Passage<'_>],
        _: &(dyn Fn() -> bool + Sync),
    ) -> Option<Vec<Result<Vec<f32>, EmbedError>>> {
        match *self {}
    }
}

/// Placeholder for the reranker. It has no values, and loading always fails.
pub(crate) enum CrossEncoder {}

impl CrossEncoder {
    pub(crate) fn is_in(_: &Path) -> Result<bool, ModelError> {
        Ok(false)
    }

    pub(crate) fn load_known(_: &Path, name: &str) -> Result<Self, ModelError> {
        Err(ModelError::NotCompiled { name: name.to_owned() })
    }

    pub(crate) fn load(folder: &Path, name: &str) -> Result<Self, ModelError> {
        Self::load_known(folder, name)
    }

    pub(crate) fn max_tokens(&self) -> usize {
        match *self {}
    }
}

impl Reranker for CrossEncoder {
    fn id(&self) -> &str {
        match *self {}
    }

    fn scores(&self, _: &str, _: &[Passage<'_>]) -> Result<Vec<f32>, InferenceError> {
        match *self {}
    }
}
