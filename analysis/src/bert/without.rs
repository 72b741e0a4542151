//! What takes the place of the BERT embedder in a program that is built without it.

use std::path::Path;

use crate::embedder::{EmbedError, Embedder, QueryEmbedder};
use crate::model_error::ModelError;
use crate::passage::Passage;

/// An embedder that no value exists of: loading one is an error.
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
