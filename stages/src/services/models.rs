//! The embedding models of a run.

use std::sync::OnceLock;

use aurora_analysis::{Embedder, ModelDirectory, StaticModel};
use aurora_storage::ModelInfo;

/// Where models are found, and which one this run uses.
pub(crate) struct Models {
    /// The user's models; the static model is part of the program.
    pub(crate) directory: ModelDirectory,
    used: OnceLock<ModelInfo>,
}

impl Models {
    pub(crate) fn new(directory: ModelDirectory) -> Self {
        Self { directory, used: OnceLock::new() }
    }

    /// The model whose vectors this run stores; `None` in a pipeline without embeddings.
    pub(crate) fn used(&self) -> Option<ModelInfo> {
        self.used.get().cloned()
    }

    /// Records the model of this run: `embedder` makes the vectors, `tokens` the token sets.
    pub(crate) fn set_used(&self, embedder: &dyn Embedder, tokens: &StaticModel) {
        self.used.get_or_init(|| ModelInfo {
            id: embedder.id().to_owned(),
            dimensions: embedder.dimensions(),
            tokens: tokens.id().to_owned(),
        });
    }
}
