//! The embedding models of a run.

use std::sync::OnceLock;

use aurora_analysis::ModelDirectory;
use aurora_storage::ModelInfo;

/// The directory of installed models, and the models that this run uses.
pub(crate) struct Models {
    /// The user's installed models. The static model is part of the program.
    pub(crate) directory: ModelDirectory,
    vectors: OnceLock<(String, usize)>,
    tokens: OnceLock<String>,
}

impl Models {
    pub(crate) fn new(directory: ModelDirectory) -> Self {
        Self { directory, vectors: OnceLock::new(), tokens: OnceLock::new() }
    }

    /// Returns the model whose vectors this run stores, or `None` in a pipeline without embeddings.
    pub(crate) fn used(&self) -> Option<ModelInfo> {
        let (id, dimensions) = self.vectors.get().cloned()?;
        Some(ModelInfo { id, dimensions, tokens: self.tokens.get().cloned().unwrap_or_default() })
    }

    /// Records the model that computes the vectors of this run, and their number of dimensions.
    pub(crate) fn set_vectors(&self, id: &str, dimensions: usize) {
        self.vectors.get_or_init(|| (id.to_owned(), dimensions));
    }

    /// Records the model that computes the tokens of this run.
    pub(crate) fn set_tokens(&self, id: &str) {
        self.tokens.get_or_init(|| id.to_owned());
    }
}
